// Every constraint of load_fragments and fragments_mma, broken.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

func.func @f1_scales(%a: memref<64x64xi8, #gpu.address_space<workgroup>>, %b: memref<32x64xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'blockscale.load_fragments' op expected an instruction of a warp without scales, got #blockscale.instruction<dequant_mma, 16x8x32, bf16, e4m3, e4m3, ue8m0, 1>}}
  %0 = blockscale.load_fragments %a, %b step = 0 of !blockscale.acc<64x32, #blockscale.warps<2x1>>
       instruction = <dequant_mma, 16x8x32, bf16, e4m3, e4m3, ue8m0, 1>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : memref<64x64xi8, #gpu.address_space<workgroup>>, memref<32x64xi8, #gpu.address_space<workgroup>> -> <16>
  return
}

// -----

func.func @f1_warpgroup(%a: memref<64x64xi8, #gpu.address_space<workgroup>>, %b: memref<32x64xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'blockscale.load_fragments' op expected an instruction of a warp without scales, got #blockscale.instruction<wgmma, 64x8x16, unscaled, bf16, bf16, none, 0>}}
  %0 = blockscale.load_fragments %a, %b step = 0 of !blockscale.acc<64x32, #blockscale.warps<2x1>>
       instruction = <wgmma, 64x8x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : memref<64x64xi8, #gpu.address_space<workgroup>>, memref<32x64xi8, #gpu.address_space<workgroup>> -> <16>
  return
}

// -----

func.func @f1_interleave(%a: memref<64x64xi8, #gpu.address_space<workgroup>>, %b: memref<32x64xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'blockscale.load_fragments' op expected an accumulator in warps, without interleaving, got '!blockscale.acc<64x32, #blockscale.warps<2x1, interleave = 1x2>>'}}
  %0 = blockscale.load_fragments %a, %b step = 0 of !blockscale.acc<64x32, #blockscale.warps<2x1, interleave = 1x2>>
       instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : memref<64x64xi8, #gpu.address_space<workgroup>>, memref<32x64xi8, #gpu.address_space<workgroup>> -> <16>
  return
}

// -----

func.func @f2_memory(%a: memref<64x64xi8>, %b: memref<32x64xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'blockscale.load_fragments' op expected a to have a static shape, the identity layout and the workgroup memory space, got 'memref<64x64xi8>'}}
  %0 = blockscale.load_fragments %a, %b step = 0 of !blockscale.acc<64x32, #blockscale.warps<2x1>>
       instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : memref<64x64xi8>, memref<32x64xi8, #gpu.address_space<workgroup>> -> <16>
  return
}

// -----

func.func @f2_rows(%a: memref<64x64xi8, #gpu.address_space<workgroup>>, %b: memref<16x64xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'blockscale.load_fragments' op expected b to have the 32 rows that '!blockscale.acc<64x32, #blockscale.warps<2x1>>' has, got 16}}
  %0 = blockscale.load_fragments %a, %b step = 0 of !blockscale.acc<64x32, #blockscale.warps<2x1>>
       instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : memref<64x64xi8, #gpu.address_space<workgroup>>, memref<16x64xi8, #gpu.address_space<workgroup>> -> <16>
  return
}

// -----

func.func @f2_bytes(%a: memref<64x64xi8, #gpu.address_space<workgroup>>, %b: memref<32x128xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'blockscale.load_fragments' op expected b to have 64 bytes per row for 32 elements, got 128}}
  %0 = blockscale.load_fragments %a, %b step = 0 of !blockscale.acc<64x32, #blockscale.warps<2x1>>
       instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : memref<64x64xi8, #gpu.address_space<workgroup>>, memref<32x128xi8, #gpu.address_space<workgroup>> -> <16>
  return
}

// -----

func.func @f2_k(%a: memref<64x48xi8, #gpu.address_space<workgroup>>, %b: memref<32x48xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'blockscale.load_fragments' op expected K to be a multiple of 16, got 24}}
  %0 = blockscale.load_fragments %a, %b step = 0 of !blockscale.acc<64x32, #blockscale.warps<2x1>>
       instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots>, <k, slots>
       : memref<64x48xi8, #gpu.address_space<workgroup>>, memref<32x48xi8, #gpu.address_space<workgroup>> -> <16>
  return
}

// -----

func.func @f2_layout(%a: memref<64x16xi8, #gpu.address_space<workgroup>>, %b: memref<32x64xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'blockscale.load_fragments' op expected a to have a layout that kind::unscaled takes for elements of 16 bits, one of <k, slots> <mn, slots>, got <k, packed>}}
  %0 = blockscale.load_fragments %a, %b step = 0 of !blockscale.acc<64x32, #blockscale.warps<2x1>>
       instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, packed>, <k, slots>
       : memref<64x16xi8, #gpu.address_space<workgroup>>, memref<32x64xi8, #gpu.address_space<workgroup>> -> <16>
  return
}

// -----

func.func @f2_transposed(%a: memref<64x64xi8, #gpu.address_space<workgroup>>, %b: memref<32x64xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'blockscale.load_fragments' op expected a warp to have a multiple of 16 rows of b, which is <mn>, got 8}}
  %0 = blockscale.load_fragments %a, %b step = 0 of !blockscale.acc<64x32, #blockscale.warps<1x4>>
       instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <mn, slots, swizzled>
       : memref<64x64xi8, #gpu.address_space<workgroup>>, memref<32x64xi8, #gpu.address_space<workgroup>> -> <18>
  return
}

// -----

func.func @f3(%a: memref<64x64xi8, #gpu.address_space<workgroup>>, %b: memref<32x64xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'blockscale.load_fragments' op expected a step below 2, got 2}}
  %0 = blockscale.load_fragments %a, %b step = 2 of !blockscale.acc<64x32, #blockscale.warps<2x1>>
       instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : memref<64x64xi8, #gpu.address_space<workgroup>>, memref<32x64xi8, #gpu.address_space<workgroup>> -> <16>
  return
}

// -----

func.func @f4(%a: memref<64x64xi8, #gpu.address_space<workgroup>>, %b: memref<32x64xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'blockscale.load_fragments' op expected 16 registers for a step of '!blockscale.acc<64x32, #blockscale.warps<2x1>>', got '!blockscale.fragments<15>'}}
  %0 = blockscale.load_fragments %a, %b step = 0 of !blockscale.acc<64x32, #blockscale.warps<2x1>>
       instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : memref<64x64xi8, #gpu.address_space<workgroup>>, memref<32x64xi8, #gpu.address_space<workgroup>> -> <15>
  return
}

// -----

func.func @f5(%fragments: !blockscale.fragments<8>, %acc: !blockscale.acc<64x32, #blockscale.warps<2x1>>) {
  // expected-error@+1 {{'blockscale.fragments_mma' op expected 16 registers for a step of '!blockscale.acc<64x32, #blockscale.warps<2x1>>', got '!blockscale.fragments<8>'}}
  %0 = blockscale.fragments_mma %fragments, %acc
       instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0> : <8>, <64x32, #blockscale.warps<2x1>>
  return
}

// -----

// expected-error@+1 {{expected 1 to 255 registers, got 256}}
func.func private @registers(!blockscale.fragments<256>)
