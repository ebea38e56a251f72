// Every constraint of the ops and types of tcgen05, broken.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// expected-error@+1 {{expected a power of two from 32 to 512 columns, got 48}}
func.func private @tmem_c1_power(!blockscale.tmem<48>)

// -----

// expected-error@+1 {{expected a power of two from 32 to 512 columns, got 16}}
func.func private @tmem_c1_small(!blockscale.tmem<16>)

// -----

// expected-error@+1 {{expected a power of two from 32 to 512 columns, got 1024}}
func.func private @tmem_c1_large(!blockscale.tmem<1024>)

// -----

// expected-error@+1 {{expected M of 128 and N from 8 to 256 in steps of 8, got 64x128}}
func.func private @tmem_acc_c1_m(!blockscale.tmem_acc<64x128>)

// -----

// expected-error@+1 {{expected M of 128 and N from 8 to 256 in steps of 8, got 128x260}}
func.func private @tmem_acc_c1_n(!blockscale.tmem_acc<128x260>)

// -----

// expected-error@+1 {{expected M of 128 and N from 8 to 256 in steps of 8, got 128x264}}
func.func private @tmem_acc_c1_large(!blockscale.tmem_acc<128x264>)

// -----

// expected-error@+1 {{expected M of 256 128 and N from 16 to 256 in steps of 16, got 256x8}}
func.func private @tmem_acc_c1_pair(!blockscale.tmem_acc<256x8, group = 2>)

// -----

// expected-error@+1 {{expected group to be 1 or 2, got 3}}
func.func private @tmem_acc_c1_group(!blockscale.tmem_acc<128x8, group = 3>)

// -----

// expected-error@+1 {{expected two sizes, such as 128x256}}
func.func private @tmem_acc_sizes(!blockscale.tmem_acc<128>)

// -----

// expected-error@+1 {{expected 128 or 256 rows of scales, got 64}}
func.func private @tmem_scales_c1_rows(!blockscale.tmem_scales<64x4>)

// -----

// expected-error@+1 {{expected 128 or 256 rows of scales, got 512}}
func.func private @tmem_scales_c1_more(!blockscale.tmem_scales<512x4>)

// -----

// expected-error@+1 {{expected a multiple of 4 blocks up to 512, got 6}}
func.func private @tmem_scales_c1_blocks(!blockscale.tmem_scales<128x6>)

// -----

// expected-error@+1 {{expected a multiple of 4 blocks up to 512, got 0}}
func.func private @tmem_scales_c1_none(!blockscale.tmem_scales<128x0>)

// -----

// expected-error@+1 {{expected a multiple of 4 blocks up to 256, got 260}}
func.func private @tmem_scales_c1_large(!blockscale.tmem_scales<256x260>)

// -----

// expected-error@+1 {{expected 128 rows and 8 to 512 columns, got 64x8}}
func.func private @tmem_a_c1_rows(!blockscale.tmem_a<64x8>)

// -----

// expected-error@+1 {{expected 128 rows and 8 to 512 columns, got 128x4}}
func.func private @tmem_a_c1_columns(!blockscale.tmem_a<128x4>)

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

// -----

!slot = memref<1xi32, #gpu.address_space<workgroup>>
func.func @alloc_a1(%slot: !slot) {
  // expected-error@+1 {{'blockscale.tmem_alloc' op expected columns to be a power of two from 32 to 512, got 96}}
  blockscale.tmem_alloc %slot {columns = 96 : i64} : !slot
  return
}

// -----

!slot = memref<2xi32, #gpu.address_space<workgroup>>
func.func @alloc_a2_size(%slot: !slot) {
  // expected-error@+1 {{expected slot to have one element, got 'memref<2xi32, #gpu.address_space<workgroup>>'}}
  blockscale.tmem_alloc %slot {columns = 32 : i64} : !slot
  return
}

// -----

func.func @alloc_a2_space(%slot: memref<1xi32>) {
  // expected-error@+1 {{expected slot to have a static shape, the identity layout and the workgroup memory space, got 'memref<1xi32>'}}
  blockscale.tmem_alloc %slot {columns = 32 : i64} : memref<1xi32>
  return
}

// -----

