// Violated constraints of the mixed-input op.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!quantized = memref<2x64x64xi8, #gpu.address_space<workgroup>>
!values = memref<2x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

func.func @c1_instruction(%y: !quantized, %x: !values, %acc: !acc, %word: i32) {
  // expected-error@+1 {{'blockscale.warpgroup_mma_mixed' op expected an instruction of wgmma, of bf16 or f16, got #blockscale.instruction<dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>}}
  %0, %1 = blockscale.warpgroup_mma_mixed %y, %x, %acc, %word scales = %word, %word
       types = <e4m3, e4m3, ue8m0, 32> instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// -----

!quantized = memref<2x64x64xi8, #gpu.address_space<workgroup>>
!values = memref<2x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

func.func @c2_layout(%y: !quantized, %x: !values, %acc: !acc, %word: i32) {
  // expected-error@+1 {{op expected b with swizzle rows of slots along k, got #blockscale.tile_layout<mn, slots, swizzled>}}
  %0, %1 = blockscale.warpgroup_mma_mixed %y, %x, %acc, %word scales = %word, %word
       types = <e4m3, e4m3, ue8m0, 32> instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
       layout = <mn, slots, swizzled> : !quantized, !values, !acc
  return
}

// -----

!quantized = memref<2x128x64xi8, #gpu.address_space<workgroup>>
!values = memref<2x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

func.func @c3_rows(%y: !quantized, %x: !values, %acc: !acc, %word: i32) {
  // expected-error@+1 {{op expected an accumulator of 16 rows in #blockscale.warp_columns, and elements in chunks x 64 x 64, got '!blockscale.acc<16x64, #blockscale.warp_columns<4>>' and 'memref<2x128x64xi8, #gpu.address_space<workgroup>>'}}
  %0, %1 = blockscale.warpgroup_mma_mixed %y, %x, %acc, %word scales = %word, %word
       types = <e4m3, e4m3, ue8m0, 32> instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// -----

!quantized = memref<2x64x64xi8, #gpu.address_space<workgroup>>
!values = memref<2x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

func.func @c4_elements(%y: !quantized, %x: !values, %acc: !acc, %word: i32) {
  // expected-error@+1 {{op expected b with 16 rows of 256 elements, got 16 of 128}}
  %0, %1 = blockscale.warpgroup_mma_mixed %y, %x, %acc, %word scales = %word, %word, %word, %word
       types = <e2m1, e2m1, ue8m0, 32> instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// -----

!quantized = memref<2x64x64xi8, #gpu.address_space<workgroup>>
!values = memref<2x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

func.func @c5_scales(%y: !quantized, %x: !values, %acc: !acc, %word: i32) {
  // expected-error@+1 {{op expected 2 registers of scales, got 1}}
  %0, %1 = blockscale.warpgroup_mma_mixed %y, %x, %acc, %word scales = %word
       types = <e4m3, e4m3, ue8m0, 32> instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// -----

// expected-error@+1 {{expected a multiple of 8 rows up to 256, and 16 columns for each of 4 warps, got 16x128}}
func.func private @columns(!blockscale.acc<16x128, #blockscale.warp_columns<4>>)

// -----

// expected-error@+1 {{expected a multiple of 8 rows up to 256, and 16 columns for each of 4 warps, got 12x64}}
func.func private @rows(!blockscale.acc<12x64, #blockscale.warp_columns<4>>)
