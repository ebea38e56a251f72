// Products of a sparse A that are dequantized to bf16 in registers, for mma.sp.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(blockscale-legalize,gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" -split-input-file | FileCheck %s

// A lane loads the bytes of two rows, exchanges nibbles 1 and 2 of each half, so that the fields of the
// even chunks are in the low bytes, and selects the bytes of its thread: 0x6420 or 0x7531. Lanes with
// thread 0 or 1 have the metadata of the first instruction, those with 2 or 3 of the second one.
// A is loaded once for two instructions. Of two registers of B, a lane sends the half that its neighbor
// needs: 0x7632 in even lanes, 0x5410 in odd ones.
// The scaled sums of blocks of 32 take an instruction for each block, and all steps are in a loop.

// CHECK-LABEL: gpu.func @elements(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<16x64xi8, {{[^,]*}}, %{{[a-z0-9]+}}: memref<16x4xi8, {{[^,]*}}, %[[B:[a-z0-9]+]]: memref<8x128xi8, {{[^,]*}}, %{{[a-z0-9]+}}: memref<8x4xi8, {{[^,]*}}, %[[E:[a-z0-9]+]]: memref<1x16x16xi8,
// CHECK-DAG:     %[[LOW_HALVES:.*]] = arith.constant 21520 : i32
// CHECK-DAG:     %[[HIGH_HALVES:.*]] = arith.constant 30258 : i32
// CHECK-DAG:     %[[NIBBLES:.*]] = arith.constant 15728880 : i32
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : i32
// CHECK-DAG:     %[[LANES_01:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG:     %[[LANES_23:.*]] = llvm.mlir.constant(1 : i32)
// CHECK:         scf.if %{{.*}} -> (f32, f32, f32, f32, i1) {
// CHECK:           %[[SENT:.*]] = arith.select %{{.*}}, %[[LOW_HALVES]], %[[HIGH_HALVES]]
// CHECK:           blockscale.load_matrix %[[A]]
// CHECK:           vector.load %[[E]]
// CHECK:           %[[WORD:.*]] = vector.extract %{{.*}} : i32 from vector<1xi32>
// CHECK-NEXT:      %[[NEXT:.*]] = arith.shrui %[[WORD]], %[[C4]]
// CHECK-NEXT:      %[[DIFFERENT:.*]] = arith.xori %[[WORD]], %[[NEXT]]
// CHECK-NEXT:      %[[CHANGED:.*]] = arith.andi %[[DIFFERENT]], %[[NIBBLES]]
// CHECK-NEXT:      %[[WITHOUT:.*]] = arith.xori %[[WORD]], %[[CHANGED]]
// CHECK-NEXT:      %[[MOVED:.*]] = arith.shli %[[CHANGED]], %[[C4]]
// CHECK-NEXT:      %[[UPPER:.*]] = arith.xori %[[WITHOUT]], %[[MOVED]]
// CHECK:           vector.load %[[E]]
// CHECK:           arith.xori
// CHECK:           arith.xori
// CHECK:           %[[LOWER:.*]] = arith.xori
// CHECK-NEXT:      %[[FIELDS:.*]] = nvvm.prmt <default> %{{.*}}, %[[UPPER]], %[[LOWER]]
// CHECK:           %[[REGISTERS:.*]] = blockscale.load_matrix %[[B]]
// CHECK-DAG:       %[[FIRST:.*]] = vector.extract %[[REGISTERS]][0]
// CHECK-DAG:       %[[SECOND:.*]] = vector.extract %[[REGISTERS]][1]
// CHECK:           %[[TO_NEIGHBOR:.*]] = nvvm.prmt <default> %[[SENT]], %[[FIRST]], %[[SECOND]]
// CHECK-NEXT:      %[[RECEIVED:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[TO_NEIGHBOR]]
// CHECK-NEXT:      nvvm.prmt <default> %{{.*}}, %[[FIRST]], %[[RECEIVED]]
// CHECK:           nvvm.prmt <default> %{{.*}}, %[[SECOND]], %[[RECEIVED]]
// CHECK:           nvvm.mma.sp.sync {{.*}} sparseMetadata[%[[FIELDS]]] selector[%[[LANES_01]]] {{.*}}orderedMetadata, shape = #nvvm.shape<m = 16, n = 8, k = 32>
// CHECK-NOT:       load_matrix %[[A]]
// CHECK:           nvvm.mma.sp.sync {{.*}} sparseMetadata[%[[FIELDS]]] selector[%[[LANES_23]]] {{.*}}orderedMetadata
// CHECK:           blockscale.load_matrix %[[A]]
// CHECK-COUNT-2:   nvvm.mma.sp.sync
// CHECK-NOT:       nvvm.mma.s
// CHECK:         scf.if %{{.*}} -> (f32, f32, f32, f32) {
// CHECK:           scf.for
// CHECK-COUNT-2:     nvvm.mma.sp.sync
// CHECK-NOT:     nvvm.mma.s
gpu.module @kernels {
  gpu.func @elements(
      %a: memref<16x64xi8, #gpu.address_space<workgroup>>,
      %sa: memref<16x4xi8, #gpu.address_space<workgroup>>,
      %b: memref<8x128xi8, #gpu.address_space<workgroup>>,
      %sb: memref<8x4xi8, #gpu.address_space<workgroup>>,
      %e: memref<1x16x16xi8, #gpu.address_space<workgroup>>,
      %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc metadata %e
           types = <e4m3, e5m2, ue8m0, 32, 2:4>
           instruction = <dequant_mma, 16x8x64, bf16, e4m3, e5m2, ue8m0, 2, 2:4>
           : memref<16x64xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             memref<8x128xi8, #gpu.address_space<workgroup>>,
             memref<8x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x8, #blockscale.warps<1x1>>,
             memref<1x16x16xi8, #gpu.address_space<workgroup>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Pairs of fp4: an instruction has every second element of both operands, from two bytes of memory, and
// the fields of all eight chunks of 64 elements as they are. The instructions of a step have one word.
// CHECK-LABEL: gpu.func @pairs(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<16x32xi8, {{[^,]*}}, %{{[a-z0-9]+}}: memref<16x4xi8, {{[^,]*}}, %[[B:[a-z0-9]+]]: memref<8x64xi8, {{[^,]*}}, %{{[a-z0-9]+}}: memref<8x4xi8, {{[^,]*}}, %[[E:[a-z0-9]+]]: memref<1x16x8xi8,
// CHECK-DAG:     %[[EVEN:.*]] = arith.constant 37248 : i32
// CHECK-DAG:     %[[ODD:.*]] = arith.constant 54724 : i32
// CHECK:         scf.if %{{.*}} -> (f32, f32, f32, f32) {
// CHECK:           vector.load %[[E]]{{.*}} vector<4xi8>
// CHECK-NEXT:      vector.bitcast
// CHECK-NEXT:      %[[UPPER:.*]] = vector.extract
// CHECK:           vector.load %[[E]]{{.*}} vector<4xi8>
// CHECK-NEXT:      vector.bitcast
// CHECK-NEXT:      %[[LOWER:.*]] = vector.extract
// CHECK-NEXT:      %[[FIELDS:.*]] = nvvm.prmt <default> %{{.*}}, %[[UPPER]], %[[LOWER]]
// CHECK:           vector.load %[[A]]{{.*}} vector<2xi8>
// CHECK:           %[[WORD:.*]] = arith.extui
// CHECK-NEXT:      %[[SHIFTED:.*]] = arith.shli %[[WORD]]
// CHECK-NEXT:      nvvm.prmt <default> %[[EVEN]], %[[SHIFTED]], %[[WORD]]
// CHECK:           nvvm.prmt <default> %[[ODD]], %[[SHIFTED]], %[[WORD]]
// CHECK:           nvvm.mma.sp.sync {{.*}} sparseMetadata[%[[FIELDS]]] selector[%[[LANES:.*]]] {
// CHECK:           nvvm.mma.sp.sync {{.*}} sparseMetadata[%[[FIELDS]]] selector[%[[LANES]]] {
// CHECK:           vector.load %[[E]]
// CHECK-NOT:     nvvm.mma.sync
gpu.module @kernels {
  gpu.func @pairs(
      %a: memref<16x32xi8, #gpu.address_space<workgroup>>,
      %sa: memref<16x4xi8, #gpu.address_space<workgroup>>,
      %b: memref<8x64xi8, #gpu.address_space<workgroup>>,
      %sb: memref<8x4xi8, #gpu.address_space<workgroup>>,
      %e: memref<1x16x8xi8, #gpu.address_space<workgroup>>,
      %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc metadata %e
           types = <e2m1, e2m1, ue4m3, 32, pairs>
           instruction = <dequant_mma, 16x8x64, bf16_packed, e2m1, e2m1, ue4m3, 2, pairs>
           : memref<16x32xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             memref<8x64xi8, #gpu.address_space<workgroup>>,
             memref<8x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x8, #blockscale.warps<1x1>>,
             memref<1x16x8xi8, #gpu.address_space<workgroup>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}