!slot = memref<2xi32, #gpu.address_space<workgroup>>
func.func @base_a2(%slot: !slot) {
  // expected-error@+1 {{'blockscale.tmem_base' op expected slot to have one element, got 'memref<2xi32, #gpu.address_space<workgroup>>'}}
  %t = blockscale.tmem_base %slot : !slot -> !blockscale.tmem<32>
  return
}

// -----

!slot = memref<1xi32, #gpu.address_space<workgroup>>
func.func @alloc_a3(%slot: !slot) {
  // expected-error@+1 {{'blockscale.tmem_alloc' op not supported in this version: .cta_group::2}}
  blockscale.tmem_alloc %slot {columns = 32 : i64, group = 2 : i64} : !slot
  return
}

// -----

!slot = memref<1xi32, #gpu.address_space<workgroup>>
func.func @alloc_a3_unknown(%slot: !slot) {
  // expected-error@+1 {{expected group to be 1 or 2, got 4}}
  blockscale.tmem_alloc %slot {columns = 32 : i64, group = 4 : i64} : !slot
  return
}

// -----

func.func @relinquish_a3() {
  // expected-error@+1 {{'blockscale.tmem_relinquish' op not supported in this version: .cta_group::2}}
  blockscale.tmem_relinquish {group = 2 : i64}
  return
}

// -----

