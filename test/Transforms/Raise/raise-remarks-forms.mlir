// Contractions with scaled operands whose loops, bodies or kinds of values are
// not those of a block-scaled product. They are left alone, with a remark.

// RUN: blockscale-opt %s --blockscale-raise -verify-diagnostics | FileCheck %s

// CHECK-NOT: blockscale.mma_scaled

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Loops and bodies.

func.func @two_batches(%x: tensor<2x3x16x64xf8E4M3FN>, %sx: tensor<2x3x16x2xf8E8M0FNU>, %y: tensor<2x3x64x8xf8E5M2>, %acc: tensor<2x3x16x8xf32>) -> tensor<2x3x16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected a result with M and N and at most one batch, got rank 4}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(a, b, m, n, k) -> (a, b, m, k)>,
                          affine_map<(a, b, m, n, k) -> (a, b, m, k floordiv 32)>,
                          affine_map<(a, b, m, n, k) -> (a, b, k, n)>,
                          affine_map<(a, b, m, n, k) -> (a, b, m, n)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<2x3x16x64xf8E4M3FN>, tensor<2x3x16x2xf8E8M0FNU>, tensor<2x3x64x8xf8E5M2>)
       outs(%acc : tensor<2x3x16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %r = arith.addf %c, %p2 : f32
    linalg.yield %r : f32
  } -> tensor<2x3x16x8xf32>
  return %d : tensor<2x3x16x8xf32>
}

func.func @matrix_vector(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64xf8E5M2>, %acc: tensor<16xf32>) -> tensor<16xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected a result with M and N and at most one batch, got rank 1}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, k) -> (m, k)>,
                          affine_map<(m, k) -> (m, k floordiv 32)>,
                          affine_map<(m, k) -> (k)>,
                          affine_map<(m, k) -> (m)>],
         iterator_types = ["parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64xf8E5M2>)
       outs(%acc : tensor<16xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %r = arith.addf %c, %p2 : f32
    linalg.yield %r : f32
  } -> tensor<16xf32>
  return %d : tensor<16xf32>
}

func.func @batch_of_scale(%x: tensor<3x16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %acc: tensor<3x16x8xf32>) -> tensor<3x16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: only one of x and x_scale has the batch}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                          affine_map<(b, m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(b, m, n, k) -> (b, k, n)>,
                          affine_map<(b, m, n, k) -> (b, m, n)>],
         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<3x16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>)
       outs(%acc : tensor<3x16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %r = arith.addf %c, %p2 : f32
    linalg.yield %r : f32
  } -> tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

func.func @batch_of_acc(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<3x16x8xf32>) -> tensor<3x16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: neither x nor y has the batch of the result}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(b, m, n, k) -> (m, k)>,
                          affine_map<(b, m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(b, m, n, k) -> (k, n)>,
                          affine_map<(b, m, n, k) -> (b, m, n)>],
         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<3x16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %r = arith.addf %c, %p2 : f32
    linalg.yield %r : f32
  } -> tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

func.func @three_loops(%x: tensor<16x2x2x32xf8E4M3FN>, %sx: tensor<16x2x2xf8E8M0FNU>, %y: tensor<2x2x32x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected one or two loops along K, got 3}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, r, s, i) -> (m, r, s, i)>,
                          affine_map<(m, n, r, s, i) -> (m, r, s)>,
                          affine_map<(m, n, r, s, i) -> (r, s, i, n)>,
                          affine_map<(m, n, r, s, i) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%x, %sx, %y : tensor<16x2x2x32xf8E4M3FN>, tensor<16x2x2xf8E8M0FNU>, tensor<2x2x32x8xf8E5M2>)
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

func.func @convolution(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<71xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: y of type tensor<71xf8E5M2> is read at (d0, d1, d2) -> (d1 + d2), expected N and K}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (n + k)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<71xf8E5M2>)
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

func.func @three_matrices(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %sy: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected y to be one matrix and one scale, got 2 and 0}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %sb: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
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

func.func @maximum(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected a body that adds one product to the accumulator, got 'arith.maximumf'}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %xw = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %yw = arith.extf %b : f8E5M2 to f32
    %q = arith.mulf %xw, %yw : f32
    %r = arith.maximumf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @two_products(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected a body that adds one product to the accumulator}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %xw = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %yw = arith.extf %b : f8E5M2 to f32
    %q = arith.mulf %xw, %yw : f32
    %s = arith.addf %q, %q : f32
    %t = arith.addf %c, %q : f32
    %r = arith.addf %t, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
