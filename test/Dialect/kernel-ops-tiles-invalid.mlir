// Every constraint of schedules, layouts and ops on tiles, broken.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// #blockscale.schedule
//===----------------------------------------------------------------------===//

func.func private @schedule_sizes() attributes {
  // expected-error@+1 {{expected three sizes of a tile and two numbers of warps, got 2 and 2}}
  a = #blockscale.multistage_schedule<tile = [64, 64], warps = [2, 2], stages = 1>
}

// -----

func.func private @schedule_warps() attributes {
  // expected-error@+1 {{expected three sizes of a tile and two numbers of warps, got 3 and 1}}
  a = #blockscale.multistage_schedule<tile = [64, 64, 128], warps = [2], stages = 1>
}

// -----

func.func private @schedule_no_stage() attributes {
  // expected-error@+1 {{expected 1 to 16 stages, got 0}}
  a = #blockscale.multistage_schedule<tile = [64, 64, 128], warps = [2, 2], stages = 0>
}

// -----

func.func private @schedule_too_many_stages() attributes {
  // expected-error@+1 {{expected 1 to 16 stages, got 17}}
  a = #blockscale.multistage_schedule<tile = [64, 64, 128], warps = [2, 2], stages = 17>
}

// -----

func.func private @schedule_small_k() attributes {
  // expected-error@+1 {{expected K of the tile to be a power of two from 32 to 1024, got 16}}
  a = #blockscale.multistage_schedule<tile = [64, 64, 16], warps = [2, 2], stages = 1>
}

// -----

func.func private @schedule_large_k() attributes {
  // expected-error@+1 {{expected K of the tile to be a power of two from 32 to 1024, got 2048}}
  a = #blockscale.multistage_schedule<tile = [64, 64, 2048], warps = [2, 2], stages = 1>
}

// -----

func.func private @schedule_odd_k() attributes {
  // expected-error@+1 {{expected K of the tile to be a power of two from 32 to 1024, got 384}}
  a = #blockscale.multistage_schedule<tile = [64, 64, 384], warps = [2, 2], stages = 1>
}

// -----

// A layout that is illegal for an accumulator is illegal in a schedule.
func.func private @schedule_acc() attributes {
  // expected-error@+1 {{expected multiples of 16x8 for each of 2x2 warps, got 16x64}}
  a = #blockscale.multistage_schedule<tile = [16, 64, 128], warps = [2, 2], stages = 1>
}

// -----

func.func private @schedule_warp_m() attributes {
  // expected-error@+1 {{expected M of a warp to be a power of two or a multiple of 32, got 48}}
  a = #blockscale.multistage_schedule<tile = [96, 64, 128], warps = [2, 2], stages = 1>
}

// -----

func.func private @schedule_warp_n() attributes {
  // expected-error@+1 {{expected N of a warp to be a power of two or a multiple of 32, got 24}}
  a = #blockscale.multistage_schedule<tile = [64, 48, 128], warps = [2, 2], stages = 1>
}

// -----

//===----------------------------------------------------------------------===//
// #blockscale.tile_layout
//===----------------------------------------------------------------------===//

func.func private @layout_major() attributes {
  // expected-error@+1 {{expected one of k mn, got 'm'}}
  a = #blockscale.tile_layout<m, slots>
}

// -----

func.func private @layout_storage() attributes {
  // expected-error@+1 {{expected one of slots bytes padded packed, got 'bits'}}
  a = #blockscale.tile_layout<k, bits>
}

// -----

func.func private @layout_swizzled() attributes {
  // expected-error@+1 {{expected 'swizzled'}}
  a = #blockscale.tile_layout<k, slots, xor>
}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (T1) Bytes
//===----------------------------------------------------------------------===//

