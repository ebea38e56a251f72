// Violated constraints of tile_mma with an instruction of the path dequant_mma, and
// of accumulators with interleaved groups.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// #blockscale.warps
//===----------------------------------------------------------------------===//

func.func private @interleave_sizes() attributes {
  // expected-error@+1 {{expected the rows and columns of warps, such as <2x2>, or <2x2, interleave = 1x2>}}
  a = #blockscale.warps<2x2, interleave = 2>
}

// -----

func.func private @interleave_keyword() attributes {
  // expected-error@+1 {{expected 'interleave'}}
  a = #blockscale.warps<2x2, turns = 1x2>
}

// -----

func.func private @interleave_three() attributes {
  // expected-error@+1 {{expected 1, 2 or 4 interleaved groups, got 3}}
  a = #blockscale.warps<2x2, interleave = 3x1>
}

// -----

func.func private @interleave_eight() attributes {
  // expected-error@+1 {{expected 1, 2 or 4 interleaved groups, got 8}}
  a = #blockscale.warps<2x2, interleave = 1x8>
}

// -----

// expected-error@+1 {{expected multiples of 8x16 for the interleaved groups of a warp, got 16x8}}
func.func private @interleave_n(!blockscale.acc<32x16, #blockscale.warps<2x2, interleave = 1x2>>)

// -----

// expected-error@+1 {{expected multiples of 32x8 for the interleaved groups of a warp, got 16x8}}
func.func private @interleave_m(!blockscale.acc<16x8, #blockscale.warps<1x1, interleave = 4x1>>)

// -----

//===----------------------------------------------------------------------===//
// Attributes of instructions
//===----------------------------------------------------------------------===//

// expected-error@+1 {{expected 16x8x32 for mma.sync.m16n8k16.f32.bf16.bf16.f32, got 16x8x16}}
func.func private @instruction_k() attributes {i = #blockscale.instruction<dequant_mma, 16x8x16, bf16, e4m3, e4m3, ue8m0, 1>}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (T5) Layouts
//===----------------------------------------------------------------------===//

// fp6 with padding is unpacked from rows along K only.
!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<128x16xi8, #gpu.address_space<workgroup>>
!sb = memref<16x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x16, #blockscale.warps<1x1, interleave = 1x2>>
func.func @tile_mma_t5_padded_mn(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b to have a layout that kind::bf16 takes for elements of 6 bits, one of <k, slots> <k, padded> <mn, slots>, got <mn, padded>}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e3m2, ue8m0, 32>
       instruction = <dequant_mma, 16x8x32, bf16, e4m3, e3m2, ue8m0, 1>
       {b_layout = #blockscale.tile_layout<mn, padded>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

// fp4 is packed, or has a byte of its own.
!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_t5_padded_fp4(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b to have a layout that kind::bf16 takes for elements of 4 bits, one of <k, slots> <k, packed> <mn, slots> <mn, packed>, got <k, padded>}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e2m1, ue8m0, 32>
       instruction = <dequant_mma, 16x8x32, bf16, e4m3, e2m1, ue8m0, 1>
       {b_layout = #blockscale.tile_layout<k, padded>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<16x64xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_t5_packed_fp8(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b to have a layout that kind::bf16 takes for elements of 8 bits, one of <k, slots> <mn, slots>, got <k, packed>}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e2m1, e5m2, ue8m0, 32>
       instruction = <dequant_mma, 16x8x32, bf16, e2m1, e5m2, ue8m0, 1>
       {a_layout = #blockscale.tile_layout<k, packed>, b_layout = #blockscale.tile_layout<k, packed>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

// `packed` is for slots of bytes: the slots of bf16_packed are packed.
!a = memref<16x64xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x64xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_t5_packed_twice(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a to have a layout that kind::bf16_packed takes for elements of 4 bits, one of <k, slots> <mn, slots>, got <k, packed>}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e2m1, e2m1, ue8m0, 32>
       instruction = <dequant_mma, 16x8x64, bf16_packed, e2m1, e2m1, ue8m0, 2>
       {a_layout = #blockscale.tile_layout<k, packed>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (W1) Interleaved groups, (W2) rows of a warp
//===----------------------------------------------------------------------===//

!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<128x16xi8, #gpu.address_space<workgroup>>
!sb = memref<16x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x16, #blockscale.warps<1x1>>
func.func @tile_mma_w1_turns(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected an accumulator with 2 interleaved groups of b, got '!blockscale.acc<16x16, #blockscale.warps<1x1>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <dequant_mma, 16x8x32, bf16, e4m3, e5m2, ue8m0, 1>
       {b_layout = #blockscale.tile_layout<mn, slots>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

// Packed elements: four in the 16 bits that are transposed.
!a = memref<128x32xi8, #gpu.address_space<workgroup>>
!sa = memref<64x4xi8, #gpu.address_space<workgroup>>
!b = memref<16x64xi8, #gpu.address_space<workgroup>>
!sb = memref<16x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x16, #blockscale.warps<1x1, interleave = 2x1>>
func.func @tile_mma_w1_four(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected an accumulator with 4 interleaved groups of a, got '!blockscale.acc<64x16, #blockscale.warps<1x1, interleave = 2x1>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e2m1, e2m1, ue8m0, 32>
       instruction = <dequant_mma, 16x8x64, bf16_packed, e2m1, e2m1, ue8m0, 2>
       {a_layout = #blockscale.tile_layout<mn, slots>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

// Rows along K are not interleaved.
!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<16x128xi8, #gpu.address_space<workgroup>>
!sb = memref<16x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x16, #blockscale.warps<1x1, interleave = 1x2>>
func.func @tile_mma_w1_k(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected an accumulator with 1 interleaved groups of b, got '!blockscale.acc<16x16, #blockscale.warps<1x1, interleave = 1x2>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <dequant_mma, 16x8x32, bf16, e4m3, e5m2, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

// Neither are those of block-scaled instructions.
!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<128x16xi8, #gpu.address_space<workgroup>>
!sb = memref<16x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x16, #blockscale.warps<1x1, interleave = 1x2>>
func.func @tile_mma_w1_mma_sync(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected an accumulator with 1 interleaved groups of b, got '!blockscale.acc<16x16, #blockscale.warps<1x1, interleave = 1x2>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {b_layout = #blockscale.tile_layout<mn, slots>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// load_matrix (D2)
//===----------------------------------------------------------------------===//

!tile = memref<8x64xi8, #gpu.address_space<workgroup>>
func.func @load_matrix_d2(%tile: !tile, %at: index) {
  // expected-error@+1 {{'blockscale.load_matrix' op expected code_bits to be 4, 6 or 8, or 16 where it is transposed, got 16}}
  %0 = blockscale.load_matrix %tile[%at] code_bits = 16 : !tile -> vector<4xi32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Mixed input
//===----------------------------------------------------------------------===//

func.func @scales_of_high_precision(%a: memref<16x256xi8, #gpu.address_space<workgroup>>, %sa: memref<16x4xi8, #gpu.address_space<workgroup>>,
    %b: memref<8x128xi8, #gpu.address_space<workgroup>>, %sb: memref<8x4xi8, #gpu.address_space<workgroup>>, %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>) {
  // expected-error@+1 {{expected an i8 for a_scale with mixed input, got 'memref<16x4xi8, #gpu.address_space<workgroup>>'}}
  blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <bf16, e4m3, ue8m0, 32> instruction = <dequant_mma, 16x8x32, bf16, bf16, e4m3, ue8m0, 1>
    : memref<16x256xi8, #gpu.address_space<workgroup>>, memref<16x4xi8, #gpu.address_space<workgroup>>, memref<8x128xi8, #gpu.address_space<workgroup>>, memref<8x4xi8, #gpu.address_space<workgroup>>, !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}

// -----

func.func @tensor_scale_of_elements(%a: memref<16x128xi8, #gpu.address_space<workgroup>>, %sa: i8, %g: f32,
    %b: memref<8x128xi8, #gpu.address_space<workgroup>>, %sb: memref<8x4xi8, #gpu.address_space<workgroup>>, %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>) {
  // expected-error@+1 {{expected a tensor_scale only with mixed input, got the types #blockscale.type_combination<e4m3, e4m3, ue8m0, 32>}}
  blockscale.tile_mma %a, %sa, %b, %sb, %acc tensor_scale %g types = <e4m3, e4m3, ue8m0, 32> instruction = <dequant_mma, 16x8x32, bf16, e4m3, e4m3, ue8m0, 1>
    : memref<16x128xi8, #gpu.address_space<workgroup>>, i8, memref<8x128xi8, #gpu.address_space<workgroup>>, memref<8x4xi8, #gpu.address_space<workgroup>>, !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}

// -----

// Rows of A have two bytes for each element.

func.func @bytes_of_high_precision(%a: memref<16x128xi8, #gpu.address_space<workgroup>>, %sa: i8,
    %b: memref<8x128xi8, #gpu.address_space<workgroup>>, %sb: memref<8x4xi8, #gpu.address_space<workgroup>>, %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>) {
  // expected-error@+1 {{expected a to have 256 bytes per row for 128 elements, got 128}}
  blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <f16, e4m3, ue8m0, 32> instruction = <dequant_mma, 16x8x32, bf16, f16, e4m3, ue8m0, 1>
    : memref<16x128xi8, #gpu.address_space<workgroup>>, i8, memref<8x128xi8, #gpu.address_space<workgroup>>, memref<8x4xi8, #gpu.address_space<workgroup>>, !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}

// -----

func.func @row_without_instruction(%a: memref<16x256xi8, #gpu.address_space<workgroup>>, %sa: i8,
    %b: memref<8x128xi8, #gpu.address_space<workgroup>>, %sb: memref<8x4xi8, #gpu.address_space<workgroup>>, %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>) {
  // expected-error@+1 {{expected a legal type combination, got e4m3 times bf16 with ue8m0 scales and a block size of 32}}
  blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, bf16, ue8m0, 32> instruction = <dequant_mma, 16x8x32, bf16, bf16, e4m3, ue8m0, 1>
    : memref<16x256xi8, #gpu.address_space<workgroup>>, i8, memref<8x128xi8, #gpu.address_space<workgroup>>, memref<8x4xi8, #gpu.address_space<workgroup>>, !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}
