// Forms of ldmatrix that a chip lacks become shuffles and loads. What they
// load is tested in test/Execution/emulate.

// RUN: blockscale-opt %s --blockscale-attach-target="target=sm_120a emulate-on=sm_90" --blockscale-emulate-mma | FileCheck %s --check-prefixes=CHECK,OLD
// RUN: blockscale-opt %s --blockscale-emulate-mma | FileCheck %s --check-prefixes=CHECK,OLD
// RUN: blockscale-opt %s --blockscale-attach-target="target=sm_120a emulate-on=sm_120a" --blockscale-emulate-mma | FileCheck %s --check-prefixes=CHECK,NEW
// RUN: blockscale-opt %s --blockscale-attach-target="target=sm_120a emulate-on=sm_100a" --blockscale-emulate-mma | FileCheck %s --check-prefixes=CHECK,NEW
// RUN: not blockscale-opt %s --blockscale-attach-target="target=sm_120a emulate-on=sm_121" --blockscale-emulate-mma 2>&1 | FileCheck %s --check-prefix=LETTER
// LETTER: error: unknown target 'sm_121': block-scaled instructions need the letter, expected sm_121a or sm_121f

// CHECK-LABEL: gpu.func @plain(
// CHECK-NEXT:    %[[R:.*]] = blockscale.load_matrix %{{.*}}[%{{.*}}] + 16 code_bits = 8 : {{.*}} -> vector<4xi32>
// CHECK-NEXT:    vector.store %[[R]]

// A lane has four elements of a row, whose start it gets from the lane that passes
// it. A code of six bits may extend over two bytes.

// CHECK-LABEL: gpu.func @quantized(
// NEW-NEXT:      %[[R:.*]] = blockscale.load_matrix %{{.*}} code_bits = 6 : {{.*}} -> vector<2xi32>
// NEW-NEXT:      vector.store %[[R]]
// OLD-SAME:      %[[TILE:[a-z0-9]+]]: memref<8x64xi8, {{.*}}>, %[[AT:[a-z0-9]+]]: index,
// OLD-NOT:       blockscale
// OLD:           %[[BYTES:.*]] = memref.collapse_shape %[[TILE]] {{\[\[}}0, 1]]
// OLD:           %[[GROUP:.*]] = arith.divui
// OLD:           %[[ROW:.*]] = arith.index_cast %[[AT]] : index to i32
// OLD:           %[[LANE:.*]] = arith.addi %[[GROUP]],
// OLD:           gpu.shuffle idx %[[ROW]], %[[LANE]],
// OLD:           memref.load %[[BYTES]]
// OLD:           memref.load %[[BYTES]]
// OLD:           %[[MASK:.*]] = arith.constant 63 : i32
// OLD:           arith.andi %{{.*}}, %[[MASK]]
// OLD-COUNT-7:   gpu.shuffle
// OLD-NOT:       gpu.shuffle
// OLD:           %[[R:.*]] = vector.from_elements %{{.*}} : vector<2xi32>
// OLD-NEXT:      vector.store %[[R]]

// A lane has one byte of each of four rows.

// CHECK-LABEL: gpu.func @transposed(
// NEW-NEXT:      blockscale.load_matrix %{{.*}} code_bits = 8 transposed
// OLD-NOT:       blockscale
// OLD:           %[[IN_GROUP:.*]] = arith.remui
// OLD:           %[[FIRST:.*]] = arith.muli %[[IN_GROUP]],
// OLD:           %[[LANE:.*]] = arith.addi %[[FIRST]],
// OLD:           gpu.shuffle idx %{{.*}}, %[[LANE]],
// OLD-COUNT-15:  gpu.shuffle
// OLD-NOT:       gpu.shuffle
// OLD:           vector.from_elements %{{.*}} : vector<4xi32>
!tile = memref<8x64xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @plain(%tile: !tile, %at: index, %out: memref<4xi32>, %i: index) {
    %r = blockscale.load_matrix %tile[%at] + 16 code_bits = 8
         : !tile -> vector<4xi32>
    vector.store %r, %out[%i] : memref<4xi32>, vector<4xi32>
    gpu.return
  }
  gpu.func @quantized(%tile: !tile, %at: index, %out: memref<4xi32>, %i: index) {
    %r = blockscale.load_matrix %tile[%at] code_bits = 6
         : !tile -> vector<2xi32>
    vector.store %r, %out[%i] : memref<4xi32>, vector<2xi32>
    gpu.return
  }
  gpu.func @transposed(%tile: !tile, %at: index, %out: memref<4xi32>,
                       %i: index) {
    %r = blockscale.load_matrix %tile[%at] code_bits = 8 transposed
         : !tile -> vector<4xi32>
    vector.store %r, %out[%i] : memref<4xi32>, vector<4xi32>
    gpu.return
  }
}