!a = memref<2048x128xi8, #gpu.address_space<workgroup>>
!sa = memref<2048x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<2048x8, #blockscale.warps<32x1>>
func.func @tile_mma_t1_large(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a to have at most 232448 bytes, got 'memref<2048x128xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<1x?x32x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_t1_scale_rank_4(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b_scale to have a static shape, the identity layout and the workgroup memory space, got 'memref<1x?x32x4xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {b_scale_layout = #blockscale.scale_tile_layout<parts>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (T2) M and N, and scales in the order of lanes
//===----------------------------------------------------------------------===//

!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<16x16xi8, #gpu.address_space<workgroup>>
!sb = memref<16x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x16, #blockscale.warps<1x1>>
func.func @tile_mma_t2_steps(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b to have the 128 steps along K that '!blockscale.acc<16x16, #blockscale.warps<1x1>>' has, got 16}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {b_layout = #blockscale.tile_layout<mn, slots>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<1x32x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x8, #blockscale.warps<1x1>>
func.func @tile_mma_t2_groups(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a_scale to be of the shape G x 32 x 4W or W x P x 32 x 4Q, with 32 G or 32 P Q the 64 rows, and Q 1, 2 or 4, got 'memref<1x32x4xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {a_scale_layout = #blockscale.scale_tile_layout<lanes>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<32x128xi8, #gpu.address_space<workgroup>>
!sa = memref<2x16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<32x8, #blockscale.warps<1x1>>
func.func @tile_mma_t2_rows(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a_scale to be of the shape G x 32 x 4W or W x P x 32 x 4Q, with 32 G or 32 P Q the 32 rows, and Q 1, 2 or 4, got 'memref<2x16x4xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {a_scale_layout = #blockscale.scale_tile_layout<lanes>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<1x1x32x8xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_t2_parts(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b_scale to be of the shape G x 32 x 4W or W x P x 32 x 4Q, with 32 G or 32 P Q the 32 rows, and Q 1, 2 or 4, got 'memref<1x1x32x8xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {b_scale_layout = #blockscale.scale_tile_layout<parts>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<96x128xi8, #gpu.address_space<workgroup>>
!sa = memref<1x1x32x12xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<96x8, #blockscale.warps<1x1>>
func.func @tile_mma_t2_words(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a_scale to be of the shape G x 32 x 4W or W x P x 32 x 4Q, with 32 G or 32 P Q the 96 rows, and Q 1, 2 or 4, got 'memref<1x1x32x12xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {a_scale_layout = #blockscale.scale_tile_layout<parts>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (T3) K
//===----------------------------------------------------------------------===//

// A and the scales of B differ.
!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x256xi8, #gpu.address_space<workgroup>>
!sb = memref<2x1x32x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_t3_mixed(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a_scale and b_scale to have one K_s, got 4 and 8}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {b_scale_layout = #blockscale.scale_tile_layout<parts>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<16x64xi8, #gpu.address_space<workgroup>>
!sa = i8
!b = memref<8x64xi8, #gpu.address_space<workgroup>>
!sb = i8
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_t3_one_scale(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected K_s to be a multiple of 4 and K of 32, got 2 and 64}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (T4) Bytes of a row
//===----------------------------------------------------------------------===//

!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<128x64xi8, #gpu.address_space<workgroup>>
!sb = memref<32x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x32, #blockscale.warps<1x1>>
func.func @tile_mma_t4_mn(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b to have 32 bytes per row for 32 elements, got 64}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {b_layout = #blockscale.tile_layout<mn, slots>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

// Elements are padded, not packed.
!a = memref<16x64xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_t4_padded(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a to have 128 bytes per row for 128 elements, got 64}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e2m1, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e2m1, e5m2, ue8m0, 1>
       {a_layout = #blockscale.tile_layout<k, padded>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (T5) Layouts
//===----------------------------------------------------------------------===//

!a = memref<16x64xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<128x8xi8, #gpu.address_space<workgroup>>
!sb = memref<16x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x16, #blockscale.warps<1x1>>
func.func @tile_mma_t5_packed_mn(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b to have a layout that kind::mxf4 takes for elements of 4 bits, one of <k, slots>, got <mn, slots>}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e2m1, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
       {b_layout = #blockscale.tile_layout<mn, slots>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x64xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_t5_packed_bytes(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a to have a layout that kind::mxf4 takes for elements of 4 bits, one of <k, slots>, got <k, bytes>}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e2m1, e2m1, ue8m0, 32>
       instruction = <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
       {a_layout = #blockscale.tile_layout<k, bytes>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<128x16xi8, #gpu.address_space<workgroup>>
!sb = memref<16x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x16, #blockscale.warps<1x2>>
func.func @tile_mma_t5_mn_rows(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a warp to have a multiple of 16 rows of b, which is <mn>, got 8}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {b_layout = #blockscale.tile_layout<mn, slots>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_t5_padded(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b to have a layout that kind::mxf8f6f4 takes for elements of 8 bits, one of <k, slots> <k, bytes> <mn, slots> <mn, bytes>, got <k, padded>}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e2m1, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e2m1, e5m2, ue8m0, 1>
       {a_layout = #blockscale.tile_layout<k, padded>, b_layout = #blockscale.tile_layout<k, padded>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<128x48xi8, #gpu.address_space<workgroup>>
!sb = memref<48x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x48, #blockscale.warps<1x1>>
func.func @tile_mma_t5_swizzled(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b to have rows of 16, 32, 64 or a multiple of 128 bytes that are swizzled, got 48}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {b_layout = #blockscale.tile_layout<mn, slots, swizzled>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (T6) Parts of warps
//===----------------------------------------------------------------------===//

!a = memref<96x128xi8, #gpu.address_space<workgroup>>
!sa = memref<3x32x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<96x8, #blockscale.warps<2x1>>
func.func @tile_mma_t6_groups(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a_scale to have parts of 32 rows that divide the 48 rows of a warp}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {a_scale_layout = #blockscale.scale_tile_layout<lanes>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<1x1x32x8xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x8, #blockscale.warps<2x1>>
func.func @tile_mma_t6_parts(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a_scale to have parts of 64 rows that divide the 32 rows of a warp}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {a_scale_layout = #blockscale.scale_tile_layout<parts>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (W3) to (W5) Atoms, and blocks
//===----------------------------------------------------------------------===//

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<1x1x32x16xi8, #gpu.address_space<workgroup>>
!b = memref<192x128xi8, #gpu.address_space<workgroup>>
!sb = memref<1x1x32x16xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x192, #blockscale.warps<1x3>>
func.func @tile_mma_w3_atoms(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected b_scale to be of the shape 2 x W x 32 x 16 for 192 rows, got 'memref<1x1x32x16xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {a_scale_layout = #blockscale.scale_tile_layout<atoms>,
        b_scale_layout = #blockscale.scale_tile_layout<atoms>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<1x1x16x32xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>
!sb = memref<1x1x32x16xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x64, #blockscale.warps<2x2>>
func.func @tile_mma_w3_atom_outer(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a_scale to be of the shape 1 x W x 32 x 16 for 64 rows, got 'memref<1x1x16x32xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {a_scale_layout = #blockscale.scale_tile_layout<atoms>,
        b_scale_layout = #blockscale.scale_tile_layout<atoms>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<1x1x32x16xi8, #gpu.address_space<workgroup>>
!b = memref<192x128xi8, #gpu.address_space<workgroup>>
!sb = memref<2x1x32x16xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x192, #blockscale.warps<2x2>>
func.func @tile_mma_w4_atoms(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a warp to have a power of two of at most 128 rows for b_scale in atoms, got 96}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {a_scale_layout = #blockscale.scale_tile_layout<atoms>,
        b_scale_layout = #blockscale.scale_tile_layout<atoms>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<256x128xi8, #gpu.address_space<workgroup>>
!sa = memref<2x1x32x16xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<1x1x32x16xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<256x8, #blockscale.warps<1x1>>
func.func @tile_mma_w4_many(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a warp to have a power of two of at most 128 rows for a_scale in atoms, got 256}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {a_scale_layout = #blockscale.scale_tile_layout<atoms>,
        b_scale_layout = #blockscale.scale_tile_layout<atoms>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<1x1x32x16xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>
!sb = i8
!acc = !blockscale.acc<64x64, #blockscale.warps<2x2>>
func.func @tile_mma_w5_scales(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc, %n: index) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a block-scaled instruction and b_scale in memory for a number of blocks, got #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1> and 'i8'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc blocks %n types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {a_scale_layout = #blockscale.scale_tile_layout<atoms>}
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = memref<1x1x32x16xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x64, #blockscale.warps<2x2>>
func.func @tile_mma_w5_dequant_mma(%a: !a, %sa: !sa, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a block-scaled instruction for a_scale in atoms, got #blockscale.instruction<dequant_mma, 16x8x32, bf16, e4m3, e5m2, ue8m0, 1>}}
  %0 = blockscale.tile_mma %a, %sa, %a, %sa, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <dequant_mma, 16x8x32, bf16, e4m3, e5m2, ue8m0, 1>
       {a_scale_layout = #blockscale.scale_tile_layout<atoms>,
        b_scale_layout = #blockscale.scale_tile_layout<atoms>}
       : !a, !sa, !a, !sa, !acc
  return
}

// -----

//===----------------------------------------------------------------------===//
// acc_generate (G1), acc_for_each (G2) and acc_quantize (G3) to (G5)
//===----------------------------------------------------------------------===//

func.func @acc_generate_g1_arguments(%i: index, %v: f32) {
  // expected-error@+1 {{'blockscale.acc_generate' op expected a body with arguments of types 'index', 'index', got 'index'}}
  %0 = blockscale.acc_generate at(%i, %i) of(%i, %i) {
  ^bb0(%row: index):
    blockscale.yield %v : f32
  } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}

// -----

func.func @acc_generate_g1_yield(%i: index) {
  // expected-error@+1 {{'blockscale.acc_generate' op expected a body that ends with a blockscale.yield of an f32}}
  %0 = blockscale.acc_generate at(%i, %i) of(%i, %i) {
  ^bb0(%row: index, %column: index):
    blockscale.yield
  } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}

// -----

func.func @acc_for_each_g2_arguments(%acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>,
                                     %i: index) {
  // expected-error@+1 {{'blockscale.acc_for_each' op expected a body with arguments of types 'f32', 'index', 'index', got 'index', 'index', 'f32'}}
  blockscale.acc_for_each %acc at(%i, %i) of(%i, %i) {
  ^bb0(%row: index, %column: index, %e: f32):
    blockscale.yield
  } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}

// -----

func.func @acc_for_each_g2_yield(%acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>, %i: index) {
  // expected-error@+1 {{'blockscale.acc_for_each' op expected a body that ends with a blockscale.yield of nothing}}
  blockscale.acc_for_each %acc at(%i, %i) of(%i, %i) {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield %e : f32
  } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}

// -----

func.func @acc_for_each_g2_pairs(%acc: !blockscale.acc<16x16, #blockscale.warps<1x1>>, %i: index) {
  // expected-error@+1 {{'blockscale.acc_for_each' op expected a body with arguments of types 'f32', 'f32', 'index', 'index', got 'f32', 'index', 'index'}}
  blockscale.acc_for_each %acc at(%i, %i) of(%i, %i) pairs {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield
  } : !blockscale.acc<16x16, #blockscale.warps<1x1>>
  return
}

// -----

func.func @acc_for_each_g2_no_pairs(%acc: !blockscale.acc<16x16, #blockscale.warps<1x1>>, %i: index) {
  // expected-error@+1 {{'blockscale.acc_for_each' op expected a body with arguments of types 'f32', 'index', 'index', got 'f32', 'f32', 'index', 'index'}}
  blockscale.acc_for_each %acc at(%i, %i) of(%i, %i) {
  ^bb0(%first: f32, %second: f32, %row: index, %column: index):
    blockscale.yield
  } : !blockscale.acc<16x16, #blockscale.warps<1x1>>
  return
}

// -----

func.func @acc_quantize_g3_yield(%acc: !blockscale.acc<16x32, #blockscale.warps<1x1>>, %i: index, %g: f32,
    %elements: memref<16x64xi8>, %scales: memref<16x2xi8>) {
  // expected-error@+1 {{'blockscale.acc_quantize' op expected a body that ends with a blockscale.yield of an f32}}
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) to %elements, %scales {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield 
  } {element = f8E4M3FN, scale = f8E8M0FNU, block_size = 32 : i64, code_bits = 8 : i64, rule = #blockscale.scale_rule<rceil>}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<16x2xi8>
  return
}

// -----

func.func @acc_quantize_g3_pairs(%acc: !blockscale.acc<16x32, #blockscale.warps<1x1>>, %i: index,
    %elements: memref<16x64xi8>, %scales: memref<16x2xi8>) {
  // expected-error@+1 {{'blockscale.acc_quantize' op expected a body with arguments of types 'f32', 'f32', 'index', 'index', got 'f32', 'index', 'index'}}
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) to %elements, %scales pairs {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield %e : f32
  } {element = f4E2M1FN, scale = f8E4M3FN, block_size = 16 : i64, code_bits = 8 : i64}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<16x2xi8>
  return
}

// -----

func.func @acc_quantize_g4_types(%acc: !blockscale.acc<16x32, #blockscale.warps<1x1>>, %i: index, %g: f32,
    %elements: memref<16x64xi8>, %scales: memref<16x2xi8>) {
  // expected-error@+1 {{'blockscale.acc_quantize' op expected scales of type f8E8M0FNU for 'f8E4M3FN', got 'f8E4M3FN'}}
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) to %elements, %scales {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield %e : f32
  } {element = f8E4M3FN, scale = f8E4M3FN, block_size = 16 : i64, code_bits = 8 : i64}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<16x2xi8>
  return
}

// -----

func.func @acc_quantize_g4_block(%acc: !blockscale.acc<16x32, #blockscale.warps<1x1>>, %i: index, %g: f32,
    %elements: memref<16x64xi8>, %scales: memref<16x2xi8>) {
  // expected-error@+1 {{'blockscale.acc_quantize' op expected a block size of 32 or 64 for 'f8E4M3FN' with 'f8E8M0FNU' scales, got 16}}
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) to %elements, %scales {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield %e : f32
  } {element = f8E4M3FN, scale = f8E8M0FNU, block_size = 16 : i64, code_bits = 8 : i64, rule = #blockscale.scale_rule<rceil>}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<16x2xi8>
  return
}

// -----

func.func @acc_quantize_g4_rule(%acc: !blockscale.acc<16x32, #blockscale.warps<1x1>>, %i: index, %g: f32,
    %elements: memref<16x64xi8>, %scales: memref<16x2xi8>) {
  // expected-error@+1 {{'blockscale.acc_quantize' op expected a 'rule' for scales of type 'f8E8M0FNU'}}
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) to %elements, %scales {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield %e : f32
  } {element = f8E4M3FN, scale = f8E8M0FNU, block_size = 32 : i64, code_bits = 8 : i64}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<16x2xi8>
  return
}

// -----

func.func @acc_quantize_g4_no_rule(%acc: !blockscale.acc<16x32, #blockscale.warps<1x1>>, %i: index, %g: f32,
    %elements: memref<16x64xi8>, %scales: memref<16x2xi8>) {
  // expected-error@+1 {{'blockscale.acc_quantize' op expected no 'rule' for scales of type 'f8E4M3FN'}}
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) to %elements, %scales {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield %e : f32
  } {element = f4E2M1FN, scale = f8E4M3FN, block_size = 16 : i64, code_bits = 8 : i64, rule = #blockscale.scale_rule<rceil>}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<16x2xi8>
  return
}

// -----

func.func @acc_quantize_g4_tensor_scale(%acc: !blockscale.acc<16x32, #blockscale.warps<1x1>>, %i: index, %g: f32,
    %elements: memref<16x64xi8>, %scales: memref<16x2xi8>) {
  // expected-error@+1 {{'blockscale.acc_quantize' op expected no tensor scale for scales of type 'f8E8M0FNU'}}
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) tensor_scale(%g) to %elements, %scales {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield %e : f32
  } {element = f8E4M3FN, scale = f8E8M0FNU, block_size = 32 : i64, code_bits = 8 : i64, rule = #blockscale.scale_rule<rceil>}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<16x2xi8>
  return
}

// -----

func.func @acc_quantize_g5_batch(%acc: !blockscale.acc<16x32, #blockscale.warps<1x1>>, %i: index, %g: f32,
    %elements: memref<16x64xi8>, %scales: memref<16x2xi8>) {
  // expected-error@+1 {{'blockscale.acc_quantize' op expected elements of rank 3, got 2}}
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) batch %i to %elements, %scales {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield %e : f32
  } {element = f8E4M3FN, scale = f8E8M0FNU, block_size = 32 : i64, code_bits = 8 : i64, rule = #blockscale.scale_rule<rceil>}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<16x2xi8>
  return
}

// -----

func.func @acc_quantize_g5_scales(%acc: !blockscale.acc<16x32, #blockscale.warps<1x1>>, %i: index, %g: f32,
    %elements: memref<16x64xi8>, %scales: memref<1x16x2xi8>) {
  // expected-error@+1 {{'blockscale.acc_quantize' op expected scales of rank 2, or 4 in the 32x4x4 layout, got 3}}
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) to %elements, %scales {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield %e : f32
  } {element = f8E4M3FN, scale = f8E8M0FNU, block_size = 32 : i64, code_bits = 8 : i64, rule = #blockscale.scale_rule<rceil>}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<1x16x2xi8>
  return
}

// -----

func.func @acc_quantize_g5_bits(%acc: !blockscale.acc<16x32, #blockscale.warps<1x1>>, %i: index, %g: f32,
    %elements: memref<16x64xi8>, %scales: memref<16x2xi8>) {
  // expected-error@+1 {{'blockscale.acc_quantize' op expected 8 bits for each code, or 4 for f4E2M1FN, got 4}}
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) to %elements, %scales {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield %e : f32
  } {element = f8E4M3FN, scale = f8E8M0FNU, block_size = 32 : i64, code_bits = 4 : i64, rule = #blockscale.scale_rule<rceil>}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<16x2xi8>
  return
}

// -----

func.func @yield_parent() {
  // expected-error@+1 {{'blockscale.yield' op expects parent op to be one of 'blockscale.acc_generate, blockscale.acc_for_each, blockscale.acc_quantize, blockscale.acc_factors'}}
  blockscale.yield
}

// -----

//===----------------------------------------------------------------------===//
// load_matrix (D1), (D2)
//===----------------------------------------------------------------------===//

!tile = memref<?x64xi8, #gpu.address_space<workgroup>>
func.func @load_matrix_d1_dynamic(%tile: !tile, %at: index) {
  // expected-error@+1 {{'blockscale.load_matrix' op expected memory of a static shape, the identity layout and the workgroup memory space, got 'memref<?x64xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.load_matrix %tile[%at] code_bits = 8 : !tile -> vector<4xi32>
  return
}

// -----

!tile = memref<8x64xi8>
func.func @load_matrix_d1_global(%tile: !tile, %at: index) {
  // expected-error@+1 {{'blockscale.load_matrix' op expected memory of a static shape, the identity layout and the workgroup memory space, got 'memref<8x64xi8>'}}
  %0 = blockscale.load_matrix %tile[%at] code_bits = 8 : !tile -> vector<4xi32>
  return
}

// -----

!tile = memref<8x64xi8, strided<[128, 1]>, #gpu.address_space<workgroup>>
func.func @load_matrix_d1_strided(%tile: !tile, %at: index) {
  // expected-error@+1 {{'blockscale.load_matrix' op expected memory of a static shape, the identity layout and the workgroup memory space, got 'memref<8x64xi8, strided<[128, 1]>, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.load_matrix %tile[%at] code_bits = 8 : !tile -> vector<4xi32>
  return
}

// -----

!tile = memref<8x64xi8, #gpu.address_space<workgroup>>
func.func @load_matrix_d2(%tile: !tile, %at: index) {
  // expected-error@+1 {{'blockscale.load_matrix' op expected code_bits to be 4, 6 or 8, or 16 where it is transposed, got 5}}
  %0 = blockscale.load_matrix %tile[%at] code_bits = 5 : !tile -> vector<4xi32>
  return
}

// -----

!tile = memref<8x64xi8, #gpu.address_space<workgroup>>
func.func @load_matrix_registers(%tile: !tile, %at: index) {
  // expected-error@+1 {{'blockscale.load_matrix' op result #0 must be vector of 4 32-bit signless integer or vector of 2 32-bit signless integer, but got 'vector<1xi32>'}}
  %0 = blockscale.load_matrix %tile[%at] code_bits = 8 : !tile -> vector<1xi32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// launch (L1) Shared memory
//===----------------------------------------------------------------------===//

func.func @launch_l1_shared(%d: tensor<4xf32>) {
  // expected-error@+1 {{'blockscale.launch' op expected shared memory not to be negative, got -1}}
  %0 = blockscale.launch @k::@f blocks = [1, 1, 1] threads = [32, 1, 1]
       shared = -1 ins() outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// tile_mma (T6) The instruction computes the type combination, (W1) in warps
//===----------------------------------------------------------------------===//

!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_t6(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected an instruction that computes #blockscale.type_combination<e4m3, e5m2, ue8m0, 32>, got #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e5m2, e4m3, ue8m0, 1>}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e5m2, e4m3, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_w1(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected an instruction of a warp for an accumulator in warps, got #blockscale.instruction<tcgen05, 128x16x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <tcgen05, 128x16x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       : !a, !sa, !b, !sb, !acc
  return
}

// -----

!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_scale_rank(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected a_scale to have 3 dimensions for the layout <lanes>, got 'memref<16x4xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.tile_mma %a, %sa, %b, %sb, %acc types = <e4m3, e5m2, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
       {a_scale_layout = #blockscale.scale_tile_layout<lanes>}
       : !a, !sa, !b, !sb, !acc
  return
}
