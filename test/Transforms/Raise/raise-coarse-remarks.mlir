// Products that almost have coarse scales are left alone, with a remark.

// RUN: blockscale-opt %s --blockscale-raise -verify-diagnostics | FileCheck %s

// CHECK-NOT: blockscale.mma_scaled

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Blocks.

// Of 32 x 32, as some checkpoints have.
func.func @squares_of_32(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf32>, %y: tensor<96x64xf8E4M3FN>, %sy: tensor<3x2xf32>, %acc: tensor<16x96xf32>) -> tensor<16x96xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected y_scale of type f32 to have blocks of 1, 128 or all of N, got <rows = 32, k = 32>}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 32)>, #nk, affine_map<(m, n, k) -> (n floordiv 32, k floordiv 32)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FN>, tensor<16x2xf32>, tensor<96x64xf8E4M3FN>, tensor<3x2xf32>) outs(%acc : tensor<16x96xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x96xf32>
  return %d : tensor<16x96xf32>
}

// K in other parts.
func.func @k_96(%x: tensor<16x192xf8E4M3FN>, %sx: tensor<16x2xf32>, %y: tensor<192x8xf8E4M3FN>, %sy: tensor<2x8xf32>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected x_scale of type f32 to have blocks of 16, 32, 64, 128 or all of K, got <rows = 1, k = 96>}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 96)>, #kn, affine_map<(m, n, k) -> (k floordiv 128, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x192xf8E4M3FN>, tensor<16x2xf32>, tensor<192x8xf8E4M3FN>, tensor<2x8xf32>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Scales that change with each element.
func.func @interleaved(%x: tensor<16x128xf8E4M3FN>, %sx: tensor<16x64xf32>, %y: tensor<128x8xf8E4M3FN>, %sy: tensor<1x8xf32>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: a factor of type tensor<16x64xf32> is not dequantized from a type of at most 8 bits}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k mod 64)>, #kn, affine_map<(m, n, k) -> (k floordiv 128, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x128xf8E4M3FN>, tensor<16x64xf32>, tensor<128x8xf8E4M3FN>, tensor<1x8xf32>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Blocks that start elsewhere.
func.func @shifted(%x: tensor<16x256xf8E4M3FN>, %sx: tensor<16x3xf32>, %y: tensor<256x8xf8E4M3FN>, %sy: tensor<2x8xf32>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: x_scale of type tensor<16x3xf32> is read at (d0, d1, d2) -> (d0, (d2 + 64) floordiv 128), expected blocks of M and of K}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, (k + 64) floordiv 128)>, #kn, affine_map<(m, n, k) -> (k floordiv 128, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x256xf8E4M3FN>, tensor<16x3xf32>, tensor<256x8xf8E4M3FN>, tensor<2x8xf32>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Sizes.

// More scales than blocks.
func.func @more_scales(%x: tensor<16x256xf8E4M3FN>, %sx: tensor<16x3xf32>, %y: tensor<256x8xf8E4M3FN>, %sy: tensor<2x8xf32>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: x_scale of type tensor<16x3xf32> is not known to have just one scale for each block of <rows = 1, k = 128>}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 128)>, #kn, affine_map<(m, n, k) -> (k floordiv 128, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x256xf8E4M3FN>, tensor<16x3xf32>, tensor<256x8xf8E4M3FN>, tensor<2x8xf32>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// A scale for a block that the last, partial one does not reach.
func.func @padded(%x: tensor<16x192xf8E4M3FN>, %sx: tensor<16x2xf32>, %y: tensor<200x192xf8E4M3FN>, %sy: tensor<3x2xf32>, %acc: tensor<16x200xf32>) -> tensor<16x200xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: y_scale of type tensor<3x2xf32> is not known to have just one scale for each block of <rows = 128, k = 128>}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 128)>, #nk, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x192xf8E4M3FN>, tensor<16x2xf32>, tensor<200x192xf8E4M3FN>, tensor<3x2xf32>) outs(%acc : tensor<16x200xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x200xf32>
  return %d : tensor<16x200xf32>
}

// Nobody knows that there is one scale for each block.
func.func @dynamic_k(%x: tensor<16x?xf8E4M3FN>, %sx: tensor<16x?xf32>, %y: tensor<?x8xf8E4M3FN>, %sy: tensor<?x8xf32>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: x_scale of type tensor<16x?xf32> is not known to have just one scale for each block of <rows = 1, k = 128>}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 128)>, #kn, affine_map<(m, n, k) -> (k floordiv 128, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x?xf8E4M3FN>, tensor<16x?xf32>, tensor<?x8xf8E4M3FN>, tensor<?x8xf32>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Blocks of instructions are whole, beside coarse ones, too.
func.func @part_of_mx(%x: tensor<16x48xf8E4M3FN>, %sx: tensor<16x1xf32>, %y: tensor<48x8xf8E4M3FN>, %sy: tensor<2x8xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected K to be a multiple of 32, got 48}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, 0)>, #kn, affine_map<(m, n, k) -> (k floordiv 32, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x48xf8E4M3FN>, tensor<16x1xf32>, tensor<48x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sc: f8E8M0FNU, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %sb = arith.extf %sc : f8E8M0FNU to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Types.

