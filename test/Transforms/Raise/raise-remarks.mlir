// Products with blocks, sizes, types or signs that mma_scaled does not have are
// left alone, with a remark.

// RUN: blockscale-opt %s --blockscale-raise -verify-diagnostics | FileCheck %s

// CHECK-NOT: blockscale.mma_scaled

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#k16 = {
  indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 16)>,
                   #kn, affine_map<(m, n, k) -> (k floordiv 16, n)>, #mn],
  iterator_types = ["parallel", "parallel", "reduction"]}
#k32 = {
  indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 32)>,
                   #kn, affine_map<(m, n, k) -> (k floordiv 32, n)>, #mn],
  iterator_types = ["parallel", "parallel", "reduction"]}

// Blocks.

// Only fp4 has blocks of 16.
func.func @block_of_fp8(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x4xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %sy: tensor<4x8xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected x_scale of type f8E8M0FNU to have blocks of 32, 64, 128 or all of K, got <rows = 1, k = 16>}}
  %d = linalg.generic #k16
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FN>, tensor<16x4xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<4x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %sb: f8E8M0FNU, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %sbw = arith.extf %sb : f8E8M0FNU to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// A scale for each element.
func.func @block_of_1(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x64xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected x_scale of type f8E8M0FNU to have blocks of 32, 64, 128 or all of K, got <rows = 1, k = 1>}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %r = arith.addf %c, %p2 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Scales that repeat along K.
func.func @interleaved(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x32xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: x_scale of type tensor<16x32xf8E8M0FNU> is read at (d0, d1, d2) -> (d0, d2 mod 32), expected M and blocks of 32 of K}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k mod 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x32xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %r = arith.addf %c, %p2 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @along_m(%x: tensor<64x64xf8E4M3FN>, %sx: tensor<2x64xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<64x8xf32>) -> tensor<64x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected x_scale of type f8E8M0FNU to have blocks of 1, 128 or all of M, got <rows = 32, k = 1>}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m floordiv 32, k)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<64x64xf8E4M3FN>, tensor<2x64xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<64x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %r = arith.addf %c, %p2 : f32
    linalg.yield %r : f32
  } -> tensor<64x8xf32>
  return %d : tensor<64x8xf32>
}

func.func @along_both(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x8xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: a factor of type tensor<16x8xf8E8M0FNU> varies with both M and N, the last two dimensions of the result}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, n)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x8xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %r = arith.addf %c, %p2 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @split_dynamic(%x: tensor<16x2x?xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<2x?x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected one of the two loops along K to have size 32}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, s, i) -> (m, s, i)>,
                          affine_map<(m, n, s, i) -> (m, s)>,
                          affine_map<(m, n, s, i) -> (s, i, n)>,
                          affine_map<(m, n, s, i) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
       ins(%x, %sx, %y : tensor<16x2x?xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<2x?x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %r = arith.addf %c, %p2 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Sizes.

// The last block is not full.
func.func @ragged(%x: tensor<16x48xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<48x8xf8E5M2>, %sy: tensor<2x8xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected K to be a multiple of 32, got 48}}
  %d = linalg.generic #k32
       ins(%x, %sx, %y, %sy : tensor<16x48xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<48x8xf8E5M2>, tensor<2x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %sb: f8E8M0FNU, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %sbw = arith.extf %sb : f8E8M0FNU to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @dynamic(%x: tensor<16x?xf8E4M3FN>, %sx: tensor<16x?xf8E8M0FNU>, %y: tensor<?x8xf8E5M2>, %sy: tensor<?x8xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: K is dynamic and not known to be a multiple of 32}}
  %d = linalg.generic #k32
       ins(%x, %sx, %y, %sy : tensor<16x?xf8E4M3FN>, tensor<16x?xf8E8M0FNU>, tensor<?x8xf8E5M2>, tensor<?x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %sb: f8E8M0FNU, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %sbw = arith.extf %sb : f8E8M0FNU to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @more_scales(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x3xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %sy: tensor<2x8xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: x_scale of type tensor<16x3xf8E8M0FNU> is not known to have just the sizes of M and blocks of 32 of K}}
  %d = linalg.generic #k32
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FN>, tensor<16x3xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %sb: f8E8M0FNU, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %sbw = arith.extf %sb : f8E8M0FNU to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @dynamic_scales(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %sy: tensor<?x8xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: y_scale of type tensor<?x8xf8E8M0FNU> is not known to have just the sizes of N and blocks of 32 of K}}
  %d = linalg.generic #k32
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<?x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %sb: f8E8M0FNU, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %sbw = arith.extf %sb : f8E8M0FNU to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @empty(%x: tensor<0x64xf8E4M3FN>, %sx: tensor<0x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %sy: tensor<2x8xf8E8M0FNU>, %acc: tensor<0x8xf32>) -> tensor<0x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected all sizes to be at least 1}}
  %d = linalg.generic #k32
       ins(%x, %sx, %y, %sy : tensor<0x64xf8E4M3FN>, tensor<0x2xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>)
       outs(%acc : tensor<0x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %sb: f8E8M0FNU, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %sbw = arith.extf %sb : f8E8M0FNU to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<0x8xf32>
  return %d : tensor<0x8xf32>
}

