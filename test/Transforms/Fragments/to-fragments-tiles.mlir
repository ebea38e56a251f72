// Layouts of tiles in shared memory, and bodies for elements, in lanes.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(blockscale-legalize,gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" -split-input-file | FileCheck %s

// Swizzled rows of 256 bytes: the exclusive or with the row is done once, and
// chunks of the same 128 bytes differ by one with a constant; the others come
// after them. A lane loads its vector of scales: one load has all words of
// a row.

// CHECK-LABEL: gpu.func @swizzled(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<32x256xi8, {{[^,]*}}, %[[SA:[a-z0-9]+]]: memref<1x32x8xi8, {{[^,]*}}, %[[B:[a-z0-9]+]]: memref<16x256xi8,
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG:     %[[C96:.*]] = arith.constant 96 : index
// CHECK-DAG:     %[[C256:.*]] = arith.constant 256 : index
// CHECK-DAG:     %[[LANE:.*]] = gpu.lane_id
// CHECK:         %[[VECTOR:.*]] = vector.load %[[SA]][%{{.*}}, %[[LANE]], %[[C0]]] {alignment = 8 : i64} : {{.*}}, vector<8xi8>
// CHECK-NEXT:    %[[WORDS:.*]] = vector.bitcast %[[VECTOR]] : vector<8xi8> to vector<2xi32>
// CHECK-NEXT:    %[[SA_0:.*]] = vector.extract %[[WORDS]][0]
// CHECK-NEXT:    %[[SA_1:.*]] = vector.extract %[[WORDS]][1]
// CHECK:         %[[ROW_AT:.*]] = arith.muli %{{.*}}, %[[C256]]
// CHECK-NEXT:    %[[CHUNK:.*]] = arith.xori
// CHECK-NEXT:    %[[CHUNK_AT:.*]] = arith.muli %[[CHUNK]], %[[C16]]
// CHECK-NEXT:    %[[AT:.*]] = arith.addi %[[ROW_AT]], %[[CHUNK_AT]]
// CHECK-NEXT:    blockscale.load_matrix %[[A]][%[[AT]]] code_bits = 8
// CHECK-NEXT:    blockscale.load_matrix %[[A]][%[[AT]]] + 4096 code_bits = 8
// CHECK:         blockscale.load_matrix %[[B]]
// CHECK:         blockscale.mma_sync {{.*}}, %[[SA_0]][0, 0],
// CHECK:         %[[AT_32:.*]] = arith.xori %[[AT]], %[[C32]]
// CHECK-NEXT:    blockscale.load_matrix %[[A]][%[[AT_32]]] code_bits = 8
// CHECK:         %[[AT_96:.*]] = arith.xori %[[AT]], %[[C96]]
// CHECK:         blockscale.load_matrix %[[A]][%[[AT]]] + 128 code_bits = 8
// CHECK-NEXT:    blockscale.load_matrix %[[A]][%[[AT]]] + 4224 code_bits = 8
// CHECK:         blockscale.mma_sync {{.*}}, %[[SA_1]][0, 0],
// CHECK:         blockscale.load_matrix %[[A]][%[[AT_32]]] + 128 code_bits = 8
// CHECK:         blockscale.load_matrix %[[A]][%[[AT_96]]] + 128 code_bits = 8
gpu.module @kernels {
  gpu.func @swizzled(
      %a: memref<32x256xi8, #gpu.address_space<workgroup>>,
      %sa: memref<1x32x8xi8, #gpu.address_space<workgroup>>,
      %b: memref<16x256xi8, #gpu.address_space<workgroup>>,
      %sb: memref<1x32x8xi8, #gpu.address_space<workgroup>>,
      %d: memref<32x16xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<32x16, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e4m3, e5m2, ue8m0, 32>
           instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
           {a_layout = #blockscale.tile_layout<k, slots, swizzled>,
            b_layout = #blockscale.tile_layout<k, slots, swizzled>,
            a_scale_layout = #blockscale.scale_tile_layout<lanes>,
            b_scale_layout = #blockscale.scale_tile_layout<lanes>}
           : memref<32x256xi8, #gpu.address_space<workgroup>>,
             memref<1x32x8xi8, #gpu.address_space<workgroup>>,
             memref<16x256xi8, #gpu.address_space<workgroup>>,
             memref<1x32x8xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<32x16, #blockscale.warps<1x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<32x16, #blockscale.warps<1x1>>, memref<32x16xf32>
    gpu.return
  }
}

// -----

// Elements of four bits are shifted to bits [5:2], those of six stay. A scale that is the
// same everywhere is in all bytes of the word. A load of rows along N is two
// tiles of B: the first has registers 0 and 2.

// CHECK-LABEL: gpu.func @padded(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<16x128xi8, {{[^,]*}}, %[[SCALE:[a-z0-9]+]]: i8, %[[B:[a-z0-9]+]]: memref<128x16xi8,
// CHECK-DAG:     %[[SHIFT:.*]] = arith.constant dense<2> : vector<4xi32>
// CHECK-DAG:     %[[ONES:.*]] = arith.constant 16843009 : i32
// CHECK:         %[[WIDE:.*]] = arith.extui %[[SCALE]] : i8 to i32
// CHECK-NEXT:    %[[SA:.*]] = arith.muli %[[WIDE]], %[[ONES]]
// CHECK:         %[[ELEMENTS:.*]] = blockscale.load_matrix %[[A]][%{{.*}}] code_bits = 4 : {{.*}} -> vector<4xi32>
// CHECK-NEXT:    %[[A_0:.*]] = arith.shli %[[ELEMENTS]], %[[SHIFT]]
// CHECK:         %[[R:.*]] = blockscale.load_matrix %[[B]][%[[B_AT:.*]]] code_bits = 6 transposed : {{.*}} -> vector<4xi32>
// CHECK-NEXT:    %[[R_0:.*]] = vector.extract %[[R]][0]
// CHECK-NEXT:    %[[R_1:.*]] = vector.extract %[[R]][1]
// CHECK-NEXT:    %[[R_2:.*]] = vector.extract %[[R]][2]
// CHECK-NEXT:    %[[R_3:.*]] = vector.extract %[[R]][3]
// CHECK-NEXT:    %[[B_0:.*]] = vector.from_elements %[[R_0]], %[[R_2]] : vector<2xi32>
// CHECK-NEXT:    %[[B_1:.*]] = vector.from_elements %[[R_1]], %[[R_3]] : vector<2xi32>
// CHECK-NEXT:    blockscale.mma_sync {{.*}} %[[A_0]], %[[B_0]], %{{.*}}, %[[SA]][0, 0], %[[SB:.*]][0, 0]
// CHECK-NEXT:    blockscale.mma_sync {{.*}} %[[A_0]], %[[B_1]], %{{.*}}, %[[SA]][0, 0], %[[SB]][0, 1]
// CHECK:         blockscale.load_matrix %[[B]][%[[B_AT]]] + 512 code_bits = 6 transposed
gpu.module @kernels {
  gpu.func @padded(
      %a: memref<16x128xi8, #gpu.address_space<workgroup>>,
      %sa: i8,
      %b: memref<128x16xi8, #gpu.address_space<workgroup>>,
      %sb: memref<16x4xi8, #gpu.address_space<workgroup>>,
      %d: memref<16x16xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x16, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e2m1, e3m2, ue8m0, 32>
           instruction = <mma_sync, 16x8x32, mxf8f6f4, e2m1, e3m2, ue8m0, 1>
           {a_layout = #blockscale.tile_layout<k, padded, swizzled>,
            b_layout = #blockscale.tile_layout<mn, padded, swizzled>}
           : memref<16x128xi8, #gpu.address_space<workgroup>>,
             i8,
             memref<128x16xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x16, #blockscale.warps<1x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x16, #blockscale.warps<1x1>>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// Bytes with the code in the low bits: those of four bits are shifted, those of six are
// not.

// CHECK-LABEL: gpu.func @bytes(
// CHECK-DAG:     %[[SHIFT:.*]] = arith.constant dense<2> : vector<4xi32>
// CHECK-NOT:     arith.xori
// CHECK:         %[[A_0:.*]] = blockscale.load_matrix {{.*}} code_bits = 8 : {{.*}} -> vector<4xi32>
// CHECK-NOT:     arith.shli
// CHECK:         %[[ELEMENTS:.*]] = blockscale.load_matrix {{.*}} code_bits = 8 transposed :
// CHECK-NEXT:    %[[SLOTS:.*]] = arith.shli %[[ELEMENTS]], %[[SHIFT]]
// CHECK-NEXT:    vector.extract %[[SLOTS]][0]
// CHECK:         blockscale.mma_sync {{.*}} %[[A_0]],
gpu.module @kernels {
  gpu.func @bytes(
      %a: memref<16x128xi8, #gpu.address_space<workgroup>>,
      %sa: memref<16x4xi8, #gpu.address_space<workgroup>>,
      %b: memref<128x16xi8, #gpu.address_space<workgroup>>,
      %sb: memref<16x4xi8, #gpu.address_space<workgroup>>,
      %d: memref<16x16xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x16, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e3m2, e2m1, ue8m0, 32>
           instruction = <mma_sync, 16x8x32, mxf8f6f4, e3m2, e2m1, ue8m0, 1>
           {a_layout = #blockscale.tile_layout<k, bytes>,
            b_layout = #blockscale.tile_layout<mn, bytes>}
           : memref<16x128xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             memref<128x16xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x16, #blockscale.warps<1x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x16, #blockscale.warps<1x1>>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// Scales of the 32x4x4 layout: warp w has part w, at outer index lane xor w. The
// words of a vector are those of rows that are 32 apart.

// CHECK-LABEL: gpu.func @atoms(
// CHECK-SAME:    %[[SA:[a-z0-9]+]]: memref<1x2x32x8xi8,
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[LANE:.*]] = gpu.lane_id
// CHECK:         %[[PART:.*]] = arith.divui %{{.*}}, %[[C64]]
// CHECK-NEXT:    %[[IN_4:.*]] = arith.remui %[[PART]], %[[C4]]
// CHECK-NEXT:    %[[OUTER:.*]] = arith.xori %[[LANE]], %[[IN_4]]
// CHECK-NEXT:    %[[BYTES:.*]] = vector.load %[[SA]][%[[C0]], %[[PART]], %[[OUTER]], %[[C0]]] {alignment = 8 : i64} : {{.*}}, vector<8xi8>
// CHECK-NEXT:    %[[WORDS:.*]] = vector.bitcast %[[BYTES]]
// CHECK-NEXT:    %[[FIRST:.*]] = vector.extract %[[WORDS]][0]
// CHECK-NEXT:    %[[SECOND:.*]] = vector.extract %[[WORDS]][1]
// CHECK:         blockscale.mma_sync {{.*}}, %[[FIRST]][0, 0],
// CHECK:         blockscale.mma_sync {{.*}}, %[[FIRST]][0, 1],
// CHECK:         blockscale.mma_sync {{.*}}, %[[SECOND]][0, 0],
// CHECK:         blockscale.mma_sync {{.*}}, %[[SECOND]][0, 1],
gpu.module @kernels {
  gpu.func @atoms(
      %a: memref<128x128xi8, #gpu.address_space<workgroup>>,
      %sa: memref<1x2x32x8xi8, #gpu.address_space<workgroup>>,
      %b: memref<16x128xi8, #gpu.address_space<workgroup>>,
      %sb: memref<16x4xi8, #gpu.address_space<workgroup>>,
      %d: memref<128x16xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<128x16, #blockscale.warps<2x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e4m3, e5m2, ue8m0, 32>
           instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
           {a_layout = #blockscale.tile_layout<k, slots>,
            b_layout = #blockscale.tile_layout<k, slots>,
            a_scale_layout = #blockscale.scale_tile_layout<parts>}
           : memref<128x128xi8, #gpu.address_space<workgroup>>,
             memref<1x2x32x8xi8, #gpu.address_space<workgroup>>,
             memref<16x128xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<128x16, #blockscale.warps<2x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<128x16, #blockscale.warps<2x1>>, memref<128x16xf32>
    gpu.return
  }
}

// -----

// In bounds, lanes load and store pairs of neighbours.

// CHECK-LABEL: gpu.func @in_bounds(
// CHECK-SAME:    %[[D:[a-z0-9]+]]: memref<32x16xf32>)
// CHECK-NOT:     arith.cmpi
// CHECK:         %[[PAIR:.*]] = vector.load %[[D]][%[[ROW:.*]], %[[COLUMN:.*]]] {alignment = 8 : i64} : memref<32x16xf32>, vector<2xf32>
// CHECK-COUNT-3: vector.load %[[D]]
// CHECK-NOT:     vector.from_elements
// CHECK:         vector.store %[[PAIR]], %[[D]][%[[ROW]], %[[COLUMN]]] {alignment = 8 : i64} : memref<32x16xf32>, vector<2xf32>
// CHECK-COUNT-3: vector.store
// CHECK-NOT:     {{scf.if|arith.cmpi}}
gpu.module @kernels {
  gpu.func @in_bounds(%d: memref<32x16xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_load %d[%c0, %c0] in_bounds
           : memref<32x16xf32> -> !blockscale.acc<32x16, #blockscale.warps<2x1>>
    blockscale.acc_store %acc, %d[%c0, %c0] in_bounds
        : !blockscale.acc<32x16, #blockscale.warps<2x1>>, memref<32x16xf32>
    gpu.return
  }
}

// -----

// A body is in the lane that holds the element, which is in row l / 4 and column
// 2 (l mod 4) of a warp's tile; it does not run for elements out of bounds.

// CHECK-LABEL: gpu.func @guarded(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<10x5xf32>, %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index)
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:     %[[M:.*]] = arith.constant 10 : index
// CHECK-DAG:     %[[N:.*]] = arith.constant 5 : index
// CHECK:         %[[ROW:.*]] = arith.addi %{{.*}}, %[[I]]
// CHECK:         %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[J]]
// CHECK:         %[[IS_ROW:.*]] = arith.cmpi ult, %[[ROW]], %[[M]]
// CHECK-NEXT:    %[[IS_COLUMN:.*]] = arith.cmpi ult, %[[COLUMN]], %[[N]]
// CHECK-NEXT:    %[[INSIDE:.*]] = arith.andi %[[IS_ROW]], %[[IS_COLUMN]]
// CHECK-NEXT:    %[[E:.*]] = scf.if %[[INSIDE]] -> (f32) {
// CHECK-NEXT:      %[[V:.*]] = memref.load %[[C]][%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT:      scf.yield %[[V]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[ZERO]]
// CHECK-COUNT-3: scf.if {{.*}} -> (f32)
// CHECK:         scf.if %[[INSIDE]] {
// CHECK-NEXT:      %[[TWICE:.*]] = arith.addf %[[E]], %[[E]]
// CHECK-NEXT:      memref.store %[[TWICE]], %[[C]][%[[ROW]], %[[COLUMN]]]
// CHECK-COUNT-3: scf.if
// CHECK-NOT:     {{scf.if|blockscale}}
gpu.module @kernels {
  gpu.func @guarded(%c: memref<10x5xf32>, %i: index, %j: index) {
    %m = arith.constant 10 : index
    %n = arith.constant 5 : index
    %acc = blockscale.acc_generate at(%i, %j) of(%m, %n) {
    ^bb0(%row: index, %column: index):
      %v = memref.load %c[%row, %column] : memref<10x5xf32>
      blockscale.yield %v : f32
    } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_for_each %acc at(%i, %j) of(%m, %n) {
    ^bb0(%e: f32, %row: index, %column: index):
      %twice = arith.addf %e, %e : f32
      memref.store %twice, %c[%row, %column] : memref<10x5xf32>
      blockscale.yield
    } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    gpu.return
  }
}

// -----

// Without a comparison in bounds, and neighbours by one store if rows
// are aligned.

// CHECK-LABEL: gpu.func @all(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<16x8xf32>)
// CHECK-NOT:     {{scf.if|arith.cmpi}}
// CHECK-COUNT-4: memref.load %[[C]]
// CHECK-NOT:     {{scf.if|arith.cmpi}}
// CHECK-COUNT-2: vector.store %{{.*}}, %[[C]]{{.*}} {alignment = 8 : i64} : memref<16x8xf32>, vector<2xf32>
// CHECK-NOT:     {{scf.if|arith.cmpi|blockscale|store}}

// Not if they may be unaligned, or if the memory depends on row or column.

// CHECK-LABEL: gpu.func @anywhere(
// CHECK-COUNT-4: memref.store
// CHECK-NOT:     store
// CHECK-LABEL: gpu.func @inside(
// CHECK-COUNT-4: memref.store
// CHECK-NOT:     store
// CHECK-LABEL: gpu.func @odd(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<16x9xf32>)
// CHECK-COUNT-4: memref.store %{{.*}}, %[[C]]
// CHECK-NOT:     store
gpu.module @kernels {
  gpu.func @all(%c: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 16 : index
    %n = arith.constant 8 : index
    %acc = blockscale.acc_generate at(%c0, %c0) of(%m, %n) in_bounds {
    ^bb0(%row: index, %column: index):
      %v = memref.load %c[%row, %column] : memref<16x8xf32>
      blockscale.yield %v : f32
    } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) in_bounds aligned {
    ^bb0(%e: f32, %row: index, %column: index):
      memref.store %e, %c[%row, %column] : memref<16x8xf32>
      blockscale.yield
    } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    gpu.return
  }

  gpu.func @anywhere(%c: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 16 : index
    %n = arith.constant 8 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) in_bounds {
    ^bb0(%e: f32, %row: index, %column: index):
      memref.store %e, %c[%row, %column] : memref<16x8xf32>
      blockscale.yield
    } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    gpu.return
  }

  gpu.func @inside(%c: memref<1024xi8>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 16 : index
    %n = arith.constant 8 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) in_bounds aligned {
    ^bb0(%e: f32, %row: index, %column: index):
      %view = memref.view %c[%column][] : memref<1024xi8> to memref<16x8xf32>
      memref.store %e, %view[%row, %column] : memref<16x8xf32>
      blockscale.yield
    } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    gpu.return
  }

  gpu.func @odd(%c: memref<16x9xf32>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 16 : index
    %n = arith.constant 9 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) in_bounds aligned {
    ^bb0(%e: f32, %row: index, %column: index):
      memref.store %e, %c[%row, %column] : memref<16x9xf32>
      blockscale.yield
    } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    gpu.return
  }
}

// -----

// With guards, and rows that are aligned by promise: a run is stored as a whole
// or not at all, and what is outside reads for the last one inside.

// CHECK-LABEL: gpu.func @guarded_runs(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<?x?xf32>, %[[BIAS:[a-z0-9]+]]: memref<?xf32>, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK:         %[[IN_ROWS:.*]] = arith.cmpi ult, %[[ROW:.*]], %[[M]] :
// CHECK:         %[[IN_COLUMNS:.*]] = arith.cmpi ult, %[[COLUMN:.*]], %[[N]] :
// CHECK:         %[[INSIDE:.*]] = arith.andi %[[IN_ROWS]], %[[IN_COLUMNS]] :
// CHECK:         %[[LAST:.*]] = arith.addi %[[N]], %c-2 :
// CHECK:         %[[READ:.*]] = arith.minui %[[COLUMN]], %[[LAST]] :
// CHECK:         memref.load %[[BIAS]][%[[READ]]]
// CHECK:         scf.if %[[INSIDE]]
// CHECK-NEXT:      vector.store %{{.*}}, %[[C]][%[[ROW]], %[[COLUMN]]] {alignment = 8 : i64} : memref<?x?xf32>, vector<2xf32>
// CHECK:         scf.if
// CHECK-NEXT:      vector.store %{{.*}}, %[[C]]{{.*}} {alignment = 8 : i64} : memref<?x?xf32>, vector<2xf32>
// CHECK-NOT:     store
gpu.module @kernels {
  gpu.func @guarded_runs(%c: memref<?x?xf32>, %bias: memref<?xf32>, %m: index, %n: index) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_for_each %acc at(%c0, %c0) of(%m, %n) aligned {
    ^bb0(%e: f32, %row: index, %column: index):
      %b = memref.load %bias[%column] : memref<?xf32>
      %s = arith.addf %e, %b : f32
      memref.store %s, %c[%row, %column] : memref<?x?xf32>
      blockscale.yield
    } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    gpu.return
  }
}
