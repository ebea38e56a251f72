// The mixed-input op, which dequantizes in registers, and its accumulators.

// RUN: blockscale-opt %s -split-input-file | blockscale-opt -split-input-file | FileCheck %s
// RUN: blockscale-opt %s -split-input-file --mlir-print-op-generic | blockscale-opt -split-input-file | FileCheck %s

!quantized = memref<2x64x64xi8, #gpu.address_space<workgroup>>
!values = memref<2x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

// CHECK-LABEL: func @product(
// CHECK-NEXT:    %{{.*}}, %{{.*}} = blockscale.warpgroup_mma_mixed %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scales = %{{.*}}, %{{.*}} types = <e4m3, e4m3, ue8m0, 32> instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0> layout = <k, slots, swizzled> : memref<2x64x64xi8, #gpu.address_space<workgroup>>, memref<2x16x128xi8, #gpu.address_space<workgroup>>, <16x64, #blockscale.warp_columns<4>>
func.func @product(%y: !quantized, %x: !values, %acc: !acc, %inexact: i32, %scales: i32) {
  %0, %1 = blockscale.warpgroup_mma_mixed %y, %x, %acc, %inexact scales = %scales, %scales
       types = <e4m3, e4m3, ue8m0, 32> instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// With a scale of the whole tensor.

// CHECK-LABEL: func @tensor_scale(
// CHECK-NEXT:    blockscale.warpgroup_mma_mixed {{.*}} scales = %{{.*}}, %{{.*}} tensor_scale %{{.*}} types = <e4m3, e4m3, ue8m0, 32>
func.func @tensor_scale(%y: !quantized, %x: !values, %acc: !acc, %inexact: i32, %scales: i32, %g: f32) {
  %0, %1 = blockscale.warpgroup_mma_mixed %y, %x, %acc, %inexact scales = %scales, %scales tensor_scale %g
       types = <e4m3, e4m3, ue8m0, 32> instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// -----

// Chunks of nibbles have 128 elements, and eight blocks of 16.

!quantized = memref<1x128x64xi8, #gpu.address_space<workgroup>>
!values = memref<2x8x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<8x128, #blockscale.warp_columns<8>>

// CHECK-LABEL: func @nibbles(
// CHECK-NEXT:    blockscale.warpgroup_mma_mixed
func.func @nibbles(%y: !quantized, %x: !values, %acc: !acc, %inexact: i32, %scales: i32) {
  %0, %1 = blockscale.warpgroup_mma_mixed %y, %x, %acc, %inexact scales = %scales, %scales, %scales, %scales
       types = <e2m1, e2m1, ue4m3, 16> instruction = <wgmma, 64x8x16, unscaled, bf16, bf16, none, 0>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// -----

// A sparse A: a chunk of bytes has 128 elements, of which 64 are kept, and four words of metadata in each row.

!quantized = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!values = memref<2x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

// CHECK-LABEL: func @sparse(
// CHECK-NEXT:    blockscale.warpgroup_mma_mixed {{.*}} scales = %{{.*}}, %{{.*}} metadata = %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} types = <e4m3, e4m3, ue8m0, 64, 2:4> instruction = <wgmma, 64x16x32, unscaled, bf16, bf16, none, 0, 2:4>
func.func @sparse(%x: !quantized, %y: !values, %acc: !acc, %inexact: i32, %w: i32) {
  %0, %1 = blockscale.warpgroup_mma_mixed %x, %y, %acc, %inexact scales = %w, %w metadata = %w, %w, %w, %w, %w, %w, %w, %w
       types = <e4m3, e4m3, ue8m0, 64, 2:4> instruction = <wgmma, 64x16x32, unscaled, bf16, bf16, none, 0, 2:4>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// CHECK-LABEL: func @transpose(
// CHECK-NEXT:    blockscale.acc_transpose %{{.*}} : <16x64, #blockscale.warp_columns<4>> -> <64x16, #blockscale.warps<4x1>>
func.func @transpose(%acc: !acc) {
  %0 = blockscale.acc_transpose %acc : !acc -> !blockscale.acc<64x16, #blockscale.warps<4x1>>
  return
}
