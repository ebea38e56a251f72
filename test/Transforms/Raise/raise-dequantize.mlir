// A product of two dequantized operands becomes one of quantized operands, if nothing
// is rounded in between.

// RUN: blockscale-opt %s --blockscale-raise -verify-diagnostics | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @f32(
// CHECK-SAME:    %[[X:.*]]: tensor<16x64xf8E4M3FN>, %[[SX:.*]]: tensor<16x2xf8E8M0FNU>, %[[Y:.*]]: tensor<8x64xf4E2M1FN>, %[[SY:.*]]: tensor<8x2xf8E8M0FNU>, %[[ACC:.*]]: tensor<16x8xf32>
// CHECK:         %[[YT:.*]] = linalg.transpose ins(%[[Y]] : {{.*}} permutation = [1, 0]
// CHECK:         %[[ST:.*]] = linalg.transpose ins(%[[SY]] : {{.*}} permutation = [1, 0]
// CHECK:         blockscale.mma_scaled %[[X]], %[[SX]], %[[YT]], %[[ST]], %[[ACC]]
func.func @f32(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<8x64xf4E2M1FN>, %sy: tensor<8x2xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %a = blockscale.dequantize %x, %sx : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU> to tensor<16x64xf32>
  %b = blockscale.dequantize %y, %sy : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU> to tensor<8x64xf32>
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<16x64xf32>, tensor<8x64xf32>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// The sign of scales is ignored by both. bf16 holds all of these values.

// CHECK-LABEL: func.func @nvfp4_bf16(
// CHECK:         blockscale.mma_scaled {{.*}} : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>, tensor<64x8xf4E2M1FN>, tensor<4x8xf8E4M3FN>, tensor<16x8xf32>
func.func @nvfp4_bf16(%x: tensor<16x64xf4E2M1FN>, %sx: tensor<16x4xf8E4M3FN>, %y: tensor<8x64xf4E2M1FN>, %sy: tensor<8x4xf8E4M3FN>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %a = blockscale.dequantize %x, %sx : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN> to tensor<16x64xbf16>
  %b = blockscale.dequantize %y, %sy : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN> to tensor<8x64xbf16>
  %e = tensor.empty() : tensor<64x8xbf16>
  %t = linalg.transpose ins(%b : tensor<8x64xbf16>) outs(%e : tensor<64x8xbf16>) permutation = [1, 0]
  %d = linalg.matmul ins(%a, %t : tensor<16x64xbf16>, tensor<64x8xbf16>) outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @mxfp6_bf16_batch(
// CHECK:         blockscale.mma_scaled {{.*}} : tensor<2x16x64xf6E3M2FN>, tensor<2x16x2xf8E8M0FNU>, tensor<2x64x8xf6E2M3FN>
func.func @mxfp6_bf16_batch(%x: tensor<2x16x64xf6E3M2FN>, %sx: tensor<2x16x2xf8E8M0FNU>, %y: tensor<2x8x64xf6E2M3FN>,
    %sy: tensor<2x8x2xf8E8M0FNU>, %acc: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %a = blockscale.dequantize %x, %sx : tensor<2x16x64xf6E3M2FN>, tensor<2x16x2xf8E8M0FNU> to tensor<2x16x64xbf16>
  %b = blockscale.dequantize %y, %sy : tensor<2x8x64xf6E2M3FN>, tensor<2x8x2xf8E8M0FNU> to tensor<2x8x64xbf16>
  %e = tensor.empty() : tensor<2x64x8xbf16>
  %t = linalg.transpose ins(%b : tensor<2x8x64xbf16>) outs(%e : tensor<2x64x8xbf16>) permutation = [0, 2, 1]
  %d = linalg.batch_matmul ins(%a, %t : tensor<2x16x64xbf16>, tensor<2x64x8xbf16>) outs(%acc : tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  return %d : tensor<2x16x8xf32>
}

// CHECK-LABEL: func.func @blocks_of_16(
// CHECK:         blockscale.mma_scaled {{.*}} tensor<16x4xf8E8M0FNU>
func.func @blocks_of_16(%x: tensor<16x64xf4E2M1FN>, %sx: tensor<16x4xf8E8M0FNU>, %y: tensor<8x64xf4E2M1FN>, %sy: tensor<8x4xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %a = blockscale.dequantize %x, %sx : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E8M0FNU> to tensor<16x64xf32>
  %b = blockscale.dequantize %y, %sy : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E8M0FNU> to tensor<8x64xf32>
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<16x64xf32>, tensor<8x64xf32>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

//===----------------------------------------------------------------------===//
// Left alone
//===----------------------------------------------------------------------===//

// CHECK-NOT: blockscale.mma_scaled

func.func @fp8_bf16(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x64xf8E4M3FN>, %sy: tensor<64x2xf8E8M0FNU>,
    %acc: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %a = blockscale.dequantize %x, %sx : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU> to tensor<16x64xbf16>
  %b = blockscale.dequantize %y, %sy : tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU> to tensor<64x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: 'blockscale.dequantize' rounds to bf16, which does not hold all products of these elements and scales, expected f32}}
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<16x64xbf16>, tensor<64x64xbf16>)
       outs(%acc : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %d : tensor<16x64xf32>
}

func.func @f16(%x: tensor<16x64xf4E2M1FN>, %sx: tensor<16x4xf8E4M3FN>, %y: tensor<8x64xf4E2M1FN>, %sy: tensor<8x4xf8E4M3FN>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %a = blockscale.dequantize %x, %sx : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN> to tensor<16x64xf16>
  %b = blockscale.dequantize %y, %sy : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN> to tensor<8x64xf16>
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: an operand is dequantized to f16, expected f32 or bf16}}
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<16x64xf16>, tensor<8x64xf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @tensor_scale(%x: tensor<16x64xf4E2M1FN>, %sx: tensor<16x4xf8E4M3FN>, %g: f32, %y: tensor<8x64xf4E2M1FN>, %sy: tensor<8x4xf8E4M3FN>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %a = blockscale.dequantize %x, %sx tensor_scale(%g) : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>, f32 to tensor<16x64xf32>
  %b = blockscale.dequantize %y, %sy : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN> to tensor<8x64xf32>
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: 'blockscale.dequantize' with a scale of the tensor rounds twice}}
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<16x64xf32>, tensor<8x64xf32>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @part_of_a_block(%x: tensor<16x40xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<8x40xf8E4M3FN>, %sy: tensor<8x2xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %a = blockscale.dequantize %x, %sx {block_size = 32 : i64} : tensor<16x40xf8E4M3FN>, tensor<16x2xf8E8M0FNU> to tensor<16x40xf32>
  %b = blockscale.dequantize %y, %sy {block_size = 32 : i64} : tensor<8x40xf8E4M3FN>, tensor<8x2xf8E8M0FNU> to tensor<8x40xf32>
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected K to be a multiple of 32, got 40}}
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<16x40xf32>, tensor<8x40xf32>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Mixed input is another product, without a remark here.

func.func @weights(%x: tensor<16x64xbf16>, %y: tensor<8x64xf8E4M3FN>, %sy: tensor<8x2xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %b = blockscale.dequantize %y, %sy : tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU> to tensor<8x64xbf16>
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %b : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