// Types.

func.func @element(%x: tensor<16x64xf8E4M3FNUZ>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %sy: tensor<2x8xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: mma_scaled has no elements of type f8E4M3FNUZ}}
  %d = linalg.generic #k32
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FNUZ>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FNUZ, %sa: f8E8M0FNU, %b: f8E5M2, %sb: f8E8M0FNU, %c: f32):
    %aw = arith.extf %a : f8E4M3FNUZ to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %sbw = arith.extf %sb : f8E8M0FNU to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @scale(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E5M2>, %y: tensor<64x8xf8E5M2>, %sy: tensor<2x8xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected scales of one type, got f8E5M2 and f8E8M0FNU}}
  %d = linalg.generic #k32
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E5M2>, tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E5M2, %b: f8E5M2, %sb: f8E8M0FNU, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E5M2 to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %sbw = arith.extf %sb : f8E8M0FNU to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @scale_e5m2(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E5M2>, %y: tensor<64x8xf8E5M2>, %sy: tensor<2x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: mma_scaled has no scales of type f8E5M2}}
  %d = linalg.generic #k32
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E5M2>, tensor<64x8xf8E5M2>, tensor<2x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E5M2, %b: f8E5M2, %sb: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E5M2 to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %sbw = arith.extf %sb : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// ue4m3 scales are for fp4.
func.func @row(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x4xf8E4M3FN>, %y: tensor<64x8xf8E5M2>, %sy: tensor<4x8xf8E4M3FN>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: f8E4M3FN times f8E5M2 has no scales of type f8E4M3FN}}
  %d = linalg.generic #k16
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FN>, tensor<16x4xf8E4M3FN>, tensor<64x8xf8E5M2>, tensor<4x8xf8E4M3FN>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E4M3FN, %b: f8E5M2, %sb: f8E4M3FN, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E4M3FN to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %sbw = arith.extf %sb : f8E4M3FN to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @f32_element(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf32>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.dequantize: the other operand is of type tensor<64x8xf32>, expected bf16 or f16, which may be extended}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf32>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f32, %c: f32):
    %xw = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %q = arith.mulf %xw, %b : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// A product of more than an element and its scale is rounded.
func.func @bf16(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: a product is rounded to bf16, expected that of an element and its scale, got one of 3 factors}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %xh = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to bf16
    %yh = arith.extf %b : f8E5M2 to bf16
    %q = arith.mulf %xh, %yh : bf16
    %qw = arith.extf %q : bf16 to f32
    %r = arith.addf %c, %qw : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// bf16 does not have all bits of a scale for the whole tensor.
func.func @bf16_tensor_scale(%x: tensor<16x64xf4E2M1FN>, %sx: tensor<16x4xf8E4M3FN>, %y: tensor<64x8xf4E2M1FN>, %g: f32, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: a product is rounded to bf16, expected that of an element and its scale, got one of 3 factors}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 16)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>, tensor<64x8xf4E2M1FN>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f4E2M1FN, %sa: f8E4M3FN, %b: f4E2M1FN, %c: f32):
    %ae = arith.extf %a : f4E2M1FN to f32
    %se = arith.extf %sa : f8E4M3FN to f32
    %abs = math.absf %se : f32
    %sg = arith.mulf %abs, %g : f32
    %xs = arith.mulf %ae, %sg : f32
    %xh = arith.truncf %xs : f32 to bf16
    %xw = arith.extf %xh : bf16 to f32
    %yw = arith.extf %b : f4E2M1FN to f32
    %q = arith.mulf %xw, %yw : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Upstream rounds scales that are wider than 8 bits.