func.func @dealloc_a3(%t: !blockscale.tmem<32>) {
  // expected-error@+1 {{'blockscale.tmem_dealloc' op not supported in this version: .cta_group::2}}
  blockscale.tmem_dealloc %t {group = 2 : i64} : !blockscale.tmem<32>
  return
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

// -----

func.func @acc_r1(%t: !blockscale.tmem<512>) {
  %c = arith.constant 264 : index
  // expected-error@+1 {{'blockscale.tmem_acc' op expected 256 columns among the 512 of the allocation, got those from 264 on}}
  %0 = blockscale.tmem_acc %t[%c]
       : !blockscale.tmem<512> -> !blockscale.tmem_acc<128x256>
  return
}

// -----

func.func @acc_r1_negative(%t: !blockscale.tmem<512>) {
  %c = arith.constant -1 : index
  // expected-error@+1 {{expected 256 columns among the 512 of the allocation, got those from -1 on}}
  %0 = blockscale.tmem_acc %t[%c]
       : !blockscale.tmem<512> -> !blockscale.tmem_acc<128x256>
  return
}

// -----

func.func @acc_r1_dynamic(%t: !blockscale.tmem<128>, %c: index) {
  // expected-error@+1 {{expected at most the 128 columns of the allocation, got 256}}
  %0 = blockscale.tmem_acc %t[%c]
       : !blockscale.tmem<128> -> !blockscale.tmem_acc<128x256>
  return
}

// -----

func.func @scales_r1(%t: !blockscale.tmem<32>) {
  %c = arith.constant 17 : index
  // expected-error@+1 {{'blockscale.tmem_scales' op expected 16 columns among the 32 of the allocation, got those from 17 on}}
  %0 = blockscale.tmem_scales %t[%c]
       : !blockscale.tmem<32> -> !blockscale.tmem_scales<256x8>
  return
}

// -----

func.func @operand_r1(%t: !blockscale.tmem<32>) {
  %c = arith.constant 25 : index
  // expected-error@+1 {{'blockscale.tmem_operand' op expected 8 columns among the 32 of the allocation, got those from 25 on}}
  %0 = blockscale.tmem_operand %t[%c]
       : !blockscale.tmem<32> -> !blockscale.tmem_a<128x8>
  return
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

// -----

func.func @instruction_i1() {
  // expected-error@+1 {{'blockscale.instruction_descriptor' op expected an instruction of tcgen05, got #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>}}
  %0 = blockscale.instruction_descriptor
       <mma_sync, 16x8x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
  return
}

// -----

func.func @instruction_i2_a() {
  // expected-error@+1 {{expected the scale id of a to be one of 0, 2 for #blockscale.instruction<tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2>, got 1}}
  %0 = blockscale.instruction_descriptor
       <tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2> {a_scale_id = 1 : i64}
  return
}

// -----

func.func @instruction_i2_b() {
  // expected-error@+1 {{expected the scale id of b to be one of 0 for #blockscale.instruction<tcgen05, 128x128x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>, got 2}}
  %0 = blockscale.instruction_descriptor
       <tcgen05, 128x128x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4> {b_scale_id = 2 : i64}
  return
}

// -----

func.func @instruction_i2_large() {
  // expected-error@+1 {{expected the scale id of a to be one of 0, 1, 2, 3 for #blockscale.instruction<tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>, got 4}}
  %0 = blockscale.instruction_descriptor
       <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1> {a_scale_id = 4 : i64}
  return
}

// -----

func.func @instruction_i3_a() {
  // expected-error@+1 {{expected an instruction with a byte for each element to transpose a, got #blockscale.instruction<tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2>}}
  %0 = blockscale.instruction_descriptor
       <tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2> {transpose_a}
  return
}

// -----

func.func @instruction_i3_b() {
  // expected-error@+1 {{expected an instruction with a byte for each element to transpose b, got #blockscale.instruction<tcgen05, 128x128x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>}}
  %0 = blockscale.instruction_descriptor
       <tcgen05, 128x128x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4> {transpose_b}
  return
}

// -----

func.func @instruction_i4() {
  // expected-error@+1 {{expected N to be a multiple of 16 up to 256 where B is transposed, got 24}}
  %0 = blockscale.instruction_descriptor
       <tcgen05, 128x24x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1> {transpose_b}
  return
}

// -----

!m = memref<?x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s1_dynamic(%m: !m, %at: index) {
  // expected-error@+1 {{'blockscale.matrix_descriptor' op expected memory to have a static shape, the identity layout and the workgroup memory space, got 'memref<?x128xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<8x128xi8>
func.func @matrix_s1_space(%m: !m, %at: index) {
  // expected-error@+1 {{expected memory to have a static shape, the identity layout and the workgroup memory space, got 'memref<8x128xi8>'}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<3000x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s1_size(%m: !m, %at: index) {
  // expected-error@+1 {{expected memory to have at most 232448 elements, got 'memref<3000x128xi8, #gpu.address_space<workgroup>>'}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<8x48xi8, #gpu.address_space<workgroup>>
func.func @matrix_s2_line(%m: !m, %at: index) {
  // expected-error@+1 {{expected lines of 16 bytes, or of 32, 64 or 128 that are swizzled, got 48 that are swizzled}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<8x256xi8, #gpu.address_space<workgroup>>
func.func @matrix_s2_long(%m: !m, %at: index) {
  // expected-error@+1 {{expected lines of 16 bytes, or of 32, 64 or 128 that are swizzled, got 256 that are swizzled}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<8x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s2_plain(%m: !m, %at: index) {
  // expected-error@+1 {{expected lines of 16 bytes, or of 32, 64 or 128 that are swizzled, got 128}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots> : !m
  return
}

// -----

!m = memref<8x16xi8, #gpu.address_space<workgroup>>
func.func @matrix_s2_short(%m: !m, %at: index) {
  // expected-error@+1 {{expected lines of 16 bytes, or of 32, 64 or 128 that are swizzled, got 16 that are swizzled}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<12x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s3_lines(%m: !m, %at: index) {
  // expected-error@+1 {{expected columns of a multiple of 8 lines, got 12}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<0x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s3_none(%m: !m, %at: index) {
  // expected-error@+1 {{expected columns of a multiple of 8 lines, got 0}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<0x8x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s3_no_columns(%m: !m, %at: index) {
  // expected-error@+1 {{expected at least one column, got 0}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<8x16xi8, #gpu.address_space<workgroup>>
func.func @matrix_s3_columns(%m: !m, %at: index) {
  // expected-error@+1 {{expected at least 2 columns of lines of 16 bytes along K, got 1}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots> : !m
  return
}

// -----

!m = memref<8x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s4_bytes(%m: !m, %at: index) {
  // expected-error@+1 {{expected lines of slots or padded, got bytes}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, bytes, swizzled> : !m
  return
}

// -----

!m = memref<8x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s4_packed(%m: !m, %at: index) {
  // expected-error@+1 {{expected lines of slots or padded, got packed}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <mn, packed, swizzled> : !m
  return
}

// -----

!m = memref<16x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s5_step(%m: !m) {
  %at = arith.constant 24 : index
  // expected-error@+1 {{expected offset to be a multiple of 1024 plus at most 96 in steps of 16, and less than 2048, got 24}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<16x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s5_line(%m: !m) {
  %at = arith.constant 112 : index
  // expected-error@+1 {{expected offset to be a multiple of 1024 plus at most 96 in steps of 16, and less than 2048, got 112}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<16x64xi8, #gpu.address_space<workgroup>>
func.func @matrix_s5_row(%m: !m) {
  %at = arith.constant 64 : index
  // expected-error@+1 {{expected offset to be a multiple of 512 plus at most 32 in steps of 16, and less than 1024, got 64}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<16x32xi8, #gpu.address_space<workgroup>>
func.func @matrix_s5_end(%m: !m) {
  %at = arith.constant 512 : index
  // expected-error@+1 {{expected offset to be a multiple of 256 plus at most 16 in steps of 16, and less than 512, got 512}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <mn, slots, swizzled> : !m
  return
}

// -----

!m = memref<16x32xi8, #gpu.address_space<workgroup>>
func.func @matrix_s5_negative(%m: !m) {
  %at = arith.constant -256 : index
  // expected-error@+1 {{expected offset to be a multiple of 256 plus at most 16 in steps of 16, and less than 512, got -256}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <mn, slots, swizzled> : !m
  return
}

//===----------------------------------------------------------------------===//
// Asynchronous instructions
//===----------------------------------------------------------------------===//

// -----

!m = memref<1024xi8>
!s = !blockscale.tmem_scales<256x8>
func.func @copy_p1(%m: !m, %s: !s, %at: index) {
  // expected-error@+1 {{'blockscale.copy_scales' op expected memory to have a static shape, the identity layout and the workgroup memory space, got 'memref<1024xi8>'}}
  blockscale.copy_scales %m[%at], %s
      {row_atom = 0 : i64, word = 0 : i64} : !m, !s
  return
}

// -----

!m = memref<1024xi8, #gpu.address_space<workgroup>>
!s = !blockscale.tmem_scales<256x8>
func.func @copy_p2_atom(%m: !m, %s: !s, %at: index) {
  // expected-error@+1 {{expected row_atom to be less than 2 for '!blockscale.tmem_scales<256x8>', got 2}}
  blockscale.copy_scales %m[%at], %s
      {row_atom = 2 : i64, word = 0 : i64} : !m, !s
  return
}

// -----

!m = memref<1024xi8, #gpu.address_space<workgroup>>
!s = !blockscale.tmem_scales<256x8>
func.func @copy_p2_word(%m: !m, %s: !s, %at: index) {
  // expected-error@+1 {{expected word to be less than 2 for '!blockscale.tmem_scales<256x8>', got 2}}
  blockscale.copy_scales %m[%at], %s
      {row_atom = 0 : i64, word = 2 : i64} : !m, !s
  return
}

// -----

!m = memref<1024xi8, #gpu.address_space<workgroup>>
!s = !blockscale.tmem_scales<256x8>
func.func @copy_p2_negative(%m: !m, %s: !s, %at: index) {
  // expected-error@+1 {{expected word to be less than 2 for '!blockscale.tmem_scales<256x8>', got -1}}
  blockscale.copy_scales %m[%at], %s
      {row_atom = 0 : i64, word = -1 : i64} : !m, !s
  return
}

// -----

!m = memref<256xi8, #gpu.address_space<workgroup>>
!s = !blockscale.tmem_scales<256x8>
func.func @copy_p3_size(%m: !m, %s: !s, %at: index) {
  // expected-error@+1 {{expected memory to have at least the 512 bytes of an atom, got 'memref<256xi8, #gpu.address_space<workgroup>>'}}
  blockscale.copy_scales %m[%at], %s
      {row_atom = 0 : i64, word = 0 : i64} : !m, !s
  return
}

// -----

!m = memref<1024xi8, #gpu.address_space<workgroup>>
!s = !blockscale.tmem_scales<256x8>
func.func @copy_p3_end(%m: !m, %s: !s) {
  %at = arith.constant 528 : index
  // expected-error@+1 {{expected offset to be a multiple of 16 from 0 to 512, got 528}}
  blockscale.copy_scales %m[%at], %s
      {row_atom = 0 : i64, word = 0 : i64} : !m, !s
  return
}

// -----

!m = memref<1024xi8, #gpu.address_space<workgroup>>
!s = !blockscale.tmem_scales<256x8>
func.func @copy_p3_step(%m: !m, %s: !s) {
  %at = arith.constant 8 : index
  // expected-error@+1 {{expected offset to be a multiple of 16 from 0 to 512, got 8}}
  blockscale.copy_scales %m[%at], %s
      {row_atom = 0 : i64, word = 0 : i64} : !m, !s
  return
}

// -----

!m = memref<1024xi8, #gpu.address_space<workgroup>>
!s = !blockscale.tmem_scales<256x8>
func.func @copy_p4(%m: !m, %s: !s, %at: index) {
  // expected-error@+1 {{'blockscale.copy_scales' op not supported in this version: .cta_group::2}}
  blockscale.copy_scales %m[%at], %s
      {group = 2 : i64, row_atom = 0 : i64, word = 0 : i64} : !m, !s
  return
}

// -----

!acc = !blockscale.tmem_acc<128x128>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t1(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                  %sb: !sb, %more: i1) {
  // expected-error@+1 {{'blockscale.tcgen05_mma' op expected an instruction of tcgen05, got #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>}}
  blockscale.tcgen05_mma <mma_sync, 16x8x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[0], %sb[0], %more : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x136>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t2(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                  %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected an accumulator of 128x128, got '!blockscale.tmem_acc<128x136>'}}
  blockscale.tcgen05_mma <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[0], %sb[0], %more : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x128>
!a = i64
!sa = !blockscale.tmem_scales<256x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t3_a(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                    %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected scales of a to have 128 rows for 128, got '!blockscale.tmem_scales<256x8>'}}
  blockscale.tcgen05_mma <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[0], %sb[0], %more : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x128>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<256x8>
func.func @mma_t3_b(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                    %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected scales of b to have 128 rows for 128, got '!blockscale.tmem_scales<256x8>'}}
  blockscale.tcgen05_mma <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[0], %sb[0], %more : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x136>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t3_b_more(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                         %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected scales of b to have 256 rows for 136, got '!blockscale.tmem_scales<128x8>'}}
  blockscale.tcgen05_mma <tcgen05, 128x136x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[0], %sb[0], %more : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x128>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t4_a(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                    %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected the block of a to be 0 to 7 for '!blockscale.tmem_scales<128x8>', got 8}}
  blockscale.tcgen05_mma <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[8], %sb[0], %more : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x128>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t4_b(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                    %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected the block of b to be 0 to 4 for '!blockscale.tmem_scales<128x8>', got 8}}
  blockscale.tcgen05_mma <tcgen05, 128x128x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
      %acc, %a, %b, %sa[0], %sb[8], %more : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x128>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t4_negative(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                           %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected the block of b to be 0 to 7 for '!blockscale.tmem_scales<128x8>', got -1}}
  blockscale.tcgen05_mma <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[0], %sb[-1], %more : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x128>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t4_id_a(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                       %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected the scale id of a to be one of 0, 2 for #blockscale.instruction<tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2>, got 1}}
  blockscale.tcgen05_mma <tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2>
      %acc, %a, %b, %sa[5], %sb[0], %more : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x128>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t4_id_b(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                       %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected the scale id of b to be one of 0 for #blockscale.instruction<tcgen05, 128x128x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>, got 2}}
  blockscale.tcgen05_mma <tcgen05, 128x128x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
      %acc, %a, %b, %sa[0], %sb[2], %more : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x128>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t5_kind(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                       %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected an instruction with a byte for each element to transpose a, got #blockscale.instruction<tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2>}}
  blockscale.tcgen05_mma <tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2>
      %acc, %a, %b, %sa[0], %sb[0], %more {transpose_a} : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x128>
!a = !blockscale.tmem_a<128x8>
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t5_tensor(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                         %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected a in shared memory to transpose it, got '!blockscale.tmem_a<128x8>'}}
  blockscale.tcgen05_mma <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[0], %sb[0], %more {transpose_a} : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x120>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t6(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                  %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected N to be a multiple of 16 up to 256 where B is transposed, got 120}}
  blockscale.tcgen05_mma <tcgen05, 128x120x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[0], %sb[0], %more {transpose_b} : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x128>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t7(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                  %sb: !sb, %more: i1) {
  // expected-error@+1 {{'blockscale.tcgen05_mma' op not supported in this version: .cta_group::2}}
  blockscale.tcgen05_mma <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[0], %sb[0], %more {group = 2 : i64} : !acc, !a, !sa, !sb
  return
}

// -----

!acc = !blockscale.tmem_acc<128x128, group = 2>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<128x8>
func.func @mma_t7_acc(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                      %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected an accumulator of group 1, got '!blockscale.tmem_acc<128x128, group = 2>'}}
  blockscale.tcgen05_mma <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[0], %sb[0], %more : !acc, !a, !sa, !sb
  return
}

// -----

!b = memref<4xi64>
func.func @commit_b1(%b: !b, %at: index) {
  // expected-error@+1 {{'blockscale.tcgen05_commit' op expected barriers to have a static shape, the identity layout and the workgroup memory space, got 'memref<4xi64>'}}
  blockscale.tcgen05_commit %b[%at] : !b
  return
}

// -----

!b = memref<4xi64, #gpu.address_space<workgroup>>
func.func @commit_b2(%b: !b) {
  %at = arith.constant 4 : index
  // expected-error@+1 {{expected index to be less than 4, got 4}}
  blockscale.tcgen05_commit %b[%at] : !b
  return
}

// -----

!b = memref<4xi64, #gpu.address_space<workgroup>>
func.func @commit_b3(%b: !b, %at: index) {
  // expected-error@+1 {{'blockscale.tcgen05_commit' op not supported in this version: .cta_group::2}}
  blockscale.tcgen05_commit %b[%at] {group = 2 : i64} : !b
  return
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

// -----

!acc = !blockscale.tmem_acc<128x96>
func.func @load_l1(%acc: !acc, %at: index) {
  // expected-error@+1 {{'blockscale.tmem_load' op expected a vector of 1, 2, 4, 8, 16, 32, 64 or 128 elements, got 'vector<24xf32>'}}
  %0 = blockscale.tmem_load %acc[%at] : !acc -> vector<24xf32>
  return
}

// -----

!acc = !blockscale.tmem_acc<128x96>
func.func @load_l1_scalable(%acc: !acc, %at: index) {
  // expected-error@+1 {{expected a vector of 1, 2, 4, 8, 16, 32, 64 or 128 elements, got 'vector<[8]xf32>'}}
  %0 = blockscale.tmem_load %acc[%at] : !acc -> vector<[8]xf32>
  return
}

// -----

!acc = !blockscale.tmem_acc<128x96>
func.func @load_l2(%acc: !acc) {
  %at = arith.constant 72 : index
  // expected-error@+1 {{expected 32 columns among the 96 of the region, got those from 72 on}}
  %0 = blockscale.tmem_load %acc[%at] : !acc -> vector<32xf32>
  return
}

// -----

!acc = !blockscale.tmem_acc<128x96>
func.func @load_l2_dynamic(%acc: !acc, %at: index) {
  // expected-error@+1 {{expected at most the 96 columns of the region, got 128}}
  %0 = blockscale.tmem_load %acc[%at] : !acc -> vector<128xf32>
  return
}

// -----

!acc = !blockscale.tmem_acc<128x96>
func.func @store_l1(%acc: !acc, %v: vector<3xf32>, %at: index) {
  // expected-error@+1 {{'blockscale.tmem_store' op expected a vector of 1, 2, 4, 8, 16, 32, 64 or 128 elements, got 'vector<3xf32>'}}
  blockscale.tmem_store %v, %acc[%at] : vector<3xf32>, !acc
  return
}

// -----

!a = !blockscale.tmem_a<128x8>
func.func @store_l2(%a: !a, %v: vector<4xi32>) {
  %at = arith.constant 6 : index
  // expected-error@+1 {{'blockscale.tmem_store' op expected 4 columns among the 8 of the region, got those from 6 on}}
  blockscale.tmem_store %v, %a[%at] : vector<4xi32>, !a
  return
}
