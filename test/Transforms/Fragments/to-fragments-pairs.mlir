// Pairs of columns, 8 apart: of elements that a lane has, or that lanes have exchanged.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" -split-input-file -verify-diagnostics | FileCheck %s

// A lane has two columns in each half of a block.

// CHECK-LABEL: gpu.func @plain(
// CHECK-SAME:    %[[SUMS:[a-z0-9]+]]: memref<16x16xf32>, %[[D:[a-z0-9]+]]: memref<?x?xf32>,
// CHECK:         %[[FIRST:.*]] = vector.load %[[SUMS]][%[[ROW:.*]], %[[COLUMN:.*]]] {alignment = 8 : i64}
// CHECK-NEXT:    %[[X_0:.*]] = vector.extract %[[FIRST]][0]
// CHECK-NEXT:    %[[X_1:.*]] = vector.extract %[[FIRST]][1]
// CHECK:         %[[BEHIND:.*]] = arith.addi %[[COLUMN]], %c8
// CHECK:         %[[SECOND:.*]] = vector.load %[[SUMS]][%[[ROW]], %[[BEHIND]]] {alignment = 8 : i64}
// CHECK-NEXT:    %[[Y_0:.*]] = vector.extract %[[SECOND]][0]
// CHECK-NEXT:    %[[Y_1:.*]] = vector.extract %[[SECOND]][1]
// CHECK-NOT:     gpu.shuffle
// CHECK:         %[[NEXT:.*]] = arith.addi %[[COLUMN]], %c1
// CHECK:         %[[V_0:.*]] = arith.mulf %[[X_0]], %[[Y_0]]
// CHECK-NEXT:    memref.store %[[V_0]], %[[D]][%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT:    %[[V_1:.*]] = arith.mulf %[[X_1]], %[[Y_1]]
// CHECK-NEXT:    memref.store %[[V_1]], %[[D]][%[[ROW]], %[[NEXT]]]
// CHECK-COUNT-2: memref.store
// CHECK-NOT:     memref.store
gpu.module @plain_kernels {
  gpu.func @plain(%sums: memref<16x16xf32>, %d: memref<?x?xf32>, %m: index, %n: index) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_load %sums[%c0, %c0] in_bounds : memref<16x16xf32> -> !blockscale.acc<16x16, #blockscale.warps<1x1>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) in_bounds pairs {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      %v = arith.mulf %x, %y : f32
      memref.store %v, %d[%row, %column] : memref<?x?xf32>
      blockscale.yield
    } : !blockscale.acc<16x16, #blockscale.warps<1x1>>
    gpu.return
  }
}

// -----

// Rows and columns may end inside of the tile.

// CHECK-LABEL: gpu.func @guarded(
// CHECK-SAME:    %{{.*}}: memref<16x16xf32>, %{{.*}}: memref<?x?xf32>, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK:         %[[ROW_INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[M]]
// CHECK:         %[[COLUMN_INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[N]]
// CHECK:         %[[INSIDE:.*]] = arith.andi %[[ROW_INSIDE]], %[[COLUMN_INSIDE]]
// CHECK:         scf.if %[[INSIDE]]
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      memref.store
// CHECK-COUNT-3: scf.if
// CHECK-NOT:     scf.if
gpu.module @guarded_kernels {
  gpu.func @guarded(%sums: memref<16x16xf32>, %d: memref<?x?xf32>, %m: index, %n: index) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_load %sums[%c0, %c0] in_bounds : memref<16x16xf32> -> !blockscale.acc<16x16, #blockscale.warps<1x1>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) pairs {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      %v = arith.mulf %x, %y : f32
      memref.store %v, %d[%row, %column] : memref<?x?xf32>
      blockscale.yield
    } : !blockscale.acc<16x16, #blockscale.warps<1x1>>
    gpu.return
  }
}

// -----

// Reads come first; those of what is outside are of the last pair of columns, which starts 9 columns before the end. The
// index of the store is computed from that of the pair, and waits for no read.

