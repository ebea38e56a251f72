// Elementwise ops around an mma_scaled become one op on each side.

// RUN: blockscale-opt %s --blockscale-join-elementwise -split-input-file | FileCheck %s

// The example of the pass' description.

// CHECK-LABEL: func.func @add_twice(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<16x8xf32>)
// CHECK:         %[[D:.*]] = blockscale.mma_scaled
// CHECK:         %[[F:.*]] = linalg.generic {{.*}} ins(%[[D]], %[[C]] : {{.*}}) outs(
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f32, %[[IN_0:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[IN]], %[[IN_0]] : f32
// CHECK-NEXT:      %[[PRODUCT:.*]] = arith.mulf %[[SUM]], %[[IN_0]] : f32
// CHECK-NEXT:      linalg.yield %[[PRODUCT]] : f32
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[F]]
func.func @add_twice(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                     %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
                     %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  %e = arith.addf %d, %c : tensor<16x8xf32>
  %f = arith.mulf %e, %c : tensor<16x8xf32>
  return %f : tensor<16x8xf32>
}

// -----

// Named ops, and broadcasts, which are read where they are used.

// CHECK:       #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[V:[a-z0-9]+]]: tensor<8xf32>)
// CHECK-NOT:     linalg
// CHECK:         %[[D:.*]] = blockscale.mma_scaled
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[$COLUMN]], #{{.*}}], {{.*}}} ins(%[[D]], %[[V]] :
// CHECK:           arith.addf
// CHECK-NEXT:      math.exp
// CHECK-NEXT:      linalg.yield
// CHECK-NOT:     linalg
func.func @chain(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                 %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
                 %c: tensor<16x8xf32>, %v: tensor<8xf32>) -> tensor<16x8xf32> {
  %empty = tensor.empty() : tensor<16x8xf32>
  %b = linalg.broadcast ins(%v : tensor<8xf32>) outs(%empty : tensor<16x8xf32>)
       dimensions = [0]
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  %e = arith.addf %d, %b : tensor<16x8xf32>
  %f = linalg.exp ins(%e : tensor<16x8xf32>) outs(%empty : tensor<16x8xf32>)
       -> tensor<16x8xf32>
  return %f : tensor<16x8xf32>
}

// -----

// A fill of an accumulator is a body; one with zero is what acc_zero does. A
// transpose of an operand stays a transpose.

// CHECK-LABEL: func.func @fills(
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1.0
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.0
// CHECK:         %[[ONES:.*]] = linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      linalg.yield %[[ONE]]
// CHECK:         %[[ZEROS:.*]] = linalg.fill ins(%[[ZERO]]
// CHECK:         %[[Y:.*]] = linalg.transpose
// CHECK:         blockscale.mma_scaled %{{.*}}, %{{.*}}, %[[Y]], %{{.*}}, %[[ONES]]
// CHECK:         blockscale.mma_scaled %{{.*}}, %{{.*}}, %[[Y]], %{{.*}}, %[[ZEROS]]
func.func @fills(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                 %yt: tensor<8x32xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>)
    -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x8xf32>
  %0 = linalg.fill ins(%one : f32) outs(%empty : tensor<16x8xf32>)
       -> tensor<16x8xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x8xf32>)
       -> tensor<16x8xf32>
  %ye = tensor.empty() : tensor<32x8xf4E2M1FN>
  %y = linalg.transpose ins(%yt : tensor<8x32xf4E2M1FN>)
       outs(%ye : tensor<32x8xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %0
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  %e = blockscale.mma_scaled %x, %sx, %y, %sy, %1
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d, %e : tensor<16x8xf32>, tensor<16x8xf32>
}

// -----

// What is used twice is computed once.

// CHECK-LABEL: func.func @twice(
// CHECK:         %[[E:.*]] = linalg.generic
// CHECK:           arith.addf
// CHECK:         %[[F:.*]] = linalg.generic {{.*}} ins(%[[E]],
// CHECK-NOT:       arith.addf
// CHECK:         return %[[E]], %[[F]]
func.func @twice(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                 %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
                 %c: tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  %e = arith.addf %d, %c : tensor<16x8xf32>
  %f = arith.mulf %e, %c : tensor<16x8xf32>
  return %e, %f : tensor<16x8xf32>, tensor<16x8xf32>
}

// -----

// Other functions stay as they are.

// CHECK-LABEL: func.func @without(
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    return
func.func @without(%c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = arith.addf %c, %c : tensor<16x8xf32>
  return %e : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @vectors(
// CHECK-NEXT:    blockscale.mma_scaled
// CHECK-NEXT:    arith.addf %arg5, %arg5 : tensor<16x8xf32>
func.func @vectors(%x: vector<16x32xf8E4M3FN>, %sx: vector<16x1xf8E8M0FNU>,
                   %y: vector<32x8xf8E5M2>, %sy: vector<1x8xf8E8M0FNU>,
                   %c: vector<16x8xf32>, %t: tensor<16x8xf32>)
    -> (vector<16x8xf32>, tensor<16x8xf32>) {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
         vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
  %e = arith.addf %t, %t : tensor<16x8xf32>
  return %d, %e : vector<16x8xf32>, tensor<16x8xf32>
}

// -----

// A tensor of one scalar is that scalar.

// CHECK-LABEL: func.func @scalar(
// CHECK-SAME:    %[[ALPHA:[a-z0-9]+]]: f32) -> tensor<16x8xf32>
// CHECK:         %[[D:.*]] = blockscale.mma_scaled
// CHECK-NOT:     tensor.splat
// CHECK:         %[[F:.*]] = linalg.generic {{.*}} ins(%[[D]] : tensor<16x8xf32>)
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      arith.mulf %[[E]], %[[ALPHA]] : f32
// CHECK:         return %[[F]]
func.func @scalar(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                  %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
                  %c: tensor<16x8xf32>, %alpha: f32) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  %a = tensor.splat %alpha : tensor<16x8xf32>
  %f = arith.mulf %d, %a : tensor<16x8xf32>
  return %f : tensor<16x8xf32>
}
