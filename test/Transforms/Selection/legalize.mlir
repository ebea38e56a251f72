// The forms that paths take: instructions are chosen, batches of vectors
// unrolled.

// RUN: blockscale-opt %s --blockscale-legalize -split-input-file -verify-diagnostics | FileCheck %s

// The example of the pass' description.

// CHECK-LABEL: func @mma(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: vector<1x16x64xf4E2M1FN>, %[[X_SCALE:[a-z0-9]+]]: vector<1x16x2xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: vector<64x8xf4E2M1FN>, %[[Y_SCALE:[a-z0-9]+]]: vector<2x8xf8E8M0FNU>,
// CHECK-SAME:    %[[C:[a-z0-9]+]]: vector<1x16x8xf32>)
// CHECK-DAG:     %[[X_0:.*]] = vector.extract %[[X]][0]
// CHECK-DAG:     %[[X_SCALE_0:.*]] = vector.extract %[[X_SCALE]][0]
// CHECK-DAG:     %[[C_0:.*]] = vector.extract %[[C]][0]
// CHECK:         %[[D_0:.*]] = blockscale.mma_scaled %[[X_0]], %[[X_SCALE_0]], %[[Y]], %[[Y_SCALE]], %[[C_0]]
// CHECK-SAME:      blockscale.instruction = #blockscale.instruction<mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>, blockscale.path = #blockscale.path<mma_sync>
// CHECK-SAME:      : vector<16x64xf4E2M1FN>,
// CHECK:         %[[D:.*]] = vector.insert %[[D_0]], %{{.*}} [0]
// CHECK:         return %[[D]]
func.func @mma(%x: vector<1x16x64xf4E2M1FN>, %sx: vector<1x16x2xf8E8M0FNU>,
               %y: vector<64x8xf4E2M1FN>, %sy: vector<2x8xf8E8M0FNU>,
               %c: vector<1x16x8xf32>) -> vector<1x16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : vector<1x16x64xf4E2M1FN>, vector<1x16x2xf8E8M0FNU>,
         vector<64x8xf4E2M1FN>, vector<2x8xf8E8M0FNU>, vector<1x16x8xf32>
  return %d : vector<1x16x8xf32>
}

// -----

// y has a batch of 1: it serves each matrix.

// CHECK-LABEL: func @batch(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: vector<2x16x32xf8E5M2>, %[[X_SCALE:[a-z0-9]+]]: vector<2x16x1xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: vector<1x32x8xf6E2M3FN>, %[[Y_SCALE:[a-z0-9]+]]: vector<1x1x8xf8E8M0FNU>,
// CHECK-DAG:     %[[X_0:.*]] = vector.extract %[[X]][0]
// CHECK-DAG:     %[[X_SCALE_0:.*]] = vector.extract %[[X_SCALE]][0]
// CHECK-DAG:     %[[Y_0:.*]] = vector.extract %[[Y]][0]
// CHECK-DAG:     %[[Y_SCALE_0:.*]] = vector.extract %[[Y_SCALE]][0]
// CHECK:         %[[D_0:.*]] = blockscale.mma_scaled %[[X_0]], %[[X_SCALE_0]], %[[Y_0]], %[[Y_SCALE_0]],
// CHECK:         %[[FIRST:.*]] = vector.insert %[[D_0]], %{{.*}} [0]
// CHECK-DAG:     %[[Y_AGAIN:.*]] = vector.extract %[[Y]][0]
// CHECK-DAG:     %[[Y_SCALE_AGAIN:.*]] = vector.extract %[[Y_SCALE]][0]
// CHECK-DAG:     %[[X_1:.*]] = vector.extract %[[X]][1]
// CHECK-DAG:     %[[X_SCALE_1:.*]] = vector.extract %[[X_SCALE]][1]
// CHECK:         %[[D_1:.*]] = blockscale.mma_scaled %[[X_1]], %[[X_SCALE_1]], %[[Y_AGAIN]], %[[Y_SCALE_AGAIN]],
// CHECK:         vector.insert %[[D_1]], %[[FIRST]] [1]
func.func @batch(%x: vector<2x16x32xf8E5M2>, %sx: vector<2x16x1xf8E8M0FNU>,
                 %y: vector<1x32x8xf6E2M3FN>, %sy: vector<1x1x8xf8E8M0FNU>,
                 %c: vector<2x16x8xf32>) -> vector<2x16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : vector<2x16x32xf8E5M2>, vector<2x16x1xf8E8M0FNU>,
         vector<1x32x8xf6E2M3FN>, vector<1x1x8xf8E8M0FNU>, vector<2x16x8xf32>
  return %d : vector<2x16x8xf32>
}