// CHECK-LABEL: gpu.func @reads(
// CHECK-SAME:    %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index, %[[BIAS:[a-z0-9]+]]: memref<?xf32>)
// CHECK:         %[[LAST:.*]] = arith.addi %[[N]], %c-9
// CHECK:         %[[NEAR:.*]] = arith.minui %[[COLUMN:.*]], %[[LAST]]
// CHECK:         memref.load %[[BIAS]][%[[NEAR]]]
// CHECK:         memref.load %[[BIAS]]
// CHECK-NOT:     memref.load
// CHECK:         scf.if
// CHECK-NEXT:      memref.store
// CHECK-COUNT-3: scf.if
gpu.module @reads_kernels {
  gpu.func @reads(%sums: memref<16x16xf32>, %d: memref<?x?xf32>, %m: index, %n: index, %bias: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %acc = blockscale.acc_load %sums[%c0, %c0] in_bounds : memref<16x16xf32> -> !blockscale.acc<16x16, #blockscale.warps<1x1>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) pairs {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      %a = memref.load %bias[%column] : memref<?xf32>
      %v = arith.addf %x, %a : f32
      %p = arith.mulf %v, %y : f32
      %half = arith.divui %column, %c2 : index
      memref.store %p, %d[%row, %half] : memref<?x?xf32>
      blockscale.yield
    } : !blockscale.acc<16x16, #blockscale.warps<1x1>>
    gpu.return
  }
}

// -----

// A lane has four columns, all in one half: two lanes exchange two of them, and then have two pairs each. Positions are
// those of what they have then.

// CHECK-LABEL: gpu.func @interleaved_by_2(
// CHECK:         %[[LANE:.*]] = gpu.lane_id
// CHECK:         %[[HELD:.*]] = vector.load %{{.*}}[%[[ROW:.*]], %[[COLUMN:.*]]] {alignment = 16 : i64} : memref<16x16xf32>, vector<4xf32>
// CHECK-NEXT:    %[[E_0:.*]] = vector.extract %[[HELD]][0]
// CHECK-NEXT:    vector.extract %[[HELD]][1]
// CHECK-NEXT:    %[[E_2:.*]] = vector.extract %[[HELD]][2]
// CHECK:         %[[OF_TWO:.*]] = arith.divui %[[LANE]], %c2
// CHECK-NEXT:    %[[BIT:.*]] = arith.remui %[[OF_TWO]], %c2
// CHECK-NEXT:    %[[IS_SECOND:.*]] = arith.cmpi eq, %[[BIT]], %c1
// CHECK-NEXT:    %[[SENT:.*]] = arith.select %[[IS_SECOND]], %[[E_0]], %[[E_2]]
// CHECK-NEXT:    %[[GOT:.*]], %{{.*}} = gpu.shuffle xor %[[SENT]], %c2_i32, %c32_i32
// CHECK-NEXT:    %[[X:.*]] = arith.select %[[IS_SECOND]], %[[GOT]], %[[E_0]]
// CHECK-NEXT:    %[[Y:.*]] = arith.select %[[IS_SECOND]], %[[E_2]], %[[GOT]]
// CHECK-NEXT:    %[[BEFORE:.*]] = arith.addi %[[COLUMN]], %c-6
// CHECK-NEXT:    %[[AT:.*]] = arith.select %[[IS_SECOND]], %[[BEFORE]], %[[COLUMN]]
// CHECK-NEXT:    %[[V:.*]] = arith.mulf %[[X]], %[[Y]]
// CHECK-NEXT:    memref.store %[[V]], %{{.*}}[%[[ROW]], %[[AT]]]
// CHECK-COUNT-3: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle
gpu.module @interleaved_by_2_kernels {
  gpu.func @interleaved_by_2(%sums: memref<16x16xf32>, %d: memref<?x?xf32>, %m: index, %n: index) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_load %sums[%c0, %c0] in_bounds : memref<16x16xf32> -> !blockscale.acc<16x16, #blockscale.warps<1x1, interleave = 1x2>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) in_bounds pairs {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      %v = arith.mulf %x, %y : f32
      memref.store %v, %d[%row, %column] : memref<?x?xf32>
      blockscale.yield
    } : !blockscale.acc<16x16, #blockscale.warps<1x1, interleave = 1x2>>
    gpu.return
  }
}

