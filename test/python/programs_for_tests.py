"""MLIR for the tests of compiling, and arrays for it."""

import harness

PRODUCT = """\
func.func @main(%x: tensor<64x128xf8E4M3FN>, %x_scale: tensor<64x4xf8E8M0FNU>,
                %y: tensor<128x32xf4E2M1FN>, %y_scale: tensor<4x32xf8E8M0FNU>,
                %acc: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
         tensor<128x32xf4E2M1FN>, tensor<4x32xf8E8M0FNU>, tensor<64x32xf32>
  return %d : tensor<64x32xf32>
}
"""
ROW = harness.Combination("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32)

# Two results, of which the second one is a scalar; a size that is known at run time, and a scalar.
TWO_RESULTS = """\
func.func @scaled(%x: tensor<?x4xf32>, %factor: f32) -> (tensor<?x4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %init = tensor.empty(%rows) : tensor<?x4xf32>
  %factors = linalg.fill ins(%factor : f32) outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  %d = arith.mulf %x, %factors : tensor<?x4xf32>
  %twice = arith.addf %factor, %factor : f32
  return %d, %twice : tensor<?x4xf32>, f32
}
"""

TWO_FUNCTIONS = """\
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @second(%x: tensor<4xf32>) -> tensor<4xf32> {
  %d = arith.addf %x, %x : tensor<4xf32>
  return %d : tensor<4xf32>
}
"""


def product_arrays():
    """Arguments of PRODUCT, all partial sums of which are exact."""
    return harness.exact(ROW, 64, 32, 128, seed=1)