// -----

// Tensors keep their batch.

// CHECK-LABEL: func @mxf8f6f4(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      blockscale.instruction = #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e3m2, e2m1, ue8m0, 1>
// CHECK-SAME:      : tensor<2x7x32xf6E3M2FN>
func.func @mxf8f6f4(%x: tensor<2x7x32xf6E3M2FN>, %sx: tensor<2x7x1xf8E8M0FNU>,
                    %y: tensor<32x5xf4E2M1FN>, %sy: tensor<1x5xf8E8M0FNU>,
                    %c: tensor<2x7x5xf32>) -> tensor<2x7x5xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<2x7x32xf6E3M2FN>, tensor<2x7x1xf8E8M0FNU>,
         tensor<32x5xf4E2M1FN>, tensor<1x5xf8E8M0FNU>, tensor<2x7x5xf32>
  return %d : tensor<2x7x5xf32>
}

// -----

// CHECK-LABEL: func @mxf4nvf4(
// CHECK:         #blockscale.instruction<mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
func.func @mxf4nvf4(%x: tensor<7x32xf4E2M1FN>, %sx: tensor<7x2xf8E4M3FN>,
                    %y: tensor<32x5xf4E2M1FN>, %sy: tensor<2x5xf8E4M3FN>,
                    %c: tensor<7x5xf32>) -> tensor<7x5xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<7x32xf4E2M1FN>, tensor<7x2xf8E4M3FN>,
         tensor<32x5xf4E2M1FN>, tensor<2x5xf8E4M3FN>, tensor<7x5xf32>
  return %d : tensor<7x5xf32>
}

// -----

// No PTX version of the code generator has the instruction of this type combination.

// CHECK-LABEL: func @mxfp4_b16(
// CHECK:         #blockscale.instruction<mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
func.func @mxfp4_b16(%x: tensor<7x32xf4E2M1FN>, %sx: tensor<7x2xf8E8M0FNU>,
                     %y: tensor<32x5xf4E2M1FN>, %sy: tensor<2x5xf8E8M0FNU>,
                     %c: tensor<7x5xf32>) -> tensor<7x5xf32> {
  // expected-remark@+1 {{computed exactly by two mxf4 instructions, each with half of every block of A zeroed: mma.sync.kind::mxf4nvf4.block_scale.scale_vec::4X needs PTX 9.1, one instruction computes blocks of 32 with scales of f8E8M0FNU or 16 with scales of f8E4M3FN}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<7x32xf4E2M1FN>, tensor<7x2xf8E8M0FNU>,
         tensor<32x5xf4E2M1FN>, tensor<2x5xf8E8M0FNU>, tensor<7x5xf32>
  return %d : tensor<7x5xf32>
}

// -----

// The path decompose supports all forms.

// CHECK-LABEL: func @decompose(
// CHECK-NEXT:    blockscale.mma_scaled
// CHECK-NOT:       blockscale.instruction
// CHECK-NEXT:    return
func.func @decompose(%x: tensor<7x32xf8E4M3FN>, %sx: tensor<7x1xf8E8M0FNU>,
                     %y: tensor<32x5xf4E2M1FN>, %sy: tensor<1x5xf8E8M0FNU>,
                     %c: tensor<7x5xf32>) -> tensor<7x5xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<decompose>}
       : tensor<7x32xf8E4M3FN>, tensor<7x1xf8E8M0FNU>,
         tensor<32x5xf4E2M1FN>, tensor<1x5xf8E8M0FNU>, tensor<7x5xf32>
  return %d : tensor<7x5xf32>
}