// -----

// Guards are about columns behind the exchange, and all lanes take part in it.

// CHECK-LABEL: gpu.func @interleaved_and_guarded(
// CHECK-SAME:    %[[N:[a-z0-9]+]]: index)
// CHECK-NOT:     scf.if
// CHECK:         gpu.shuffle xor
// CHECK:         %[[AT:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK:         arith.cmpi ult, %[[AT]], %[[N]]
// CHECK:         scf.if
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      memref.store %{{.*}}, %{{.*}}[%{{.*}}, %[[AT]]]
// CHECK-NEXT:    }
// CHECK:         gpu.shuffle xor
gpu.module @interleaved_and_guarded_kernels {
  gpu.func @interleaved_and_guarded(%sums: memref<16x16xf32>, %d: memref<?x?xf32>, %m: index, %n: index) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_load %sums[%c0, %c0] in_bounds : memref<16x16xf32> -> !blockscale.acc<16x16, #blockscale.warps<1x1, interleave = 1x2>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) pairs {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      %v = arith.mulf %x, %y : f32
      memref.store %v, %d[%row, %column] : memref<?x?xf32>
      blockscale.yield
    } : !blockscale.acc<16x16, #blockscale.warps<1x1, interleave = 1x2>>
    gpu.return
  }
}

// -----

// A lane has a half, and its neighbor the other one.

// CHECK-LABEL: gpu.func @interleaved_by_4(
// CHECK:         %[[LANE:.*]] = gpu.lane_id
// CHECK:         %[[HELD:.*]] = vector.load %{{.*}}[%{{.*}}, %[[COLUMN:.*]]] {alignment = 16 : i64} : memref<16x32xf32>, vector<8xf32>
// CHECK-NEXT:    %[[E_0:.*]] = vector.extract %[[HELD]][0]
// CHECK:         %[[E_4:.*]] = vector.extract %[[HELD]][4]
// CHECK:         %[[BIT:.*]] = arith.remui %[[LANE]], %c2
// CHECK-NEXT:    %[[IS_SECOND:.*]] = arith.cmpi eq, %[[BIT]], %c1
// CHECK-NEXT:    %[[SENT:.*]] = arith.select %[[IS_SECOND]], %[[E_0]], %[[E_4]]
// CHECK-NEXT:    %{{.*}}, %{{.*}} = gpu.shuffle xor %[[SENT]], %c1_i32, %c32_i32
// CHECK:         %[[BEFORE:.*]] = arith.addi %[[COLUMN]], %c-4
// CHECK:         arith.select %[[IS_SECOND]], %[[BEFORE]], %[[COLUMN]]
// CHECK-COUNT-7: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle
gpu.module @interleaved_by_4_kernels {
  gpu.func @interleaved_by_4(%sums: memref<16x32xf32>, %d: memref<?x?xf32>, %m: index, %n: index) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_load %sums[%c0, %c0] in_bounds : memref<16x32xf32> -> !blockscale.acc<16x32, #blockscale.warps<1x1, interleave = 1x4>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) in_bounds pairs {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      %v = arith.mulf %x, %y : f32
      memref.store %v, %d[%row, %column] : memref<?x?xf32>
      blockscale.yield
    } : !blockscale.acc<16x32, #blockscale.warps<1x1, interleave = 1x4>>
    gpu.return
  }
}

// -----

// Each lane has both columns of a pair, one element at a time.

