// Weight-only quantization: a dequantized operand and a high-precision one become `dequantize`
// and a matmul, if that computes the same.

// RUN: blockscale-opt %s --blockscale-raise -verify-diagnostics | FileCheck %s

#nbi = affine_map<(n, b, i) -> (n, b, i)>
#nb = affine_map<(n, b, i) -> (n, b)>
#nk = affine_map<(n, k) -> (n, k)>
#nk32 = affine_map<(n, k) -> (n, k floordiv 32)>
#nk16 = affine_map<(n, k) -> (n, k floordiv 16)>
#x = affine_map<(m, n, k) -> (m, k)>
#y = affine_map<(m, n, k) -> (n, k)>
#d = affine_map<(m, n, k) -> (m, n)>

// As an importer writes it: dequantized by blocks, and collapsed.

// CHECK-LABEL: func.func @blocks(
// CHECK-SAME:    %[[X:.*]]: tensor<16x64xbf16>, %[[W:.*]]: tensor<8x2x32xf4E2M1FN>, %[[S:.*]]: tensor<8x2xf8E8M0FNU>, %[[ACC:.*]]: tensor<16x8xf32>
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[W]] {{\[\[}}0], [1, 2]]
// CHECK:         %[[Y:.*]] = blockscale.dequantize %[[C]], %[[S]] {block_size = 32 : i64} : {{.*}} to tensor<8x64xbf16>
// CHECK:         %[[D:.*]] = linalg.matmul {{.*}} ins(%[[X]], %[[Y]] : {{.*}} outs(%[[ACC]]
// CHECK:         return %[[D]]
func.func @blocks(%x: tensor<16x64xbf16>, %w0: tensor<8x2x32xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x2x32xbf16>
  %wd = linalg.generic {indexing_maps = [#nbi, #nb, #nbi], iterator_types = ["parallel", "parallel", "parallel"]}
       ins(%w0, %s : tensor<8x2x32xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x2x32xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: bf16):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x2x32xbf16>
  %w = tensor.collapse_shape %wd [[0], [1, 2]] : tensor<8x2x32xbf16> into tensor<8x64xbf16>
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// The sign of scales is ignored by both, and the product is rounded twice by both.

// CHECK-LABEL: func.func @tensor_scale(
// CHECK:         blockscale.dequantize %{{.*}}, %{{.*}} tensor_scale(%{{.*}}) {block_size = 16 : i64} : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>, f32 to tensor<8x64xbf16>
func.func @tensor_scale(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E4M3FN>, %g: f32, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk16, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E4M3FN, %o: bf16):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E4M3FN to f32
    %bp = math.absf %bf : f32
    %m = arith.mulf %af, %bp : f32
    %h = arith.mulf %g, %m : f32
    %t = arith.truncf %h : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// bf16 holds each of these values.

// CHECK-LABEL: func.func @f32_beside_bf16(
// CHECK:         blockscale.dequantize {{.*}} to tensor<8x64xbf16>
// CHECK:         linalg.matmul {{.*}} : tensor<16x64xbf16>, tensor<8x64xbf16>)
func.func @f32_beside_bf16(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: f32):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    linalg.yield %m : f32
  } -> tensor<8x64xf32>
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xf32>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Weights on the left become those on the right; zeros are made, not transposed.

// CHECK-LABEL: func.func @left(
// CHECK-SAME:    %[[X:.*]]: tensor<16x64xbf16>
// CHECK:         %[[ACC:.*]] = arith.constant dense<0.000000e+00> : tensor<16x8xf32>
// CHECK:         %[[Y:.*]] = blockscale.dequantize
// CHECK:         %[[D:.*]] = linalg.matmul {{.*}} ins(%[[X]], %[[Y]] : {{.*}} outs(%[[ACC]]
// CHECK:         %[[R:.*]] = linalg.transpose ins(%[[D]]
// CHECK:         return %[[R]]
func.func @left(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>) -> tensor<8x16xf32> {
  %acc = arith.constant dense<0.0> : tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: bf16):
    %t = arith.scaling_extf %a, %b : f4E2M1FN, f8E8M0FNU to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%w, %x : tensor<8x64xbf16>, tensor<16x64xbf16>)
       outs(%acc : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %d : tensor<8x16xf32>
}

// One matrix of weights for all of a batch: more rows.

// CHECK-LABEL: func.func @shared(
// CHECK:         %[[X:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<3x16x64xbf16>
// CHECK:         %[[ACC:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<3x16x8xf32>
// CHECK:         %[[D:.*]] = linalg.matmul {{.*}} ins(%[[X]], {{.*}} outs(%[[ACC]]
// CHECK:         tensor.expand_shape %[[D]] {{\[\[}}0, 1], [2]] output_shape [3, 16, 8]
func.func @shared(%x: tensor<3x16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<3x16x8xf32>) -> tensor<3x16x8xf32> {
  %d = linalg.generic {indexing_maps = [affine_map<(z, m, n, k) -> (z, m, k)>, affine_map<(z, m, n, k) -> (n, k)>,
                                        affine_map<(z, m, n, k) -> (n, k floordiv 32)>, affine_map<(z, m, n, k) -> (z, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %w0, %s : tensor<3x16x64xbf16>, tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%acc : tensor<3x16x8xf32>) {
  ^bb0(%v: bf16, %a: f4E2M1FN, %b: f8E8M0FNU, %o: f32):
    %vf = arith.extf %v : bf16 to f32
    %w = arith.scaling_extf %a, %b : f4E2M1FN, f8E8M0FNU to f32
    %p = arith.mulf %vf, %w : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// What was raised, or is written so, stays.

// CHECK-LABEL: func.func @there(
// CHECK-COUNT-1: blockscale.dequantize
// CHECK-NEXT:    linalg.matmul
func.func @there(%x: tensor<16x64xbf16>, %c: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %w = blockscale.dequantize %c, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU> to tensor<8x64xbf16>
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

//===----------------------------------------------------------------------===//
// Left alone
//===----------------------------------------------------------------------===//

// CHECK-NOT: blockscale.dequantize

func.func @sums_of_bf16(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xbf16>) -> tensor<16x8xbf16> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: bf16):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: it accumulates in bf16, expected f32}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xbf16>) -> tensor<16x8xbf16>
  return %d : tensor<16x8xbf16>
}

func.func @rounding_mode(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: bf16):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    %t = arith.truncf %m toward_zero : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: the weights are rounded toward_zero, expected to_nearest_even}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @f64(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: bf16):
    %af = arith.extf %a : f4E2M1FN to f64
    %bf = arith.extf %b : f8E8M0FNU to f64
    %m = arith.mulf %af, %bf : f64
    %t = arith.truncf %m : f64 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: the weights are dequantized in f64, expected f32, bf16 or f16}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @scales_in_f16(%x: tensor<16x64xf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: f16):
    %af = arith.extf %a : f4E2M1FN to f16
    %bf = arith.extf %b : f8E8M0FNU to f16
    %m = arith.mulf %af, %bf : f16
    linalg.yield %m : f16
  } -> tensor<8x64xf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: a factor of type tensor<8x2xf8E8M0FNU> is extended to f16, which does not hold all of its values}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xf16>, tensor<8x64xf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @scales_first(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %g: f32, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: bf16):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %h = arith.mulf %bf, %g : f32
    %m = arith.mulf %af, %h : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: expected elements times scales of blocks, and that times a scale for the whole tensor, if there is one: other orders are rounded in another way than by blockscale.dequantize}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @two_tensor_scales(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %g: f32, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: bf16):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    %h = arith.mulf %m, %g : f32
    %h2 = arith.mulf %h, %g : f32
    %t = arith.truncf %h2 : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: expected one scale for the whole tensor, got more}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @rounded_in_between(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf8E5M2>, %s: tensor<8x2xf8E8M0FNU>, %g: f32, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf8E5M2>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f8E5M2, %b: f8E8M0FNU, %o: bf16):
    %af = arith.extf %a : f8E5M2 to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    %r = arith.truncf %m : f32 to bf16
    %rf = arith.extf %r : bf16 to f32
    %h = arith.mulf %rf, %g : f32
    %t = arith.truncf %h : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: elements times scales are rounded to bf16 before they are multiplied by the scale for the whole tensor, expected f32}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @rounded_twice(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf8E5M2>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf8E5M2>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f8E5M2, %b: f8E8M0FNU, %o: bf16):
    %af = arith.extf %a : f8E5M2 to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    %r = arith.truncf %m : f32 to f16
    %rf = arith.extf %r : f16 to f32
    %t = arith.truncf %rf : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: the weights are rounded twice, to f16 and to bf16}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @f32_of_fp8(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf8E5M2>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf8E5M2>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f8E5M2, %b: f8E8M0FNU, %o: f32):
    %af = arith.extf %a : f8E5M2 to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    linalg.yield %m : f32
  } -> tensor<8x64xf32>
  // expected-remark@+1 {{not raised to blockscale.dequantize: the weights are of type f32 and the other operand of type bf16, which does not hold all of their values}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xf32>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @f16_beside_bf16(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: f16):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x64xf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: the weights are rounded to f16, and the other operand is of type bf16}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @f32_operand(%x: tensor<16x64xf32>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: f32):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    linalg.yield %m : f32
  } -> tensor<8x64xf32>
  // expected-remark@+1 {{not raised to blockscale.dequantize: the other operand is of type tensor<16x64xf32>, expected bf16 or f16, which may be extended}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xf32>, tensor<8x64xf32>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @signs(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E4M3FN>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk16, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E4M3FN, %o: bf16):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E4M3FN to f32
    %m = arith.mulf %af, %bf : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: scales may be negative, and dequantize ignores the sign of f8E4M3FN; 'math.absf' or the option assume-positive-scales says that they are not}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @absolute_elements(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: bf16):
    %p = math.absf %a : f4E2M1FN
    %t = arith.scaling_extf %p, %b : f4E2M1FN, f8E8M0FNU to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: a tensor of elements has absolute values}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @block_of_64(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x1xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, affine_map<(n, k) -> (n, k floordiv 64)>, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x1xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: bf16):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: expected blocks of 16 or 32 for f4E2M1FN with scales of type f8E8M0FNU, got 64}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @fp8_with_ue4m3(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf8E5M2>, %s: tensor<8x4xf8E4M3FN>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk16, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf8E5M2>, tensor<8x4xf8E4M3FN>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f8E5M2, %b: f8E4M3FN, %o: bf16):
    %af = arith.extf %a : f8E5M2 to f32
    %bf = arith.extf %b : f8E4M3FN to f32
    %bp = math.absf %bf : f32
    %m = arith.mulf %af, %bp : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: f8E5M2 has no scales of type f8E4M3FN}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @fnuz(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf8E4M3FNUZ>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf8E4M3FNUZ>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f8E4M3FNUZ, %b: f8E8M0FNU, %o: bf16):
    %af = arith.extf %a : f8E4M3FNUZ to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: dequantize has no elements of type f8E4M3FNUZ}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @too_many_scales(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x3xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, #nk32, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x3xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: bf16):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: a tensor of scales of type tensor<8x3xf8E8M0FNU> is not known to have just the sizes of N and blocks of 32 of K}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @interleaved(%x: tensor<16x64xbf16>, %w0: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8x64xbf16>
  %w = linalg.generic {indexing_maps = [#nk, affine_map<(n, k) -> (n, k mod 2)>, #nk], iterator_types = ["parallel", "parallel"]}
       ins(%w0, %s : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%a: f4E2M1FN, %b: f8E8M0FNU, %o: bf16):
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %m = arith.mulf %af, %bf : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8x64xbf16>
  // expected-remark@+1 {{not raised to blockscale.dequantize: a tensor of scales of type tensor<8x2xf8E8M0FNU> is read at (d0, d1, d2) -> (d1, d2 mod 2), expected N and blocks of 32 of K}}
  %d = linalg.matmul indexing_maps = [#x, #y, #d] ins(%x, %w : tensor<16x64xbf16>, tensor<8x64xbf16>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @one_after_the_other(%x: tensor<16x64xbf16>, %c: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.dequantize: elements and scales are multiplied by the other operand one after the other, which is rounded in another way than their product, expected their product}}
  %d = linalg.generic {indexing_maps = [#x, #y, affine_map<(m, n, k) -> (n, k floordiv 32)>, #d], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %c, %s : tensor<16x64xbf16>, tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%v: bf16, %a: f4E2M1FN, %b: f8E8M0FNU, %o: f32):
    %vf = arith.extf %v : bf16 to f32
    %af = arith.extf %a : f4E2M1FN to f32
    %bf = arith.extf %b : f8E8M0FNU to f32
    %p = arith.mulf %vf, %af : f32
    %q = arith.mulf %p, %bf : f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @unknown_k(%x: tensor<16x?xbf16>, %c: tensor<8x?xf4E2M1FN>, %s: tensor<8x?xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.dequantize: K is dynamic and not known to be a multiple of 32}}
  %d = linalg.generic {indexing_maps = [#x, #y, affine_map<(m, n, k) -> (n, k floordiv 32)>, #d], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %c, %s : tensor<16x?xbf16>, tensor<8x?xf4E2M1FN>, tensor<8x?xf8E8M0FNU>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%v: bf16, %a: f4E2M1FN, %b: f8E8M0FNU, %o: f32):
    %vf = arith.extf %v : bf16 to f32
    %af = arith.scaling_extf %a, %b : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.mulf %vf, %af : f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @diagonal(%x: tensor<64xbf16>, %c: tensor<8x64xf4E2M1FN>, %s: tensor<8x2xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-remark@+1 {{not raised to blockscale.dequantize: the other operand, of type tensor<64xbf16>, is read at (d0, d1, d2) -> (d2), expected M and K}}
  %d = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k)>, #y, affine_map<(m, n, k) -> (n, k floordiv 32)>, #d], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %c, %s : tensor<64xbf16>, tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU>) outs(%acc : tensor<16x8xf32>) {
  ^bb0(%v: bf16, %a: f4E2M1FN, %b: f8E8M0FNU, %o: f32):
    %vf = arith.extf %v : bf16 to f32
    %af = arith.scaling_extf %a, %b : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.mulf %vf, %af : f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
