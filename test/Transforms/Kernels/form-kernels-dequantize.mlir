// Kernels of dequantize: a lane makes 8 values of one load of quantized elements; loops
// where those are not contiguous along K.

// RUN: blockscale-opt %s --split-input-file --blockscale-attach-target=target=sm_90a --blockscale-pack-buffers --blockscale-form-kernels | FileCheck %s

// CHECK-LABEL: func.func @packed(
// CHECK:         blockscale.launch @kernels::@packed__dequantize blocks = [376, 1, 1] threads = [256, 1, 1]
// CHECK-LABEL: gpu.func @packed__dequantize(
// CHECK-SAME:    memref<3000x512xi8>, %{{[a-z0-9]+}}: memref<24x16x32x16xi8>, %{{[a-z0-9]+}}: memref<3000x1024xbf16>)
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 4 : i64} : memref<3000x512xi8>, vector<4xi8>
// CHECK-NOT:     vector.load
// CHECK-COUNT-4: vector.store %{{.*}} {alignment = 16 : i64} : memref<3000x1024xbf16>, vector<8xbf16>
func.func @packed(%c: tensor<3000x1024xf4E2M1FN>, %t: tensor<24x16x32x16xf8E4M3FN>)
    -> tensor<3000x1024xbf16> {
  %s = blockscale.unswizzle_scales %t
      : tensor<24x16x32x16xf8E4M3FN> to tensor<3000x64xf8E4M3FN>
  %y = blockscale.dequantize %c, %s
      : tensor<3000x1024xf4E2M1FN>, tensor<3000x64xf8E4M3FN> to tensor<3000x1024xbf16>
  return %y : tensor<3000x1024xbf16>
}

// -----

// Few values: a lane makes 8 of them once. fp6 that is a bit stream: 6 bytes for 8 elements.
// CHECK-LABEL: func.func @few(
// CHECK:         blockscale.launch @kernels::@few__dequantize blocks = [8, 1, 1] threads = [256, 1, 1]
// CHECK-LABEL: gpu.func @few__dequantize(
// CHECK-COUNT-3: vector.load %{{.*}} {alignment = 2 : i64} : memref<64x192xi8>, vector<2xi8>
// CHECK-NOT:     vector.load
// CHECK-COUNT-1: vector.store %{{.*}} {alignment = 16 : i64} : memref<64x256xf16>, vector<8xf16>
// CHECK-NOT:     vector.store
func.func @few(%c: tensor<64x256xf6E2M3FN> {blockscale.packed}, %s: tensor<64x8xf8E8M0FNU>)
    -> tensor<64x256xf16> {
  %y = blockscale.dequantize %c, %s
      : tensor<64x256xf6E2M3FN>, tensor<64x8xf8E8M0FNU> to tensor<64x256xf16>
  return %y : tensor<64x256xf16>
}

// -----

// Few columns: more rows at once, of which the last ones may not be there.
// CHECK-LABEL: func.func @narrow(
// CHECK:         blockscale.launch @kernels::@narrow__dequantize blocks = [%{{.*}}, 1, 1] threads = [256, 1, 1]
// CHECK-LABEL: gpu.func @narrow__dequantize(
// CHECK:         arith.minui
// CHECK-COUNT-8: vector.store %{{.*}} : memref<2x?x32xf32>, vector<4xf32>
func.func @narrow(%c: tensor<2x?x32xf8E5M2>, %s: tensor<2x?x1xf8E8M0FNU>, %g: f32)
    -> tensor<2x?x32xf32> {
  %y = blockscale.dequantize %c, %s tensor_scale(%g)
      : tensor<2x?x32xf8E5M2>, tensor<2x?x1xf8E8M0FNU>, f32 to tensor<2x?x32xf32>
  return %y : tensor<2x?x32xf32>
}

// -----

// CHECK-LABEL: func.func @odd(
// CHECK-NOT:     launch
// CHECK:         blockscale.dequantize
// CHECK-LABEL: func.func @across(
// CHECK-NOT:     launch
// CHECK:         blockscale.dequantize
func.func @odd(%c: tensor<7x100xf8E5M2>, %s: tensor<7x4xf8E8M0FNU>) -> tensor<7x100xf32> {
  %y = blockscale.dequantize %c, %s {block_size = 32 : i64}
      : tensor<7x100xf8E5M2>, tensor<7x4xf8E8M0FNU> to tensor<7x100xf32>
  return %y : tensor<7x100xf32>
}

func.func @across(%c: tensor<64x16xf8E5M2>, %s: tensor<16x2xf8E8M0FNU>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<16x64xf8E5M2>
  %t = linalg.transpose ins(%c : tensor<64x16xf8E5M2>) outs(%e : tensor<16x64xf8E5M2>)
      permutation = [1, 0]
  %y = blockscale.dequantize %t, %s
      : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU> to tensor<16x64xf32>
  return %y : tensor<16x64xf32>
}