// CHECK-LABEL: gpu.func @transposed(
// CHECK:         %[[E_0:.*]] = vector.load %[[SUMS:.*]][%[[ROW:.*]], %[[COLUMN:.*]]] {alignment = 4 : i64}
// CHECK-NEXT:    %[[X:.*]] = vector.extract %[[E_0]][0]
// CHECK:         %[[BEHIND:.*]] = arith.addi %[[COLUMN]], %c8
// CHECK:         %[[E_2:.*]] = vector.load %[[SUMS]][%[[ROW]], %[[BEHIND]]] {alignment = 4 : i64}
// CHECK-NEXT:    %[[Y:.*]] = vector.extract %[[E_2]][0]
// CHECK-NOT:     gpu.shuffle
// CHECK:         %[[V:.*]] = arith.mulf %[[X]], %[[Y]]
// CHECK-NEXT:    memref.store %[[V]], %{{.*}}[%[[ROW]], %[[COLUMN]]]
// CHECK-COUNT-3: memref.store
// CHECK-NOT:     memref.store
gpu.module @transposed_kernels {
  gpu.func @transposed(%sums: memref<16x64xf32>, %d: memref<?x?xf32>, %m: index, %n: index) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_load %sums[%c0, %c0] in_bounds : memref<16x64xf32> -> !blockscale.acc<16x64, #blockscale.warp_columns<4>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) in_bounds pairs {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      %v = arith.mulf %x, %y : f32
      memref.store %v, %d[%row, %column] : memref<?x?xf32>
      blockscale.yield
    } : !blockscale.acc<16x64, #blockscale.warp_columns<4>>
    gpu.return
  }
}

// -----

// A lane has one column of all rows: it has the first elements of two rows, and another lane the second ones.

// CHECK-LABEL: gpu.func @lane_columns(
// CHECK:         %[[COLUMN:.*]] = gpu.thread_id x
// CHECK:         %[[BLOCK:.*]] = arith.divui %{{.*}}, %c8
// CHECK-NEXT:    %[[BIT:.*]] = arith.remui %[[BLOCK]], %c2
// CHECK-NEXT:    %[[IS_SECOND:.*]] = arith.cmpi eq, %[[BIT]], %c1
// CHECK:         gpu.shuffle xor %{{.*}}, %c8_i32, %c32_i32
// CHECK:         %[[ROW:.*]] = arith.select %[[IS_SECOND]], %c1, %c0
// CHECK:         %[[BEFORE:.*]] = arith.addi %[[COLUMN]], %c-8
// CHECK:         %[[FIRST:.*]] = arith.select %[[IS_SECOND]], %[[BEFORE]], %[[COLUMN]]
// CHECK:         memref.store %{{.*}}, %{{.*}}[%[[ROW]], %[[FIRST]]]
// CHECK:         %[[NEXT:.*]] = arith.select %[[IS_SECOND]], %c3, %c2
// CHECK:         memref.store %{{.*}}, %{{.*}}[%[[NEXT]], %[[FIRST]]]
// CHECK-NOT:     memref.store
gpu.module @lane_columns_kernels {
  gpu.func @lane_columns(%d: memref<?x?xf32>, %m: index, %n: index) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<4x128, #blockscale.lane_columns>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) in_bounds pairs {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      %v = arith.mulf %x, %y : f32
      memref.store %v, %d[%row, %column] : memref<?x?xf32>
      blockscale.yield
    } : !blockscale.acc<4x128, #blockscale.lane_columns>
    gpu.return
  }
}

// -----

// Blocks of 16 columns are in two warps.

gpu.module @narrow_kernels {
  gpu.func @narrow(%m: index, %n: index) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x16, #blockscale.warps<1x2>>
    // expected-error@+1 {{'blockscale.acc_for_each' op expected pairs of columns in each warp, got '!blockscale.acc<16x16, #blockscale.warps<1x2>>'}}
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) pairs {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      blockscale.yield
    } : !blockscale.acc<16x16, #blockscale.warps<1x2>>
    gpu.return
  }
}

// -----

gpu.module @part_of_a_block_kernels {
  gpu.func @part_of_a_block(%m: index, %n: index) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x24, #blockscale.warps<1x1>>
    // expected-error@+1 {{'blockscale.acc_for_each' op expected pairs of columns in each warp, got '!blockscale.acc<16x24, #blockscale.warps<1x1>>'}}
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) pairs {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      blockscale.yield
    } : !blockscale.acc<16x24, #blockscale.warps<1x1>>
    gpu.return
  }
}
