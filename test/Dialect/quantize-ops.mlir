// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt --mlir-print-op-generic %s | blockscale-opt | FileCheck %s

// CHECK-LABEL: func.func @mxfp8(
// CHECK: blockscale.quantize %{{.*}} {block_size = 32 : i64, rule = #blockscale.scale_rule<even>}
// CHECK-SAME: : tensor<4x64xf32> to tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>
func.func @mxfp8(%x: tensor<4x64xf32>)
    -> (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>) {
  %c, %s = blockscale.quantize %x
      {block_size = 32 : i64, rule = #blockscale.scale_rule<even>}
      : tensor<4x64xf32> to tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>
  return %c, %s : tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>
}

// CHECK-LABEL: func.func @nvfp4_padded(
// CHECK: blockscale.quantize %{{.*}} tensor_scale(%{{.*}}) {block_size = 16 : i64, pad}
// CHECK-SAME: : tensor<?x100xbf16>, f32 to tensor<?x100xf4E2M1FN>, tensor<?x7xf8E4M3FN>, tensor<f32>
func.func @nvfp4_padded(%x: tensor<?x100xbf16>, %g: f32) -> tensor<f32> {
  %c, %s, %a = blockscale.quantize %x tensor_scale(%g)
      {block_size = 16 : i64, pad} : tensor<?x100xbf16>, f32
      to tensor<?x100xf4E2M1FN>, tensor<?x7xf8E4M3FN>, tensor<f32>
  return %a : tensor<f32>
}

// CHECK-LABEL: func.func @vectors(
// CHECK: blockscale.quantize %{{.*}} : vector<32xf16> to vector<32xf6E2M3FN>, vector<1xf8E8M0FNU>, f32
// CHECK: blockscale.dequantize %{{.*}}, %{{.*}} : vector<32xf6E2M3FN>, vector<1xf8E8M0FNU> to vector<32xbf16>
func.func @vectors(%x: vector<32xf16>) -> (vector<32xbf16>, f32) {
  %c, %s, %a = blockscale.quantize %x {block_size = 32 : i64}
      : vector<32xf16> to vector<32xf6E2M3FN>, vector<1xf8E8M0FNU>, f32
  %y = blockscale.dequantize %c, %s
      : vector<32xf6E2M3FN>, vector<1xf8E8M0FNU> to vector<32xbf16>
  return %y, %a : vector<32xbf16>, f32
}

// CHECK-LABEL: func.func @dequantize(
// CHECK: blockscale.dequantize %{{.*}}, %{{.*}} tensor_scale(%{{.*}}) {block_size = 16 : i64}
// CHECK-SAME: : tensor<3x?xf4E2M1FN>, tensor<3x?xf8E4M3FN>, f32 to tensor<3x?xf32>
func.func @dequantize(%c: tensor<3x?xf4E2M1FN>, %s: tensor<3x?xf8E4M3FN>,
                      %g: f32) -> tensor<3x?xf32> {
  %y = blockscale.dequantize %c, %s tensor_scale(%g) {block_size = 16 : i64}
      : tensor<3x?xf4E2M1FN>, tensor<3x?xf8E4M3FN>, f32 to tensor<3x?xf32>
  return %y : tensor<3x?xf32>
}