func.func @three_scales(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %sy: tensor<2x8xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected one scale for each of x and y, got more}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (k floordiv 32, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %sb: f8E8M0FNU, %c: f32):
    %s = arith.constant 2.0 : f8E8M0FNU
    %xw = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %yw = arith.scaling_extf %b, %sb : f8E5M2, f8E8M0FNU to f32
    %sw = arith.extf %s : f8E8M0FNU to f32
    %p = arith.mulf %xw, %yw : f32
    %q = arith.mulf %p, %sw : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// x is made in the body.
func.func @no_tensor(%x: tensor<16x64xf32>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: a factor of type f8E4M3FN is computed for each element, expected a tensor or vector of them}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf32>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f32, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %x8 = arith.truncf %a : f32 to f8E4M3FN
    %xw = arith.scaling_extf %x8, %sa : f8E4M3FN, f8E8M0FNU to f32
    %yw = arith.extf %b : f8E5M2 to f32
    %q = arith.mulf %xw, %yw : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @reduced_result(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x64xf32>) -> tensor<16x64xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected a result with a parallel loop for each dimension}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, k)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x64xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %xw = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %yw = arith.extf %b : f8E5M2 to f32
    %q = arith.mulf %xw, %yw : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x64xf32>
  return %d : tensor<16x64xf32>
}

