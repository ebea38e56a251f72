// Kernels of quantize: lanes of consecutive values, or a thread for
// each block; elements of fp4 packed and scales swizzled where they are made.

// RUN: blockscale-opt %s --split-input-file --blockscale-attach-target=target=sm_100a --blockscale-pack-buffers --blockscale-form-kernels | FileCheck %s
// RUN: blockscale-opt %s --split-input-file --blockscale-attach-target=target=sm_80 --blockscale-pack-buffers --blockscale-form-kernels | FileCheck %s --check-prefix=SOFT

// CHECK-LABEL: func.func @packed(
// CHECK:         blockscale.launch @kernels::@packed__quantize blocks = [256, 8, 1] threads = [128, 1, 1]
// CHECK-SAME:      -> tensor<1024x4096xi8>, tensor<8x128x32x16xf8E4M3FN>
// CHECK-NOT:     swizzle_scales
// CHECK-LABEL: gpu.func @packed__quantize(
// CHECK-COUNT-4:  vector.load %{{.*}} : memref<1024x8192xbf16>, vector<8xbf16>
// CHECK:          gpu.shuffle xor
// CHECK-COUNT-16: nvvm.convert.f32x2.to.f4x2
// SOFT-LABEL: gpu.func @packed__quantize(
// SOFT-NOT:       nvvm.convert
func.func @packed(%x: tensor<1024x8192xbf16>)
    -> (tensor<1024x8192xf4E2M1FN>, tensor<8x128x32x16xf8E4M3FN>) {
  %c, %s = blockscale.quantize %x {block_size = 16 : i64}
      : tensor<1024x8192xbf16>
      to tensor<1024x8192xf4E2M1FN>, tensor<1024x512xf8E4M3FN>
  %t = blockscale.swizzle_scales %s
      : tensor<1024x512xf8E4M3FN> to tensor<8x128x32x16xf8E4M3FN>
  return %c, %t : tensor<1024x8192xf4E2M1FN>, tensor<8x128x32x16xf8E4M3FN>
}

// -----

// The last block of a row is not whole.
// CHECK-LABEL: func.func @ragged(
// CHECK:         blockscale.launch @kernels::@ragged__quantize
// CHECK-LABEL: gpu.func @ragged__quantize(
// CHECK-COUNT-32: memref.load %{{.*}} : memref<7x100xf32>
func.func @ragged(%x: tensor<7x100xf32>)
    -> (tensor<7x100xf8E4M3FN>, tensor<7x4xf8E8M0FNU>) {
  %c, %s = blockscale.quantize %x {block_size = 32 : i64, pad}
      : tensor<7x100xf32> to tensor<7x100xf8E4M3FN>, tensor<7x4xf8E8M0FNU>
  return %c, %s : tensor<7x100xf8E4M3FN>, tensor<7x4xf8E8M0FNU>
}

// -----

// The largest magnitude starts as 0; the tensor scale is computed by the
// kernel, from memory.
// CHECK-LABEL: func.func @largest(
// CHECK:         linalg.fill
// CHECK:         blockscale.launch @kernels::@largest__quantize {{.*}} updates outs
// CHECK-LABEL: gpu.func @largest__quantize(
// CHECK:         %[[A:.*]] = memref.load %{{.*}}[] : memref<f32>
// CHECK:         arith.divf %[[A]]
// CHECK:         nvvm.redux.sync umax
// CHECK:         llvm.atomicrmw umax
func.func @largest(%x: tensor<64x64xf32>, %a: tensor<f32>)
    -> (tensor<64x64xf4E2M1FN>, tensor<64x4xf8E4M3FN>, tensor<f32>) {
  %limit = arith.constant 2688.0 : f32
  %largest = tensor.extract %a[] : tensor<f32>
  %g = arith.divf %largest, %limit : f32
  %c, %s, %b = blockscale.quantize %x tensor_scale(%g) {block_size = 16 : i64}
      : tensor<64x64xf32>, f32
      to tensor<64x64xf4E2M1FN>, tensor<64x4xf8E4M3FN>, tensor<f32>
  return %c, %s, %b
      : tensor<64x64xf4E2M1FN>, tensor<64x4xf8E4M3FN>, tensor<f32>
}