func.func @wide_scale(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf32>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: 'arith.scaling_extf' has scales of type f32, expected f8E8M0FNU}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf32>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E5M2, %c: f32):
    %xw = arith.scaling_extf %a, %sa : f8E4M3FN, f32 to f32
    %yw = arith.extf %b : f8E5M2 to f32
    %q = arith.mulf %xw, %yw : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// It defines no semantics for other scales of 8 bits.
func.func @scaling_e4m3(%x: tensor<16x64xf4E2M1FN>, %sx: tensor<16x4xf8E4M3FN>, %y: tensor<64x8xf4E2M1FN>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: 'arith.scaling_extf' has scales of type f8E4M3FN, expected f8E8M0FNU}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 16)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>, tensor<64x8xf4E2M1FN>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f4E2M1FN, %sa: f8E4M3FN, %b: f4E2M1FN, %c: f32):
    %xw = arith.scaling_extf %a, %sa : f4E2M1FN, f8E4M3FN to f32
    %yw = arith.extf %b : f4E2M1FN to f32
    %q = arith.mulf %xw, %yw : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @acc_f16(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %sy: tensor<2x8xf8E8M0FNU>, %acc: tensor<16x8xf16>) -> tensor<16x8xf16> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: it accumulates in f16, expected f32}}
  %d = linalg.generic #k32
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf16>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %sb: f8E8M0FNU, %c: f16):
    %aw = arith.extf %a : f8E4M3FN to f16
    %saw = arith.extf %sa : f8E8M0FNU to f16
    %bw = arith.extf %b : f8E5M2 to f16
    %sbw = arith.extf %sb : f8E8M0FNU to f16
    %p1 = arith.mulf %aw, %saw : f16
    %p2 = arith.mulf %p1, %bw : f16
    %p3 = arith.mulf %p2, %sbw : f16
    %r = arith.addf %c, %p3 : f16
    linalg.yield %r : f16
  } -> tensor<16x8xf16>
  return %d : tensor<16x8xf16>
}

func.func @acc_f64(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %sy: tensor<2x8xf8E8M0FNU>, %acc: tensor<16x8xf64>) -> tensor<16x8xf64> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: it accumulates in f64, expected f32}}
  %d = linalg.generic #k32
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf64>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %sb: f8E8M0FNU, %c: f64):
    %aw = arith.extf %a : f8E4M3FN to f64
    %saw = arith.extf %sa : f8E8M0FNU to f64
    %bw = arith.extf %b : f8E5M2 to f64
    %sbw = arith.extf %sb : f8E8M0FNU to f64
    %p1 = arith.mulf %aw, %saw : f64
    %p2 = arith.mulf %p1, %bw : f64
    %p3 = arith.mulf %p2, %sbw : f64
    %r = arith.addf %c, %p3 : f64
    linalg.yield %r : f64
  } -> tensor<16x8xf64>
  return %d : tensor<16x8xf64>
}

// Signs.

func.func @signs(%x: tensor<16x64xf4E2M1FN>, %sx: tensor<16x4xf8E4M3FN>, %y: tensor<64x8xf4E2M1FN>, %sy: tensor<4x8xf8E4M3FN>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: the scales of x may be negative, and mma_scaled ignores the sign of f8E4M3FN; 'math.absf' or the option assume-positive-scales says that they are not}}
  %d = linalg.generic #k16
       ins(%x, %sx, %y, %sy : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>, tensor<64x8xf4E2M1FN>, tensor<4x8xf8E4M3FN>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f4E2M1FN, %sa: f8E4M3FN, %b: f4E2M1FN, %sb: f8E4M3FN, %c: f32):
    %aw = arith.extf %a : f4E2M1FN to f32
    %saw = arith.extf %sa : f8E4M3FN to f32
    %bw = arith.extf %b : f4E2M1FN to f32
    %sbw = arith.extf %sb : f8E4M3FN to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @absolute_element(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: x is an absolute value}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %xs = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %xw = math.absf %xs : f32
    %yw = arith.extf %b : f8E5M2 to f32
    %q = arith.mulf %xw, %yw : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
