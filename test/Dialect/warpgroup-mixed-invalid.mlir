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

// -----

!quantized = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!values = memref<2x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

func.func @c6_granularity(%x: !quantized, %y: !values, %acc: !acc, %w: i32) {
  // expected-error@+1 {{op expected an instruction and types of the same granularity, got #blockscale.instruction<wgmma, 64x16x32, unscaled, bf16, bf16, none, 0, pairs> and #blockscale.type_combination<e4m3, e4m3, ue8m0, 64, 2:4>}}
  %0, %1 = blockscale.warpgroup_mma_mixed %x, %y, %acc, %w scales = %w, %w metadata = %w, %w, %w, %w, %w, %w, %w, %w
       types = <e4m3, e4m3, ue8m0, 64, 2:4> instruction = <wgmma, 64x16x32, unscaled, bf16, bf16, none, 0, pairs>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// -----

!quantized = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!values = memref<2x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

func.func @c6_pairs(%x: !quantized, %y: !values, %acc: !acc, %w: i32) {
  // expected-error@+1 {{op expected elements of 4 bits where pairs are kept, got #blockscale.type_combination<e4m3, e4m3, ue8m0, 64, pairs>}}
  %0, %1 = blockscale.warpgroup_mma_mixed %x, %y, %acc, %w scales = %w, %w metadata = %w, %w, %w, %w
       types = <e4m3, e4m3, ue8m0, 64, pairs> instruction = <wgmma, 64x16x32, unscaled, bf16, bf16, none, 0, pairs>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// -----

!quantized = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!values = memref<4x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

func.func @c6_blocks(%x: !quantized, %y: !values, %acc: !acc, %w: i32) {
  // expected-error@+1 {{op expected at most 8 blocks in a chunk of 256 elements, got 16}}
  %0, %1 = blockscale.warpgroup_mma_mixed %x, %y, %acc, %w scales = %w, %w, %w, %w, %w, %w, %w, %w metadata = %w, %w, %w, %w, %w, %w, %w, %w
       types = <e2m1, e2m1, ue8m0, 16, pairs> instruction = <wgmma, 64x16x32, unscaled, bf16, bf16, none, 0, pairs>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// -----

!quantized = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!values = memref<2x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

func.func @c6_metadata(%x: !quantized, %y: !values, %acc: !acc, %w: i32) {
  // expected-error@+1 {{op expected 8 registers of metadata, got 4}}
  %0, %1 = blockscale.warpgroup_mma_mixed %x, %y, %acc, %w scales = %w, %w metadata = %w, %w, %w, %w
       types = <e4m3, e4m3, ue8m0, 64, 2:4> instruction = <wgmma, 64x16x32, unscaled, bf16, bf16, none, 0, 2:4>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// -----

!quantized = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!values = memref<1x16x128xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

func.func @c6_dense(%x: !quantized, %y: !values, %acc: !acc, %w: i32) {
  // expected-error@+1 {{op expected 0 registers of metadata, got 1}}
  %0, %1 = blockscale.warpgroup_mma_mixed %x, %y, %acc, %w scales = %w, %w metadata = %w
       types = <e4m3, e4m3, ue8m0, 32> instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
       layout = <k, slots, swizzled> : !quantized, !values, !acc
  return
}

// -----

func.func @p1_layout(%acc: !blockscale.acc<16x64, #blockscale.warp_columns<4>>) {
  // expected-error@+1 {{'blockscale.acc_transpose' op expected an accumulator in #blockscale.warp_columns<w> and its transpose in #blockscale.warps<wx1>, got '!blockscale.acc<16x64, #blockscale.warp_columns<4>>' and '!blockscale.acc<64x16, #blockscale.warps<2x2>>'}}
  %0 = blockscale.acc_transpose %acc : !blockscale.acc<16x64, #blockscale.warp_columns<4>> -> !blockscale.acc<64x16, #blockscale.warps<2x2>>
  return
}
