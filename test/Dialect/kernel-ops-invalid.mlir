// Every constraint of the ops below the tile level, broken.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

// expected-error@+2 {{expected one of decompose mma_sync tcgen05 dequant_mma wgmma, got 'wmma'}}
// expected-error@+1 {{failed to parse BlockScale_PathAttr parameter 'value'}}
func.func private @path() attributes {p = #blockscale.path<wmma>}

// -----

// expected-error@+2 {{expected one of e4m3 e5m2 e3m2 e2m3 e2m1 ue8m0 ue4m3 bf16 f16 none, got 'f32'}}
// expected-error@+1 {{failed to parse BlockScale_TypeCombinationAttr parameter 'b'}}
func.func private @format() attributes {r = #blockscale.type_combination<e4m3, f32, ue8m0, 32>}

// -----

// expected-error@+1 {{expected one of mxf8f6f4 mxf4 mxf4nvf4 bf16 bf16_packed unscaled fp8, got 'f8f6f4'}}
func.func private @kind() attributes {i = #blockscale.instruction<mma_sync, 16x8x32, f8f6f4, e4m3, e4m3, ue8m0, 1>}

// -----

// expected-error@+1 {{expected MxNxK, such as 16x8x32}}
func.func private @instruction_sizes() attributes {i = #blockscale.instruction<mma_sync, 16x8, mxf8f6f4, e4m3, e4m3, ue8m0, 1>}

// -----

// expected-error@+1 {{expected 16x8x32 for mma.sync.kind::mxf8f6f4.block_scale.scale_vec::1X, got 16x16x32}}
func.func private @instruction_shape() attributes {i = #blockscale.instruction<mma_sync, 16x16x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>}

// -----

// Where N is chosen, it is a multiple.
// expected-error@+1 {{expected 128 (256 for pairs of CTAs)x8 (to 256 in steps of 8)x64 for tcgen05.mma.kind::mxf4.block_scale.block32, got 128x260x64}}
func.func private @instruction_n() attributes {i = #blockscale.instruction<tcgen05, 128x260x64, mxf4, e2m1, e2m1, ue8m0, 2>}

// -----

// expected-error@+1 {{unknown target 'sm_120': block-scaled instructions need the letter, expected sm_120a or sm_120f}}
module attributes {blockscale.target = #blockscale.target<sm_120>} {}

// -----

func.func private @scale_order() attributes {
  // expected-error@+2 {{expected one of rows lanes parts atoms, got 'columns'}}
  // expected-error@+1 {{failed to parse BlockScale_ScaleTileLayoutAttr parameter 'order'}}
  s = #blockscale.scale_tile_layout<columns>
}

// -----

// expected-error@+1 {{expected a legal type combination, got e4m3 times e2m1 with ue8m0 scales and a block size of 16}}
func.func private @row_block_size() attributes {r = #blockscale.type_combination<e4m3, e2m1, ue8m0, 16>}

// -----

// expected-error@+1 {{expected a legal type combination, got e2m1 times e2m1 with ue4m3 scales and a block size of 32}}
func.func private @row_scale() attributes {r = #blockscale.type_combination<e2m1, e2m1, ue4m3, 32>}

// -----

// expected-error@+1 {{expected a legal type combination, got ue8m0 times e2m1 with ue8m0 scales and a block size of 32}}
func.func private @row_scale_as_element() attributes {r = #blockscale.type_combination<ue8m0, e2m1, ue8m0, 32>}

// -----

// expected-error@+1 {{expected 1 to 32 warps, got 0x1}}
func.func private @acc_no_warps(!blockscale.acc<16x8, #blockscale.warps<0x1>>)

// -----

// expected-error@+1 {{expected 1 to 32 warps, got 8x8}}
func.func private @acc_too_many_warps(!blockscale.acc<128x64, #blockscale.warps<8x8>>)

// -----

// expected-error@+1 {{expected multiples of 16x8 for each of 2x1 warps, got 48x8}}
func.func private @acc_rows(!blockscale.acc<48x8, #blockscale.warps<2x1>>)

// -----

// expected-error@+1 {{expected multiples of 16x8 for each of 1x2 warps, got 16x24}}
func.func private @acc_columns(!blockscale.acc<16x24, #blockscale.warps<1x2>>)

// -----

// expected-error@+1 {{expected multiples of 16x8 for each of 1x1 warps, got 0x8}}
func.func private @acc_empty(!blockscale.acc<0x8, #blockscale.warps<1x1>>)

// -----

// A lane holds at most 1024 elements.
// expected-error@+1 {{expected at most 1024 elements for each lane of 1x1 warps, got 128x264}}
func.func private @acc_too_large(!blockscale.acc<128x264, #blockscale.warps<1x1>>)

// -----

// The product of the sizes is 2^64.
// expected-error@+1 {{expected at most 65536 rows and columns, got 4294967296x4294967296}}
func.func private @acc_without_end(!blockscale.acc<4294967296x4294967296, #blockscale.warps<1x1>>)

// -----

// A lane would hold 1024 elements.
// expected-error@+1 {{expected at most 65536 rows and columns, got 131072x8}}
func.func private @acc_too_long(!blockscale.acc<131072x8, #blockscale.warps<32x1>>)

// -----

// expected-error@+1 {{expected MxN and the layout of an accumulator, such as <64x64, #blockscale.warps<2x2>>}}
func.func private @acc_rank(!blockscale.acc<16x8x2, #blockscale.warps<1x1>>)

// -----

// expected-error@+1 {{expected MxN and the layout of an accumulator, such as <64x64, #blockscale.warps<2x2>>}}
func.func private @acc_layout(!blockscale.acc<16x8, 3 : i64>)

// -----

// expected-error@+1 {{expected the rows and columns of warps, such as <2x2>}}
func.func private @warps_rank(!blockscale.acc<16x8, #blockscale.warps<1>>)

// -----

//===----------------------------------------------------------------------===//
// tile_mma (T1) Static shapes, identity layout, workgroup memory
//===----------------------------------------------------------------------===//

!a = memref<?x128xi8, #gpu.address_space<workgroup>>
!sa = memref<64x4xi8, #gpu.address_space<workgroup>>
!b = memref<32x128xi8, #gpu.address_space<workgroup>>
!sb = memref<32x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t1_dynamic(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a to have a static shape, the identity layout and the workgroup memory space, got 'memref<?x128xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<64x4xi8, strided<[8, 1]>, #gpu.address_space<workgroup>>
!b = memref<32x128xi8, #gpu.address_space<workgroup>>
!sb = memref<32x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t1_strided(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a_scale to have a static shape, the identity layout and the workgroup memory space, got 'memref<64x4xi8, strided<[8, 1]>, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<64x4xi8, #gpu.address_space<workgroup>>
!b = memref<32x128xi8>
!sb = memref<32x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t1_global(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b to have a static shape, the identity layout and the workgroup memory space, got 'memref<32x128xi8>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (T2) M and N of the accumulator
//===----------------------------------------------------------------------===//

!a = memref<32x128xi8, #gpu.address_space<workgroup>>
!sa = memref<64x4xi8, #gpu.address_space<workgroup>>
!b = memref<32x128xi8, #gpu.address_space<workgroup>>
!sb = memref<32x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t2_a(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a to have the 64 rows that '!blockscale.acc<64x32, #blockscale.warps<2x1>>' has, got 32}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<32x4xi8, #gpu.address_space<workgroup>>
!b = memref<32x128xi8, #gpu.address_space<workgroup>>
!sb = memref<32x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t2_a_scale(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a_scale to have the 64 rows that '!blockscale.acc<64x32, #blockscale.warps<2x1>>' has, got 32}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<64x4xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>
!sb = memref<32x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t2_b(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b to have the 32 rows that '!blockscale.acc<64x32, #blockscale.warps<2x1>>' has, got 64}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<64x4xi8, #gpu.address_space<workgroup>>
!b = memref<32x128xi8, #gpu.address_space<workgroup>>
!sb = memref<64x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t2_b_scale(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b_scale to have the 32 rows that '!blockscale.acc<64x32, #blockscale.warps<2x1>>' has, got 64}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (T3) Multiples of the instruction's K, and of 4 scales
//===----------------------------------------------------------------------===//

!a = memref<64x64xi8, #gpu.address_space<workgroup>>
!sa = memref<64x2xi8, #gpu.address_space<workgroup>>
!b = memref<32x64xi8, #gpu.address_space<workgroup>>
!sb = memref<32x2xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t3_scales(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected K_s to be a multiple of 4 and K of 32, got 2 and 64}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x0xi8, #gpu.address_space<workgroup>>
!sa = memref<64x0xi8, #gpu.address_space<workgroup>>
!b = memref<32x0xi8, #gpu.address_space<workgroup>>
!sb = memref<32x0xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t3_empty(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected K_s to be a multiple of 4 and K of 64, got 0 and 0}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e2m1, e2m1, ue8m0, 16>
       instruction = <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<64x4xi8, #gpu.address_space<workgroup>>
!b = memref<32x128xi8, #gpu.address_space<workgroup>>
!sb = memref<32x8xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t3_two_k(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a_scale and b_scale to have one K_s, got 4 and 8}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (T4) Bytes of K elements
//===----------------------------------------------------------------------===//

!a = memref<64x64xi8, #gpu.address_space<workgroup>>
!sa = memref<64x4xi8, #gpu.address_space<workgroup>>
!b = memref<32x128xi8, #gpu.address_space<workgroup>>
!sb = memref<32x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t4_a(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a to have 128 bytes per row for 128 elements, got 64}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

// With another format, fp4 has a byte per element.
!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<64x4xi8, #gpu.address_space<workgroup>>
!b = memref<32x64xi8, #gpu.address_space<workgroup>>
!sb = memref<32x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t4_b(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b to have 128 bytes per row for 128 elements, got 64}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x64xi8, #gpu.address_space<workgroup>>
!sa = memref<64x4xi8, #gpu.address_space<workgroup>>
!b = memref<32x64xi8, #gpu.address_space<workgroup>>
!sb = memref<32x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>
func.func @tile_mma_t4_packed(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a to have 32 bytes per row for 64 elements, got 64}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e2m1, e2m1, ue4m3, 16>
       instruction = <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// acc_load and acc_store
//===----------------------------------------------------------------------===//

func.func @acc_load_indices(%c: memref<16x8xf32>, %i: index) {
  // expected-error@+1 {{'blockscale.acc_load' op expected one index for each of 2 dimensions, got 1}}
  %0 = blockscale.acc_load %c[%i]
       : memref<16x8xf32> -> !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}

// -----

func.func @acc_store_indices(%acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>,
                             %d: memref<2x16x8xf32>, %i: index) {
  // expected-error@+1 {{'blockscale.acc_store' op expected one index for each of 3 dimensions, got 2}}
  blockscale.acc_store %acc, %d[%i, %i]
      : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<2x16x8xf32>
  return
}

// -----

func.func @acc_load_rank(%c: memref<8xf32>, %i: index) {
  // expected-error@+1 {{'blockscale.acc_load' op operand #0 must be 2D/3D memref of 32-bit float values, but got 'memref<8xf32>'}}
  %0 = blockscale.acc_load %c[%i]
       : memref<8xf32> -> !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}

// -----

//===----------------------------------------------------------------------===//
// mma_sync (M1) The 28 instructions
//===----------------------------------------------------------------------===//

func.func @mma_sync_m1_ptx_9_1(%a: vector<4xi32>, %b: vector<2xi32>,
                               %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{expected a dense instruction of mma_sync, got kind::mxf4nvf4.scale_vec::4X of e2m1 times e2m1 with ue8m0 scales, which needs PTX 9.1}}
  %0 = blockscale.mma_sync <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue8m0, 4>
       %a, %b, %c, %s[0, 0], %s[0, 0]
  return
}

// -----

func.func @mma_sync_m1_format(%a: vector<4xi32>, %b: vector<2xi32>,
                              %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{expected a dense instruction of mma_sync, got kind::mxf4.scale_vec::2X of e4m3 times e2m1 with ue8m0 scales}}
  %0 = blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e4m3, e2m1, ue8m0, 2>
       %a, %b, %c, %s[0, 0], %s[0, 0]
  return
}

// -----

func.func @mma_sync_m1_scale(%a: vector<4xi32>, %b: vector<2xi32>,
                             %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{got kind::mxf8f6f4.scale_vec::1X of e4m3 times e2m1 with ue4m3 scales}}
  %0 = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue4m3, 1>
       %a, %b, %c, %s[0, 0], %s[0, 0]
  return
}

// -----

func.func @mma_sync_m1_scale_vec(%a: vector<4xi32>, %b: vector<2xi32>,
                                 %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{got kind::mxf8f6f4.scale_vec::2X of e4m3 times e2m1 with ue8m0 scales}}
  %0 = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 2>
       %a, %b, %c, %s[0, 0], %s[0, 0]
  return
}

// -----

func.func @mma_sync_m1_path(%a: vector<4xi32>, %b: vector<2xi32>,
                            %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{'blockscale.mma_sync' op expected a dense instruction of mma_sync, got #blockscale.instruction<tcgen05, 128x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>}}
  %d = blockscale.mma_sync <tcgen05, 128x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1> %a, %b, %c, %s[0, 0], %s[0, 0]
  return
}

// -----

//===----------------------------------------------------------------------===//
// mma_sync (M2) Selectors of Table 37
//===----------------------------------------------------------------------===//

func.func @mma_sync_m2_a_byte_1x(%a: vector<4xi32>, %b: vector<2xi32>,
                                 %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{'blockscale.mma_sync' op expected the byte selector of a_scale to be one of 0, 1, 2, 3 for scale_vec::1X, got 4}}
  %0 = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       %a, %b, %c, %s[4, 0], %s[0, 0]
  return
}

// -----

func.func @mma_sync_m2_a_byte_negative(%a: vector<4xi32>, %b: vector<2xi32>,
                                       %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{'blockscale.mma_sync' op expected the byte selector of a_scale to be one of 0, 1, 2, 3 for scale_vec::1X, got -1}}
  %0 = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       %a, %b, %c, %s[-1, 0], %s[0, 0]
  return
}

// -----

func.func @mma_sync_m2_b_byte_2x(%a: vector<4xi32>, %b: vector<2xi32>,
                                 %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{'blockscale.mma_sync' op expected the byte selector of b_scale to be one of 0, 2 for scale_vec::2X, got 1}}
  %0 = blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
       %a, %b, %c, %s[2, 0], %s[1, 0]
  return
}

// -----

func.func @mma_sync_m2_b_byte_4x(%a: vector<4xi32>, %b: vector<2xi32>,
                                 %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{'blockscale.mma_sync' op expected the byte selector of b_scale to be one of 0 for scale_vec::4X, got 2}}
  %0 = blockscale.mma_sync <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
       %a, %b, %c, %s[0, 0], %s[2, 0]
  return
}

// -----

func.func @mma_sync_m2_a_thread(%a: vector<4xi32>, %b: vector<2xi32>,
                                %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{'blockscale.mma_sync' op expected the thread selector of a_scale to be 0 to 1, got 2}}
  %0 = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       %a, %b, %c, %s[0, 2], %s[0, 3]
  return
}

// -----

func.func @mma_sync_m2_b_thread(%a: vector<4xi32>, %b: vector<2xi32>,
                                %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{'blockscale.mma_sync' op expected the thread selector of b_scale to be 0 to 3, got 4}}
  %0 = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       %a, %b, %c, %s[0, 1], %s[0, 4]
  return
}

// -----

//===----------------------------------------------------------------------===//
// pack and unpack (K1)
//===----------------------------------------------------------------------===//

func.func @unpack_k1_dynamic_row(%x: tensor<3x?xi8>) {
  // expected-error@+1 {{'blockscale.unpack' op expected last sizes that are both static or both dynamic, got 'tensor<3x?xi8>' and 'tensor<3x32xf4E2M1FN>'}}
  %0 = blockscale.unpack %x : tensor<3x?xi8> to tensor<3x32xf4E2M1FN>
  return
}

// -----

func.func @unpack_k1_encoding(%x: tensor<3x16xi8, "blocked">) {
  // expected-error@+1 {{'blockscale.unpack' op expected tensors without encoding, got 'tensor<3x16xi8, "blocked">' and 'tensor<3x32xf4E2M1FN>'}}
  %0 = blockscale.unpack %x : tensor<3x16xi8, "blocked"> to tensor<3x32xf4E2M1FN>
  return
}

// -----

func.func @unpack_k1_rows(%x: tensor<3x16xi8>) {
  // expected-error@+1 {{'blockscale.unpack' op expected shapes that differ in the last size only, got 'tensor<3x16xi8>' and 'tensor<4x32xf4E2M1FN>'}}
  %0 = blockscale.unpack %x : tensor<3x16xi8> to tensor<4x32xf4E2M1FN>
  return
}

// -----

func.func @unpack_k1_scalar(%x: tensor<i8>) {
  // expected-error@+1 {{'blockscale.unpack' op expected shapes that differ in the last size only, got 'tensor<i8>' and 'tensor<f4E2M1FN>'}}
  %0 = blockscale.unpack %x : tensor<i8> to tensor<f4E2M1FN>
  return
}

// -----

func.func @unpack_k1_bytes(%x: tensor<3x32xi8>) {
  // expected-error@+1 {{'blockscale.unpack' op expected 24 bytes per row for 32 elements of 6 bits, got 32}}
  %0 = blockscale.unpack %x : tensor<3x32xi8> to tensor<3x32xf6E2M3FN>
  return
}

// -----

func.func @pack_k1_bytes(%x: tensor<3x32xf4E2M1FN>) {
  // expected-error@+1 {{'blockscale.pack' op expected 16 bytes per row for 32 elements of 4 bits, got 24}}
  %0 = blockscale.pack %x : tensor<3x32xf4E2M1FN> to tensor<3x24xi8>
  return
}

// -----

func.func @unpack_k1_overflow(%x: tensor<1x8xi8>) {
  // expected-error@+1 {{'blockscale.unpack' op expected whole bytes per row for 9223372036854775804 elements of 6 bits, got 8}}
  %0 = blockscale.unpack %x
       : tensor<1x8xi8> to tensor<1x9223372036854775804xf6E2M3FN>
  return
}

// -----

func.func @pack_k1_remainder(%x: tensor<3x5xf4E2M1FN>) {
  // expected-error@+1 {{'blockscale.pack' op expected whole bytes per row for 5 elements of 4 bits, got 2}}
  %0 = blockscale.pack %x : tensor<3x5xf4E2M1FN> to tensor<3x2xi8>
  return
}

// -----

//===----------------------------------------------------------------------===//
// launch (L1) Three positive sizes
//===----------------------------------------------------------------------===//

func.func @launch_l1_blocks(%d: tensor<4xf32>) {
  // expected-error@+1 {{'blockscale.launch' op expected three positive sizes of blocks, got 1, 1}}
  %0 = blockscale.launch @k::@f blocks = [1, 1] threads = [32, 1, 1]
       ins() outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @launch_l1_operands(%d: tensor<4xf32>, %n: index) {
  // expected-error@+1 {{'blockscale.launch' op expected an operand for each of 2 dynamic sizes of blocks, got 1}}
  %0 = "blockscale.launch"(%n, %d) <{
      kernel = @k::@f, operandSegmentSizes = array<i32: 1, 0, 1>,
      staticBlocks = array<i64: -9223372036854775808, 1, -9223372036854775808>,
      threads = array<i64: 32, 1, 1>}>
      : (index, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @launch_l1_dynamic_threads(%d: tensor<4xf32>) {
  // expected-error@+1 {{'blockscale.launch' op expected three positive sizes of threads, got -9223372036854775808, 1, 1}}
  %0 = "blockscale.launch"(%d) <{
      kernel = @k::@f, operandSegmentSizes = array<i32: 0, 0, 1>,
      staticBlocks = array<i64: 1, 1, 1>,
      threads = array<i64: -9223372036854775808, 1, 1>}>
      : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @launch_l1_threads(%d: tensor<4xf32>) {
  // expected-error@+1 {{'blockscale.launch' op expected three positive sizes of threads, got 32, 0, 1}}
  %0 = blockscale.launch @k::@f blocks = [1, 1, 1] threads = [32, 0, 1]
       ins() outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @launch_l2_sizes(%d: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'blockscale.launch' op expected three positive sizes of a cluster, got 2, 0, 1}}
  %0 = blockscale.launch @k::@f blocks = [2, 1, 1] threads = [32, 1, 1]
       cluster = [2, 0, 1] ins() outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @launch_l2_divides(%n: index, %d: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'blockscale.launch' op expected sizes of a cluster that divide the blocks, got 2, 2, 1}}
  %0 = blockscale.launch @k::@f blocks = [%n, 3, 1] threads = [32, 1, 1]
       cluster = [2, 2, 1] ins() outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#map = #blockscale.tensor_map<"u1", sizes = affine_map<()[m, k] -> (m, k)>,
                              strides = affine_map<()[m, k] -> (k)>,
                              box = [4, 16], element_strides = [1, 1],
                              swizzle = "none", fill = "zero", l2 = "none">
func.func @launch_l3_number(%d: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'blockscale.launch' op expected a number of an operand for each of 1 tensor maps, got 2}}
  %0 = blockscale.launch @k::@f blocks = [2, 1, 1] threads = [32, 1, 1]
       tensor_maps = [#map] of [0, 0]
       ins() outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#map = #blockscale.tensor_map<"u1", sizes = affine_map<()[m, k] -> (m, k)>,
                              strides = affine_map<()[m, k] -> (k)>,
                              box = [4, 16], element_strides = [1, 1],
                              swizzle = "none", fill = "zero", l2 = "none">
func.func @launch_l3_tensor(%v: f32, %d: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'blockscale.launch' op expected the number of a tensor among 2 inputs and outputs, got 0}}
  %0 = blockscale.launch @k::@f blocks = [2, 1, 1] threads = [32, 1, 1]
       tensor_maps = [#map] of [0]
       ins(%v : f32) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#map = #blockscale.tensor_map<"u1", sizes = affine_map<()[m, k] -> (m, k)>,
                              strides = affine_map<()[m, k] -> (k)>,
                              box = [4, 16], element_strides = [1, 1],
                              swizzle = "none", fill = "zero", l2 = "none">
func.func @launch_l3_rank(%d: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'blockscale.launch' op expected a tensor map of 1 symbols, one for each dimension of the memory, got 2}}
  %0 = blockscale.launch @k::@f blocks = [2, 1, 1] threads = [32, 1, 1]
       tensor_maps = [#map] of [0]
       ins() outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#map = #blockscale.tensor_map<"u1", sizes = affine_map<()[m, k] -> (m, k)>,
                              strides = affine_map<()[m, k] -> (k)>,
                              box = [4, 16], element_strides = [1, 1],
                              swizzle = "none", fill = "zero", l2 = "none">
func.func @tensor_map_m1(%x: memref<4x8x16xi8>) {
  // expected-error@+1 {{'blockscale.tensor_map' op expected a tensor map of 3 symbols, one for each dimension of the memory, got 2}}
  %map = blockscale.tensor_map %x : memref<4x8x16xi8> with #map
  return
}

// -----

// expected-error@+1 {{expected 1 to 5 values in box, as many in element_strides and in sizes, and one less in strides, got 2, 2, 2 and 2}}
#map = #blockscale.tensor_map<"u1", sizes = affine_map<()[m, k] -> (m, k)>,
                              strides = affine_map<()[m, k] -> (k, 1)>,
                              box = [4, 16], element_strides = [1, 1],
                              swizzle = "none", fill = "zero", l2 = "none">

// -----

// expected-error@+1 {{expected maps of the same symbols and of no dimensions, got}}
#map = #blockscale.tensor_map<"u1", sizes = affine_map<(m)[k] -> (m, k)>,
                              strides = affine_map<()[m, k] -> (k)>,
                              box = [4, 16], element_strides = [1, 1],
                              swizzle = "none", fill = "zero", l2 = "none">
