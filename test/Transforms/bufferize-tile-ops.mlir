// An op of the tile level that bufferization meets says which passes come
// before it; after them, it is gone.

// RUN: not blockscale-opt %s --one-shot-bufferize="bufferize-function-boundaries" 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not %mlir_opt --load-dialect-plugin=%plugin %s --one-shot-bufferize="bufferize-function-boundaries" 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: blockscale-opt %s --blockscale-decompose --one-shot-bufferize="bufferize-function-boundaries" | FileCheck %s

// ERROR: bufferize-tile-ops.mlir:[[#@LINE+6]]:8: error: 'blockscale.mma_scaled' op cannot be bufferized: run blockscale-decompose before bufferization for loops, or blockscale-form-kernels for kernels of a GPU
// CHECK-LABEL: func.func @product(
// CHECK-NOT: blockscale.
func.func @product(%x: tensor<4x32xf8E5M2>, %xs: tensor<4x1xf8E8M0FNU>,
                   %y: tensor<32x2xf8E4M3FN>, %ys: tensor<1x2xf8E8M0FNU>,
                   %acc: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       : tensor<4x32xf8E5M2>, tensor<4x1xf8E8M0FNU>, tensor<32x2xf8E4M3FN>,
         tensor<1x2xf8E8M0FNU>, tensor<4x2xf32>
  return %d : tensor<4x2xf32>
}
