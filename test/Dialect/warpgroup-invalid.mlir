// Every constraint of the ops of wgmma, broken.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>

func.func @mma_w1(%a: !a, %b: !b, %acc: !blockscale.acc<128x64, #blockscale.warps<8x1>>) {
  // expected-error@+1 {{'blockscale.warpgroup_mma' op expected an instruction of wgmma, got #blockscale.instruction<tcgen05, 128x64x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>}}
  %0 = blockscale.warpgroup_mma %a, %b, %acc
       instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : !a, !b, !blockscale.acc<128x64, #blockscale.warps<8x1>>
  return
}

// -----

!a = memref<128x128xi8>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>

func.func @mma_w2_memory(%a: !a, %b: !b, %acc: !blockscale.acc<128x64, #blockscale.warps<8x1>>) {
  // expected-error@+1 {{'blockscale.warpgroup_mma' op expected a to have a static shape, the identity layout and the workgroup memory space, got 'memref<128x128xi8>'}}
  %0 = blockscale.warpgroup_mma %a, %b, %acc
       instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : !a, !b, !blockscale.acc<128x64, #blockscale.warps<8x1>>
  return
}

// -----

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<60x128xi8, #gpu.address_space<workgroup>>

func.func @mma_w2_rows(%a: !a, %b: !b, %acc: !blockscale.acc<128x64, #blockscale.warps<8x1>>) {
  // expected-error@+1 {{'blockscale.warpgroup_mma' op expected b with columns of a multiple of 8 swizzle rows, got 60}}
  %0 = blockscale.warpgroup_mma %a, %b, %acc
       instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : !a, !b, !blockscale.acc<128x64, #blockscale.warps<8x1>>
  return
}

// -----

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x64xi8, #gpu.address_space<workgroup>>

func.func @mma_w2_slots(%a: !a, %b: !b, %acc: !blockscale.acc<128x64, #blockscale.warps<8x1>>) {
  // expected-error@+1 {{'blockscale.warpgroup_mma' op expected b with swizzle rows of slots, got padded}}
  %0 = blockscale.warpgroup_mma %a, %b, %acc
       instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, padded, swizzled>
       : !a, !b, !blockscale.acc<128x64, #blockscale.warps<8x1>>
  return
}

// -----

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>

func.func @mma_w3_columns(%a: !a, %b: !b, %acc: !blockscale.acc<128x64, #blockscale.warps<8x1>>) {
  // expected-error@+1 {{'blockscale.warpgroup_mma' op expected an accumulator of 72 columns, of 64 rows for each 4 warps, which divide its rows, got '!blockscale.acc<128x64, #blockscale.warps<8x1>>'}}
  %0 = blockscale.warpgroup_mma %a, %b, %acc
       instruction = <wgmma, 64x72x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : !a, !b, !blockscale.acc<128x64, #blockscale.warps<8x1>>
  return
}

// -----

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>

func.func @mma_w3_rows(%a: !a, %b: !b, %acc: !blockscale.acc<128x64, #blockscale.warps<4x1>>) {
  // expected-error@+1 {{expected an accumulator of 64 columns, of 64 rows for each 4 warps, which divide its rows, got '!blockscale.acc<128x64, #blockscale.warps<4x1>>'}}
  %0 = blockscale.warpgroup_mma %a, %b, %acc
       instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : !a, !b, !blockscale.acc<128x64, #blockscale.warps<4x1>>
  return
}

// -----

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>