// mma_scaled has no scales of bf16.
func.func @bf16_scale(%x: tensor<16x256xf8E4M3FN>, %sx: tensor<16x2xbf16>, %y: tensor<256x8xf8E4M3FN>, %sy: tensor<2x8xf32>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: a scale of type tensor<16x2xbf16>, expected f32, f8E8M0FNU or f8E4M3FN}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 128)>, #kn, affine_map<(m, n, k) -> (k floordiv 128, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x256xf8E4M3FN>, tensor<16x2xbf16>, tensor<256x8xf8E4M3FN>, tensor<2x8xf32>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sn: bf16, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %sa = arith.extf %sn : bf16 to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// bf16 does not have all bits of an element times a scale of f32, and so the program rounds what mma_scaled does not.
func.func @bf16_product(%x: tensor<16x256xf8E4M3FN>, %sx: tensor<16x2xf32>, %y: tensor<256x8xf8E4M3FN>, %sy: tensor<2x8xf32>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: a scale of type f32, or its product with an element, is rounded to bf16, expected products in f32}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 128)>, #kn, affine_map<(m, n, k) -> (k floordiv 128, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x256xf8E4M3FN>, tensor<16x2xf32>, tensor<256x8xf8E4M3FN>, tensor<2x8xf32>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %an = arith.truncf %as : f32 to bf16
    %aa = arith.extf %an : bf16 to f32
    %p = arith.mulf %aa, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @rounded_scale(%x: tensor<16x256xf8E4M3FN>, %sx: tensor<16x2xf32>, %y: tensor<256x8xf8E4M3FN>, %sy: tensor<2x8xf32>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: a scale of type f32, or its product with an element, is rounded to bf16, expected products in f32}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 128)>, #kn, affine_map<(m, n, k) -> (k floordiv 128, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x256xf8E4M3FN>, tensor<16x2xf32>, tensor<256x8xf8E4M3FN>, tensor<2x8xf32>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %sn = arith.truncf %sa : f32 to bf16
    %st = arith.extf %sn : bf16 to f32
    %as = arith.mulf %aw, %st : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// The sign of f32 counts.
func.func @magnitude(%x: tensor<16x256xf8E4M3FN>, %sx: tensor<16x2xf32>, %y: tensor<256x8xf8E4M3FN>, %sy: tensor<2x8xf32>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: x_scale is an absolute value}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 128)>, #kn, affine_map<(m, n, k) -> (k floordiv 128, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x256xf8E4M3FN>, tensor<16x2xf32>, tensor<256x8xf8E4M3FN>, tensor<2x8xf32>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %st = math.absf %sa : f32
    %as = arith.mulf %aw, %st : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// A scale for the tensor beside scales of both operands.
func.func @more(%x: tensor<16x256xf8E4M3FN>, %sx: tensor<16x2xf32>, %y: tensor<256x8xf8E4M3FN>, %sy: tensor<2x8xf32>, %g: f32, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected one scale for each of x and y, got more}}
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 128)>, #kn, affine_map<(m, n, k) -> (k floordiv 128, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x256xf8E4M3FN>, tensor<16x2xf32>, tensor<256x8xf8E4M3FN>, tensor<2x8xf32>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %st = arith.mulf %sa, %g : f32
    %as = arith.mulf %aw, %st : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Vectors have no coarse scales in kernels.
func.func @vectors(%x: vector<16x128xf8E4M3FN>, %sx: vector<16x1xf32>, %y: vector<128x8xf8E5M2>, %acc: vector<16x8xf32>) -> vector<16x8xf32> {
  %xw = arith.extf %x : vector<16x128xf8E4M3FN> to vector<16x128xf32>
  %ss = vector.broadcast %sx : vector<16x1xf32> to vector<16x128xf32>
  %a = arith.mulf %xw, %ss : vector<16x128xf32>
  %b = arith.extf %y : vector<128x8xf8E5M2> to vector<128x8xf32>
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected tensors with these scales, got vector<16x8xf32>}}
  %d = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       %a, %b, %acc : vector<16x128xf32>, vector<128x8xf32> into vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// Not quantized: no remark.
func.func @scaled_rows(%x: tensor<16x128xbf16>, %sx: tensor<16x1xf32>, %y: tensor<128x8xbf16>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, 0)>, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x128xbf16>, tensor<16x1xf32>, tensor<128x8xbf16>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: bf16, %sa: f32, %b: bf16, %c: f32):
    %aw = arith.extf %a : bf16 to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : bf16 to f32
    %p = arith.mulf %as, %bw : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Elements without scales are multiplied as they are.
func.func @no_scales(%x: tensor<16x128xf8E4M3FN>, %y: tensor<128x8xf8E4M3FN>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %a = arith.extf %x : tensor<16x128xf8E4M3FN> to tensor<16x128xf32>
  %b = arith.extf %y : tensor<128x8xf8E4M3FN> to tensor<128x8xf32>
  %d = linalg.matmul ins(%a, %b : tensor<16x128xf32>, tensor<128x8xf32>) outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