func.func @lost_loop(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8x4xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected each parallel loop to have a dimension of the result}}
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, p, k) -> (m, k)>,
                          affine_map<(m, n, p, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, p, k) -> (k, n, p)>,
                          affine_map<(m, n, p, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8x4xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %xw = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %yw = arith.extf %b : f8E5M2 to f32
    %q = arith.mulf %xw, %yw : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @two_results(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x32xf8E8M0FNU>,
                       %y: tensor<32x8xf8E5M2>, %acc: tensor<16x8xf32>)
    -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  // expected-remark@+1 {{not raised to blockscale.mma_scaled: expected one result, got 2}}
  %d:2 = linalg.generic {
         indexing_maps = [#mk, #mk, #kn, #mn, #mn],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x32xf8E4M3FN>, tensor<16x32xf8E8M0FNU>, tensor<32x8xf8E5M2>)
       outs(%acc, %acc : tensor<16x8xf32>, tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32, %e: f32):
    %xw = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %yw = arith.extf %b : f8E5M2 to f32
    %q = arith.mulf %xw, %yw : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r, %e : f32, f32
  } -> (tensor<16x8xf32>, tensor<16x8xf32>)
  return %d#0, %d#1 : tensor<16x8xf32>, tensor<16x8xf32>
}

// Vectors.

#contract = {
  indexing_maps = [#mk, #kn, #mn],
  iterator_types = ["parallel", "parallel", "reduction"]}

func.func @combining_kind(
    %x: vector<16x32xf8E4M3FN>, %sx: vector<16x32xf8E8M0FNU>,
    %y: vector<32x8xf32>, %acc: vector<16x8xf32>) -> vector<16x8xf32> {
  %fx = arith.scaling_extf %x, %sx
        : vector<16x32xf8E4M3FN>, vector<16x32xf8E8M0FNU> to vector<16x32xf32>
  // expected-remark@+1 {{expected the combining kind add, got maximumf}}
  %d = vector.contract {
         indexing_maps = [#mk, #kn, #mn],
         iterator_types = ["parallel", "parallel", "reduction"],
         kind = #vector.kind<maximumf>}
       %fx, %y, %acc : vector<16x32xf32>, vector<32x8xf32> into vector<16x8xf32>
  return %d : vector<16x8xf32>
}

func.func @masked(
    %x: vector<16x32xf8E4M3FN>, %sx: vector<16x32xf8E8M0FNU>,
    %y: vector<32x8xf32>, %acc: vector<16x8xf32>, %mask: vector<16x8x32xi1>)
    -> vector<16x8xf32> {
  %fx = arith.scaling_extf %x, %sx
        : vector<16x32xf8E4M3FN>, vector<16x32xf8E8M0FNU> to vector<16x32xf32>
  // expected-remark@+1 {{expected no mask}}
  %d = vector.mask %mask { vector.contract #contract %fx, %y, %acc
         : vector<16x32xf32>, vector<32x8xf32> into vector<16x8xf32>
       } : vector<16x8x32xi1> -> vector<16x8xf32>
  return %d : vector<16x8xf32>
}

func.func @scalable(
    %x: vector<[16]x32xf8E4M3FN>, %sx: vector<[16]x32xf8E8M0FNU>,
    %y: vector<32x8xf32>, %acc: vector<[16]x8xf32>) -> vector<[16]x8xf32> {
  %fx = arith.scaling_extf %x, %sx
        : vector<[16]x32xf8E4M3FN>, vector<[16]x32xf8E8M0FNU>
          to vector<[16]x32xf32>
  // expected-remark@+1 {{expected vectors of fixed length}}
  %d = vector.contract #contract %fx, %y, %acc
       : vector<[16]x32xf32>, vector<32x8xf32> into vector<[16]x8xf32>
  return %d : vector<[16]x8xf32>
}

// Other kinds of values, and constants.

func.func @memory(%x: memref<16x32xf8E4M3FN>, %sx: memref<16x1xf8E8M0FNU>,
                  %y: memref<32x8xf8E5M2>, %acc: memref<16x8xf32>) {
  // expected-remark@+1 {{expected tensors, got operands in memory}}
  linalg.generic {
      indexing_maps = [#mk, affine_map<(m, n, k) -> (m, 0)>, #kn, #mn],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %sx, %y : memref<16x32xf8E4M3FN>, memref<16x1xf8E8M0FNU>,
          memref<32x8xf8E5M2>)
      outs(%acc : memref<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %xw = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %yw = arith.extf %b : f8E5M2 to f32
    %q = arith.mulf %xw, %yw : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  }
  return
}

func.func @encoding(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x32xf8E8M0FNU>,
                    %y: tensor<32x8xf8E5M2>, %acc: tensor<16x8xf32, "layout">)
    -> tensor<16x8xf32, "layout"> {
  %fx = arith.scaling_extf %x, %sx
        : tensor<16x32xf8E4M3FN>, tensor<16x32xf8E8M0FNU> to tensor<16x32xf32>
  %fy = arith.extf %y : tensor<32x8xf8E5M2> to tensor<32x8xf32>
  // expected-remark@+1 {{expected tensors without encoding, got tensor<16x8xf32, "layout">}}
  %d = linalg.matmul ins(%fx, %fy : tensor<16x32xf32>, tensor<32x8xf32>)
       outs(%acc : tensor<16x8xf32, "layout">) -> tensor<16x8xf32, "layout">
  return %d : tensor<16x8xf32, "layout">
}

func.func @negative_constant(%x: vector<16x16xf4E2M1FN>,
                             %y: vector<16x8xf4E2M1FN>, %acc: vector<16x8xf32>)
    -> vector<16x8xf32> {
  %sx = arith.constant dense<-1.0> : vector<16x16xf8E4M3FN>
  %xe = arith.extf %x : vector<16x16xf4E2M1FN> to vector<16x16xf32>
  %xs = arith.extf %sx : vector<16x16xf8E4M3FN> to vector<16x16xf32>
  %fx = arith.mulf %xe, %xs : vector<16x16xf32>
  %fy = arith.extf %y : vector<16x8xf4E2M1FN> to vector<16x8xf32>
  // expected-remark@+1 {{the scales of x may be negative}}
  %d = vector.contract #contract %fx, %fy, %acc
       : vector<16x16xf32>, vector<16x8xf32> into vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// Products with more factors than any op has.

func.func @powers(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x32xf8E8M0FNU>,
                  %y: tensor<32x8xf8E5M2>, %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %fx = arith.scaling_extf %x, %sx
        : tensor<16x32xf8E4M3FN>, tensor<16x32xf8E8M0FNU> to tensor<16x32xf32>
  %0 = arith.extf %y : tensor<32x8xf8E5M2> to tensor<32x8xf32>
  %1 = arith.mulf %0, %0 : tensor<32x8xf32>
  %2 = arith.mulf %1, %1 : tensor<32x8xf32>
  %3 = arith.mulf %2, %2 : tensor<32x8xf32>
  %4 = arith.mulf %3, %3 : tensor<32x8xf32>
  %5 = arith.mulf %4, %4 : tensor<32x8xf32>
  %6 = arith.mulf %5, %5 : tensor<32x8xf32>
  // expected-remark@+1 {{the product has more than 16 factors}}
  %d = linalg.matmul ins(%fx, %6 : tensor<16x32xf32>, tensor<32x8xf32>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