func.func @mma_w3_warps(%a: !a, %b: !b, %acc: !blockscale.acc<128x64, #blockscale.warps<4x2>>) {
  // expected-error@+1 {{expected an accumulator of 64 columns, of 64 rows for each 4 warps, which divide its rows, got '!blockscale.acc<128x64, #blockscale.warps<4x2>>'}}
  %0 = blockscale.warpgroup_mma %a, %b, %acc
       instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : !a, !b, !blockscale.acc<128x64, #blockscale.warps<4x2>>
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>

func.func @mma_w4_a(%a: !a, %b: !b, %acc: !blockscale.acc<128x64, #blockscale.warps<8x1>>) {
  // expected-error@+1 {{'blockscale.warpgroup_mma' op expected a to have 128 rows, got 64}}
  %0 = blockscale.warpgroup_mma %a, %b, %acc
       instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : !a, !b, !blockscale.acc<128x64, #blockscale.warps<8x1>>
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!b = memref<2x64x128xi8, #gpu.address_space<workgroup>>

func.func @mma_w4_b(%a: !a, %b: !b, %acc: !blockscale.acc<64x64, #blockscale.warps<4x1>>) {
  // expected-error@+1 {{'blockscale.warpgroup_mma' op expected b to have 64 rows, got 128}}
  %0 = blockscale.warpgroup_mma %a, %b, %acc
       instruction = <wgmma, 64x64x16, unscaled, f16, f16, none, 0>
       layouts = <k, slots, swizzled>, <mn, slots, swizzled>
       : !a, !b, !blockscale.acc<64x64, #blockscale.warps<4x1>>
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!b = memref<1x32x128xi8, #gpu.address_space<workgroup>>

func.func @mma_w5_same(%a: !a, %b: !b, %acc: !blockscale.acc<64x64, #blockscale.warps<4x1>>) {
  // expected-error@+1 {{'blockscale.warpgroup_mma' op expected tiles with the same multiple of 16 elements along K, got 64 and 32}}
  %0 = blockscale.warpgroup_mma %a, %b, %acc
       instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <mn, slots, swizzled>
       : !a, !b, !blockscale.acc<64x64, #blockscale.warps<4x1>>
  return
}

// -----

!a = memref<1x24x128xi8, #gpu.address_space<workgroup>>
!b = memref<1x24x128xi8, #gpu.address_space<workgroup>>

func.func @mma_w5_multiple(%a: !a, %b: !b, %acc: !blockscale.acc<64x64, #blockscale.warps<4x1>>) {
  // expected-error@+1 {{'blockscale.warpgroup_mma' op expected tiles with the same multiple of 16 elements along K, got 24 and 24}}
  %0 = blockscale.warpgroup_mma %a, %b, %acc
       instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0>
       layouts = <mn, slots, swizzled>, <mn, slots, swizzled>
       : !a, !b, !blockscale.acc<64x64, #blockscale.warps<4x1>>
  return
}

// -----

func.func @wait_v1_pending(%acc: !blockscale.acc<64x64, #blockscale.warps<4x1>>) {
  // expected-error@+1 {{'blockscale.warpgroup_wait' op expected an accumulator, and at most 7 products pending, got 1 and 8}}
  %0 = blockscale.warpgroup_wait %acc pending = 8 : !blockscale.acc<64x64, #blockscale.warps<4x1>>
  return
}

// -----

func.func @wait_v1_none() {
  // expected-error@+1 {{'blockscale.warpgroup_wait' op expected an accumulator, and at most 7 products pending, got 0 and 0}}
  "blockscale.warpgroup_wait"() {pending = 0 : i64} : () -> ()
  return
}

// -----

func.func @descriptor_memory(%b: memref<64x128xi8>, %offset: index) {
  // expected-error@+1 {{'blockscale.matrix_descriptor' op expected memory to have a static shape, the identity layout and the workgroup memory space, got 'memref<64x128xi8>'}}
  %0 = blockscale.matrix_descriptor %b[%offset] layout = <k, slots, swizzled> wgmma : memref<64x128xi8>
  return
}

// -----

// Instructions that do not exist.

// expected-error@+1 {{expected a dense instruction of wgmma, got kind::unscaled.scale_vec::0X of bf16 times f16 with none scales}}
func.func private @instruction_types() attributes {i = #blockscale.instruction<wgmma, 64x64x16, unscaled, bf16, f16, none, 0>}

// -----

// expected-error@+1 {{expected 64x8 (to 256 in steps of 8)x16 for wgmma.mma_async, got 64x12x16}}
func.func private @instruction_columns() attributes {i = #blockscale.instruction<wgmma, 64x12x16, unscaled, bf16, bf16, none, 0>}

// -----

// expected-error@+1 {{expected a dense instruction of wgmma, got kind::unscaled.scale_vec::1X of bf16 times bf16 with ue8m0 scales}}
func.func private @instruction_scales() attributes {i = #blockscale.instruction<wgmma, 64x64x16, unscaled, bf16, bf16, ue8m0, 1>}
