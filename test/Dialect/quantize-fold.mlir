// RUN: blockscale-opt --canonicalize %s | FileCheck %s

// The largest magnitude is 448 times 2: with the scale 2^1, 896 is the largest
// code, 0x7E, and 1 is 0.5, 0x30.
// CHECK-LABEL: func.func @mxfp8(
// CHECK-DAG: %[[ELEMENTS:.*]] = arith.constant dense<{{\[}}4.480000e+02, {{.*}}, 5.000000e-01]> : tensor<32xf8E4M3FN>
// CHECK-DAG: %[[SCALES:.*]] = arith.constant dense<2.000000e+00> : tensor<1xf8E8M0FNU>
// CHECK-DAG: %[[AMAX:.*]] = arith.constant dense<8.960000e+02> : tensor<f32>
// CHECK: return %[[ELEMENTS]], %[[SCALES]], %[[AMAX]]
func.func @mxfp8() -> (tensor<32xf8E4M3FN>, tensor<1xf8E8M0FNU>, tensor<f32>) {
  %x = arith.constant dense<[896.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
      0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
      0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]> : tensor<32xf32>
  %c, %s, %a = blockscale.quantize %x {block_size = 32 : i64}
      : tensor<32xf32> to tensor<32xf8E4M3FN>, tensor<1xf8E8M0FNU>, tensor<f32>
  return %c, %s, %a : tensor<32xf8E4M3FN>, tensor<1xf8E8M0FNU>, tensor<f32>
}

// 12 is 6 times a scale of 1 and a tensor scale of 2.
// CHECK-LABEL: func.func @nvfp4(
// CHECK-DAG: %[[ELEMENTS:.*]] = arith.constant dense<6.000000e+00> : tensor<16xf4E2M1FN>
// CHECK-DAG: %[[SCALES:.*]] = arith.constant dense<1.000000e+00> : tensor<1xf8E4M3FN>
// CHECK: return %[[ELEMENTS]], %[[SCALES]]
func.func @nvfp4() -> (tensor<16xf4E2M1FN>, tensor<1xf8E4M3FN>) {
  %g = arith.constant 2.0 : f32
  %x = arith.constant dense<12.0> : tensor<16xbf16>
  %c, %s = blockscale.quantize %x tensor_scale(%g) {block_size = 16 : i64}
      : tensor<16xbf16>, f32 to tensor<16xf4E2M1FN>, tensor<1xf8E4M3FN>
  return %c, %s : tensor<16xf4E2M1FN>, tensor<1xf8E4M3FN>
}

// A tensor scale that is not positive is not folded.
// CHECK-LABEL: func.func @negative(
// CHECK: blockscale.quantize
func.func @negative() -> (tensor<16xf4E2M1FN>, tensor<1xf8E4M3FN>) {
  %g = arith.constant -2.0 : f32
  %x = arith.constant dense<12.0> : tensor<16xbf16>
  %c, %s = blockscale.quantize %x tensor_scale(%g) {block_size = 16 : i64}
      : tensor<16xbf16>, f32 to tensor<16xf4E2M1FN>, tensor<1xf8E4M3FN>
  return %c, %s : tensor<16xf4E2M1FN>, tensor<1xf8E4M3FN>
}

// CHECK-LABEL: func.func @dequantize(
// CHECK: %[[Y:.*]] = arith.constant dense<9.000000e+00> : tensor<16xf16>
// CHECK: return %[[Y]]
func.func @dequantize() -> tensor<16xf16> {
  %g = arith.constant 3.0 : f32
  %c = arith.constant dense<6.0> : tensor<16xf4E2M1FN>
  %s = arith.constant dense<0.5> : tensor<1xf8E4M3FN>
  %y = blockscale.dequantize %c, %s tensor_scale(%g)
      : tensor<16xf4E2M1FN>, tensor<1xf8E4M3FN>, f32 to tensor<16xf16>
  return %y : tensor<16xf16>
}
