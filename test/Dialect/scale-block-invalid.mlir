// Constraints of coarse scales: those of the attribute, (C11) to (C13) of
// mma_scaled, (Q7) of quantize and (E6) of dequantize.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected a scale for 1, 128 or all rows, got 32}}
func.func private @f() attributes {a = #blockscale.scale_block<rows = 32, k = 32>}

// -----

// expected-error@+1 {{expected a scale for 16, 32, 64, 128 or all elements along K, got 256}}
func.func private @f() attributes {a = #blockscale.scale_block<rows = 1, k = 256>}

// -----

// expected-error@+1 {{expected a scale for 1, 128 or all rows, got -1}}
func.func private @f() attributes {a = #blockscale.scale_block<rows = -1, k = 128>}

// -----

// expected-error@+1 {{expected at least 1 element, or 'all', got 0}}
func.func private @f() attributes {a = #blockscale.scale_block<rows = 1, k = 0>}

// -----

// expected-error@+1 {{expected a number of elements, or 'all'}}
func.func private @f() attributes {a = #blockscale.scale_block<rows = each, k = 32>}

// -----

// expected-error@+1 {{expected 'rows'}}
func.func private @f() attributes {a = #blockscale.scale_block<k = 32, rows = 1>}

// -----

// expected-error@+1 {{integer value too large}}
func.func private @f() attributes {a = #blockscale.scale_block<rows = 1, k = 99999999999999999999>}

// -----

func.func @mma_scaled_c11_ue4m3_of_fp8(
    %x: tensor<300x256xf8E4M3FN>, %x_scale: tensor<300x16xf8E4M3FN>, %y: tensor<256x576xf8E4M3FN>,
    %y_scale: tensor<2x5xf32>, %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to be of type f8E8M0FNU or f32 for 'f8E4M3FN', got 'f8E4M3FN'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<300x256xf8E4M3FN>, tensor<300x16xf8E4M3FN>, tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// -----

func.func @mma_scaled_c11_e8m0_block_16(
    %x: tensor<300x256xf8E4M3FN>, %x_scale: tensor<300x16xf8E8M0FNU>, %y: tensor<256x576xf8E4M3FN>,
    %y_scale: tensor<2x5xf32>, %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale_block to be <rows = 1, k = 32>, <rows = 1, k = 64>, <rows = 1, k = 128>, <rows = 1, k = all>, <rows = 128, k = 32>, <rows = 128, k = 64>, <rows = 128, k = 128>, <rows = 128, k = all>, <rows = all, k = 32>, <rows = all, k = 64>, <rows = all, k = 128> or <rows = all, k = all> for 'f8E4M3FN' with 'f8E8M0FNU' scales, got <rows = 1, k = 16>}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {x_scale_block = #blockscale.scale_block<rows = 1, k = 16>}
       : tensor<300x256xf8E4M3FN>, tensor<300x16xf8E8M0FNU>, tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// -----

func.func @mma_scaled_c11_batch(
    %x: tensor<2x300x256xf8E4M3FN>, %x_scale: tensor<3x300x2xf32>, %y: tensor<256x576xf8E4M3FN>,
    %y_scale: tensor<2x5xf32>, %acc: tensor<2x300x576xf32>) -> tensor<2x300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have the batch of x, 2, got 3 ('tensor<3x300x2xf32>' with 'tensor<2x300x256xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<2x300x256xf8E4M3FN>, tensor<3x300x2xf32>, tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<2x300x576xf32>
  return %d : tensor<2x300x576xf32>
}

// -----

func.func @mma_scaled_c2_rank(
    %x: tensor<2x300x256xf8E4M3FN>, %x_scale: tensor<300x2xf32>, %y: tensor<256x576xf8E4M3FN>,
    %y_scale: tensor<2x5xf32>, %acc: tensor<2x300x576xf32>) -> tensor<2x300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have rank 3, as x has, got rank 2}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<2x300x256xf8E4M3FN>, tensor<300x2xf32>, tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<2x300x576xf32>
  return %d : tensor<2x300x576xf32>
}

// -----

func.func @mma_scaled_c12_32_by_32(
    %x: tensor<300x256xf8E4M3FN>, %x_scale: tensor<10x8xf32>, %y: tensor<256x576xf8E4M3FN>,
    %y_scale: tensor<2x5xf32>, %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have one scale for 1, 128 or all rows and 16, 32, 64, 128 or all elements along K of x, got 'tensor<10x8xf32>' with 'tensor<300x256xf8E4M3FN>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<300x256xf8E4M3FN>, tensor<10x8xf32>, tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// -----

func.func @mma_scaled_c12_floor(
    %x: tensor<300x256xf8E4M3FN>, %x_scale: tensor<300x2xf32>, %y: tensor<256x576xf8E4M3FN>,
    %y_scale: tensor<2x4xf32>, %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected y_scale to have 5 along N, one for 128 of y, got 4 ('tensor<2x4xf32>' with 'tensor<256x576xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {y_scale_block = #blockscale.scale_block<rows = 128, k = 128>}
       : tensor<300x256xf8E4M3FN>, tensor<300x2xf32>, tensor<256x576xf8E4M3FN>, tensor<2x4xf32>, tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// -----

func.func @mma_scaled_c12_transposed(
    %x: tensor<256x256xf8E4M3FN>, %x_scale: tensor<2x256xf32>, %y: tensor<256x576xf8E4M3FN>,
    %y_scale: tensor<2x5xf32>, %acc: tensor<256x576xf32>) -> tensor<256x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have 256 along M, one for 1 of x, got 2 ('tensor<2x256xf32>' with 'tensor<256x256xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>}
       : tensor<256x256xf8E4M3FN>, tensor<2x256xf32>, tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<256x576xf32>
  return %d : tensor<256x576xf32>
}

// -----

func.func @mma_scaled_c12_k(
    %x: tensor<300x257xf8E4M3FN>, %x_scale: tensor<300x2xf32>, %y: tensor<257x576xf8E4M3FN>,
    %y_scale: tensor<2x5xf32>, %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have 3 along K, one for 128 of x, got 2 ('tensor<300x2xf32>' with 'tensor<300x257xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>, y_scale_block = #blockscale.scale_block<rows = 128, k = 128>}
       : tensor<300x257xf8E4M3FN>, tensor<300x2xf32>, tensor<257x576xf8E4M3FN>, tensor<2x5xf32>, tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// -----

func.func @mma_scaled_c12_all(
    %x: tensor<300x256xf8E4M3FN>, %x_scale: tensor<300x2xf32>, %y: tensor<256x576xf8E4M3FN>,
    %y_scale: tensor<2x5xf32>, %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have 1 along K, one for all of x, got 2 ('tensor<300x2xf32>' with 'tensor<300x256xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {x_scale_block = #blockscale.scale_block<rows = 1, k = all>}
       : tensor<300x256xf8E4M3FN>, tensor<300x2xf32>, tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// -----

func.func @mma_scaled_c12_all_dynamic(
    %x: tensor<300x?xf8E4M3FN>, %x_scale: tensor<300x2xf32>, %y: tensor<?x576xf8E4M3FN>,
    %y_scale: tensor<?x5xf32>, %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale to have 1 along K, one for all of x, got 2 ('tensor<300x2xf32>' with 'tensor<300x?xf8E4M3FN>')}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {x_scale_block = #blockscale.scale_block<rows = 1, k = all>, y_scale_block = #blockscale.scale_block<rows = 128, k = 128>}
       : tensor<300x?xf8E4M3FN>, tensor<300x2xf32>, tensor<?x576xf8E4M3FN>, tensor<?x5xf32>, tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// -----

func.func @mma_scaled_c12_open_k_s_1(
    %x: tensor<300x128xf8E4M3FN>, %x_scale: tensor<300x1xf32>, %y: tensor<128x576xf8E4M3FN>,
    %y_scale: tensor<1x576xf32>, %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected attribute 'x_scale_block', because <rows = 1, k = 128> and <rows = 1, k = all> fit, got 'tensor<300x1xf32>' with 'tensor<300x128xf8E4M3FN>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<300x128xf8E4M3FN>, tensor<300x1xf32>, tensor<128x576xf8E4M3FN>, tensor<1x576xf32>, tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// -----

func.func @mma_scaled_c12_open_m_1(
    %x: tensor<1x256xf8E4M3FN>, %x_scale: tensor<1x2xf32>, %y: tensor<256x576xf8E4M3FN>,
    %y_scale: tensor<2x5xf32>, %acc: tensor<1x576xf32>) -> tensor<1x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected attribute 'x_scale_block', because <rows = 1, k = 128>, <rows = 128, k = 128> and <rows = all, k = 128> fit, got 'tensor<1x2xf32>' with 'tensor<1x256xf8E4M3FN>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<1x256xf8E4M3FN>, tensor<1x2xf32>, tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<1x576xf32>
  return %d : tensor<1x576xf32>
}

// -----

func.func @mma_scaled_c12_open_dynamic(
    %x: tensor<?x256xf8E4M3FN>, %x_scale: tensor<?x2xf32>, %y: tensor<256x576xf8E4M3FN>,
    %y_scale: tensor<2x5xf32>, %acc: tensor<?x576xf32>) -> tensor<?x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected attribute 'x_scale_block', because <rows = 1, k = 128>, <rows = 128, k = 128> and <rows = all, k = 128> fit, got 'tensor<?x2xf32>' with 'tensor<?x256xf8E4M3FN>'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<?x576xf32>
  return %d : tensor<?x576xf32>
}

// -----

func.func @mma_scaled_c12_partial_block_32(
    %x: tensor<300x200xf8E4M3FN>, %x_scale: tensor<300x2xf32>, %y: tensor<200x576xf4E2M1FN>,
    %y_scale: tensor<7x576xf8E8M0FNU>, %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected K to be a multiple of 32, the block of y_scale, got K = 200}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {y_scale_block = #blockscale.scale_block<rows = 1, k = 32>}
       : tensor<300x200xf8E4M3FN>, tensor<300x2xf32>, tensor<200x576xf4E2M1FN>, tensor<7x576xf8E8M0FNU>, tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// -----

func.func @mma_scaled_c13_block_size(
    %x: tensor<300x256xf8E4M3FN>, %x_scale: tensor<300x2xf32>, %y: tensor<256x576xf8E4M3FN>,
    %y_scale: tensor<2x5xf32>, %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected no 'block_size' with 'x_scale_block', 'y_scale_block' or scales of type f32, got 128}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 128}
       : tensor<300x256xf8E4M3FN>, tensor<300x2xf32>, tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// -----

func.func @mma_scaled_c8_without_blocks(
    %x: tensor<4x64xf4E2M1FN>, %x_scale: tensor<4x4xf8E8M0FNU>, %y: tensor<64x8xf4E2M1FN>,
    %y_scale: tensor<4x8xf8E4M3FN>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected x_scale and y_scale to have one element type, got 'f8E8M0FNU' and 'f8E4M3FN'}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<4x64xf4E2M1FN>, tensor<4x4xf8E8M0FNU>, tensor<64x8xf4E2M1FN>, tensor<4x8xf8E4M3FN>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

func.func @mma_scaled_c9_e8m0_128_without_block(
    %x: tensor<300x256xf8E4M3FN>, %x_scale: tensor<300x2xf8E8M0FNU>, %y: tensor<256x576xf8E4M3FN>,
    %y_scale: tensor<2x576xf8E8M0FNU>, %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a block size of 32 for 'f8E4M3FN' times 'f8E4M3FN' with 'f8E8M0FNU' scales, got 128}}
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<300x256xf8E4M3FN>, tensor<300x2xf8E8M0FNU>, tensor<256x576xf8E4M3FN>, tensor<2x576xf8E8M0FNU>, tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// -----

func.func @quantize_q7_none(%x: tensor<300x320xf32>) -> tensor<300x10xf8E8M0FNU> {
  // expected-error@+1 {{'blockscale.quantize' op requires attribute 'block_size'}}
  %e, %s = blockscale.quantize %x
      : tensor<300x320xf32> to tensor<300x320xf8E4M3FN>, tensor<300x10xf8E8M0FNU>
  return %s : tensor<300x10xf8E8M0FNU>
}

// -----

func.func @quantize_q7_both(%x: tensor<300x320xf32>) -> tensor<300x3xf32> {
  // expected-error@+1 {{'blockscale.quantize' op expected no 'block_size' with 'scale_block' or scales of type f32, got 32}}
  %e, %s = blockscale.quantize %x {block_size = 32 : i64, scale_block = #blockscale.scale_block<rows = 1, k = 128>}
      : tensor<300x320xf32> to tensor<300x320xf8E4M3FN>, tensor<300x3xf32>
  return %s : tensor<300x3xf32>
}

// -----

func.func @quantize_q7_f32_without_block(%x: tensor<300x320xf32>) -> tensor<300x3xf32> {
  // expected-error@+1 {{'blockscale.quantize' op expected attribute 'scale_block' for scales of type f32}}
  %e, %s = blockscale.quantize %x
      : tensor<300x320xf32> to tensor<300x320xf8E4M3FN>, tensor<300x3xf32>
  return %s : tensor<300x3xf32>
}

// -----

func.func @quantize_q7_rank(%x: tensor<320xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{'blockscale.quantize' op expected x to have rank 2 or more with coarse scales, got 'tensor<320xf32>'}}
  %e, %s = blockscale.quantize %x {scale_block = #blockscale.scale_block<rows = 1, k = 128>}
      : tensor<320xf32> to tensor<320xf8E4M3FN>, tensor<3xf32>
  return %s : tensor<3xf32>
}

// -----

func.func @quantize_q7_pad(%x: tensor<300x320xf32>) -> tensor<300x3xf32> {
  // expected-error@+1 {{'blockscale.quantize' op expected no 'pad' with 'scale_block', whose last blocks may be partial}}
  %e, %s = blockscale.quantize %x {pad, scale_block = #blockscale.scale_block<rows = 1, k = 128>}
      : tensor<300x320xf32> to tensor<300x320xf8E4M3FN>, tensor<300x3xf32>
  return %s : tensor<300x3xf32>
}

// -----

func.func @quantize_q7_block_size(%x: tensor<300x320xf32>) -> tensor<300x10xf8E8M0FNU> {
  // expected-error@+1 {{'blockscale.quantize' op expected 'block_size = 32' for the block <rows = 1, k = 32> of 'f8E8M0FNU' scales, got 'scale_block'}}
  %e, %s = blockscale.quantize %x {scale_block = #blockscale.scale_block<rows = 1, k = 32>}
      : tensor<300x320xf32> to tensor<300x320xf8E4M3FN>, tensor<300x10xf8E8M0FNU>
  return %s : tensor<300x10xf8E8M0FNU>
}

// -----

func.func @quantize_q7_sizes(%x: tensor<300x320xf32>) -> tensor<300x2xf32> {
  // expected-error@+1 {{'blockscale.quantize' op expected scales of type 'tensor<300x3xf32>' for blocks of <rows = 1, k = 128> of 'tensor<300x320xf32>', got 'tensor<300x2xf32>'}}
  %e, %s = blockscale.quantize %x {scale_block = #blockscale.scale_block<rows = 1, k = 128>}
      : tensor<300x320xf32> to tensor<300x320xf8E4M3FN>, tensor<300x2xf32>
  return %s : tensor<300x2xf32>
}

// -----

func.func @quantize_q7_dynamic(%x: tensor<?x320xf32>) -> tensor<3x3xf32> {
  // expected-error@+1 {{'blockscale.quantize' op expected scales of type 'tensor<?x3xf32>' for blocks of <rows = 128, k = 128> of 'tensor<?x320xf32>', got 'tensor<3x3xf32>'}}
  %e, %s = blockscale.quantize %x {scale_block = #blockscale.scale_block<rows = 128, k = 128>}
      : tensor<?x320xf32> to tensor<?x320xf8E4M3FN>, tensor<3x3xf32>
  return %s : tensor<3x3xf32>
}

// -----

func.func @quantize_q7_types(%x: tensor<300x320xf32>) -> tensor<300x20xf8E4M3FN> {
  // expected-error@+1 {{'blockscale.quantize' op expected scales to be of type f8E8M0FNU or f32 for 'f8E4M3FN', got 'f8E4M3FN'}}
  %e, %s = blockscale.quantize %x {scale_block = #blockscale.scale_block<rows = 1, k = 16>}
      : tensor<300x320xf32> to tensor<300x320xf8E4M3FN>, tensor<300x20xf8E4M3FN>
  return %s : tensor<300x20xf8E4M3FN>
}

// -----

func.func @quantize_q5_tensor_scale(%x: tensor<300x320xf32>, %g: f32) -> tensor<300x3xf32> {
  // expected-error@+1 {{'blockscale.quantize' op expected no tensor scale for scales of type 'f32'}}
  %e, %s = blockscale.quantize %x tensor_scale(%g) {scale_block = #blockscale.scale_block<rows = 1, k = 128>}
      : tensor<300x320xf32>, f32 to tensor<300x320xf8E4M3FN>, tensor<300x3xf32>
  return %s : tensor<300x3xf32>
}

// -----

func.func @dequantize_e6_open(%e: tensor<300x128xf8E4M3FN>, %s: tensor<300x1xf32>) -> tensor<300x128xf32> {
  // expected-error@+1 {{'blockscale.dequantize' op expected attribute 'scale_block', because <rows = 1, k = 128> and <rows = 1, k = all> fit, got 'tensor<300x1xf32>' with 'tensor<300x128xf8E4M3FN>'}}
  %d = blockscale.dequantize %e, %s
      : tensor<300x128xf8E4M3FN>, tensor<300x1xf32> to tensor<300x128xf32>
  return %d : tensor<300x128xf32>
}

// -----

func.func @dequantize_e6_batch(%e: tensor<2x300x320xf8E4M3FN>, %s: tensor<3x300x3xf32>) -> tensor<2x300x320xf32> {
  // expected-error@+1 {{'blockscale.dequantize' op expected scales to have the rank and the batch of elements, got 'tensor<3x300x3xf32>' with 'tensor<2x300x320xf8E4M3FN>'}}
  %d = blockscale.dequantize %e, %s
      : tensor<2x300x320xf8E4M3FN>, tensor<3x300x3xf32> to tensor<2x300x320xf32>
  return %d : tensor<2x300x320xf32>
}

// -----

func.func @dequantize_e6_rank(%e: tensor<2x300x320xf8E4M3FN>, %s: tensor<300x3xf32>) -> tensor<2x300x320xf32> {
  // expected-error@+1 {{'blockscale.dequantize' op expected scales to have the rank and the batch of elements, got 'tensor<300x3xf32>' with 'tensor<2x300x320xf8E4M3FN>'}}
  %d = blockscale.dequantize %e, %s
      : tensor<2x300x320xf8E4M3FN>, tensor<300x3xf32> to tensor<2x300x320xf32>
  return %d : tensor<2x300x320xf32>
}

// -----

func.func @dequantize_e6_sizes(%e: tensor<300x320xf8E4M3FN>, %s: tensor<2x3xf32>) -> tensor<300x320xf32> {
  // expected-error@+1 {{'blockscale.dequantize' op expected scales to have 3 along the rows, one for 128 of elements, got 2 ('tensor<2x3xf32>' with 'tensor<300x320xf8E4M3FN>')}}
  %d = blockscale.dequantize %e, %s {scale_block = #blockscale.scale_block<rows = 128, k = 128>}
      : tensor<300x320xf8E4M3FN>, tensor<2x3xf32> to tensor<300x320xf32>
  return %d : tensor<300x320xf32>
}

// -----

func.func @dequantize_e6_block_size(%e: tensor<300x320xf8E4M3FN>, %s: tensor<300x3xf32>) -> tensor<300x320xf32> {
  // expected-error@+1 {{'blockscale.dequantize' op expected no 'block_size' with 'scale_block' or scales of type f32, got 128}}
  %d = blockscale.dequantize %e, %s {block_size = 128 : i64}
      : tensor<300x320xf8E4M3FN>, tensor<300x3xf32> to tensor<300x320xf32>
  return %d : tensor<300x320xf32>
}

// -----

// What is no product has no coarse scales.

func.func @swizzled(%s: tensor<256x8xf32>) -> tensor<2x2x32x16xf32> {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected source to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3, got 'tensor<256x8xf32>'}}
  %t = blockscale.swizzle_scales %s
       : tensor<256x8xf32> to tensor<2x2x32x16xf32>
  return %t : tensor<2x2x32x16xf32>
}
