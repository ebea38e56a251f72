// Every constraint of descriptors and of the ops that tensor cores execute,
// broken.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

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
  // expected-error@+1 {{expected an instruction with a byte or two for each element to transpose a, got #blockscale.instruction<tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2>}}
  %0 = blockscale.instruction_descriptor
       <tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2> {transpose_a}
  return
}

// -----

func.func @instruction_i3_b() {
  // expected-error@+1 {{expected an instruction with a byte or two for each element to transpose b, got #blockscale.instruction<tcgen05, 128x128x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>}}
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
func.func @matrix_s2_swizzle_row(%m: !m, %at: index) {
  // expected-error@+1 {{expected memory with swizzle rows of 16 bytes, or of 32, 64 or 128 that are swizzled, got 48 that are swizzled}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<8x256xi8, #gpu.address_space<workgroup>>
func.func @matrix_s2_long(%m: !m, %at: index) {
  // expected-error@+1 {{expected memory with swizzle rows of 16 bytes, or of 32, 64 or 128 that are swizzled, got 256 that are swizzled}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<8x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s2_unswizzled(%m: !m, %at: index) {
  // expected-error@+1 {{expected memory with swizzle rows of 16 bytes, or of 32, 64 or 128 that are swizzled, got 128}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots> : !m
  return
}

// -----

!m = memref<8x16xi8, #gpu.address_space<workgroup>>
func.func @matrix_s2_short(%m: !m, %at: index) {
  // expected-error@+1 {{expected memory with swizzle rows of 16 bytes, or of 32, 64 or 128 that are swizzled, got 16 that are swizzled}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<12x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s3_swizzle_rows(%m: !m, %at: index) {
  // expected-error@+1 {{expected memory with columns of a multiple of 8 swizzle rows, got 12}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<0x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s3_none(%m: !m, %at: index) {
  // expected-error@+1 {{expected memory with columns of a multiple of 8 swizzle rows, got 0}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<0x8x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s3_no_columns(%m: !m, %at: index) {
  // expected-error@+1 {{expected memory with at least one column, got 0}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
  return
}

// -----

!m = memref<8x16xi8, #gpu.address_space<workgroup>>
func.func @matrix_s3_columns(%m: !m, %at: index) {
  // expected-error@+1 {{expected memory with at least 2 columns of swizzle rows of 16 bytes along K, got 1}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots> : !m
  return
}

// -----

!m = memref<8x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s4_bytes(%m: !m, %at: index) {
  // expected-error@+1 {{expected memory with swizzle rows of slots or padded, got bytes}}
  %0 = blockscale.matrix_descriptor %m[%at] layout = <k, bytes, swizzled> : !m
  return
}

// -----

!m = memref<8x128xi8, #gpu.address_space<workgroup>>
func.func @matrix_s4_packed(%m: !m, %at: index) {
  // expected-error@+1 {{expected memory with swizzle rows of slots or padded, got packed}}
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
func.func @matrix_s5_swizzle_row(%m: !m) {
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
  // expected-error@+1 {{'blockscale.copy_scales' op expected group to be 1 or 2, got 3}}
  blockscale.copy_scales %m[%at], %s
      {group = 3 : i64, row_atom = 0 : i64, word = 0 : i64} : !m, !s
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
  // expected-error@+1 {{expected scales of a to have 4 copies of 128 rows for 128, got '!blockscale.tmem_scales<256x8>'}}
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
  // expected-error@+1 {{expected scales of b to have 4 copies of 128 rows for 128, got '!blockscale.tmem_scales<256x8>'}}
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
  // expected-error@+1 {{expected scales of b to have 4 copies of 256 rows for 136, got '!blockscale.tmem_scales<128x8>'}}
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
  // expected-error@+1 {{expected an instruction with a byte or two for each element to transpose a, got #blockscale.instruction<tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2>}}
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
  // expected-error@+1 {{'blockscale.tcgen05_mma' op expected group to be 1 or 2, got 3}}
  blockscale.tcgen05_mma <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[0], %sb[0], %more {group = 3 : i64} : !acc, !a, !sa, !sb
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
  // expected-error@+1 {{'blockscale.tcgen05_commit' op expected group to be 1 or 2, got 3}}
  blockscale.tcgen05_commit %b[%at] {group = 3 : i64} : !b
  return
}

// -----

// Pairs of CTAs with M = 128 have two copies of the scales of B.
!acc = !blockscale.tmem_acc<128x256, group = 2>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<256x8>
func.func @mma_t3_copies(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                         %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected scales of b to have 2 copies of 256 rows for 256, got '!blockscale.tmem_scales<256x8>'}}
  blockscale.tcgen05_mma <tcgen05, 128x256x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %b, %sa[0], %sb[0], %more {group = 2 : i64} : !acc, !a, !sa, !sb
  return
}

// -----

// Two copies do not store the next word where the instruction expects it.
!acc = !blockscale.tmem_acc<128x256, group = 2>
!a = i64
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<256x8, copies = 2>
func.func @mma_t8(%acc: !acc, %a: !a, %b: i64, %sa: !sa,
                  %sb: !sb, %more: i1) {
  // expected-error@+1 {{expected M of 256 for pairs of CTAs with K of 96, got #blockscale.instruction<tcgen05, 128x256x96, mxf4, e2m1, e2m1, ue8m0, 3>}}
  blockscale.tcgen05_mma <tcgen05, 128x256x96, mxf4, e2m1, e2m1, ue8m0, 3>
      %acc, %a, %b, %sa[0], %sb[0], %more {group = 2 : i64} : !acc, !a, !sa, !sb
  return
}

// -----

func.func @instruction_i2_none() {
  // expected-error@+1 {{expected the scale id of a to be one of 0 for #blockscale.instruction<tcgen05, 128x128x16, unscaled, bf16, bf16, none, 0>, got 1}}
  %0 = blockscale.instruction_descriptor
       <tcgen05, 128x128x16, unscaled, bf16, bf16, none, 0> {a_scale_id = 1 : i64}
  return
}

// -----

!acc = !blockscale.tmem_acc<128x64>
!scales = !blockscale.tmem_scales<128x4>
func.func @mma_t3_too_many(%acc: !acc, %a: i64, %s: !scales, %more: i1) {
  // expected-error@+1 {{'blockscale.tcgen05_mma' op expected no scales of a for #blockscale.instruction<tcgen05, 128x64x16, unscaled, bf16, bf16, none, 0>}}
  blockscale.tcgen05_mma <tcgen05, 128x64x16, unscaled, bf16, bf16, none, 0>
      %acc, %a, %a, %s[0], %s[0], %more : !acc, i64, !scales, !scales
  return
}

// -----

!acc = !blockscale.tmem_acc<128x64>
func.func @mma_t3_missing(%acc: !acc, %a: i64, %more: i1) {
  // expected-error@+1 {{'blockscale.tcgen05_mma' op expected scales of a for #blockscale.instruction<tcgen05, 128x64x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>}}
  blockscale.tcgen05_mma <tcgen05, 128x64x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %a, %more : !acc, i64
  return
}

// -----

// N of a transposed B of 16-bit elements is a multiple of 8, or 16 for a pair.

!acc = !blockscale.tmem_acc<128x24>
!pair = !blockscale.tmem_acc<256x48, group = 2>
func.func @mma_t6_halves(%acc: !acc, %pair: !pair, %a: i64, %more: i1) {
  blockscale.tcgen05_mma <tcgen05, 128x24x16, unscaled, f16, f16, none, 0>
      %acc, %a, %a, %more {transpose_a, transpose_b} : !acc, i64
  blockscale.tcgen05_mma <tcgen05, 256x48x16, unscaled, f16, f16, none, 0>
      %pair, %a, %a, %more {transpose_b, group = 2 : i64} : !pair, i64
  // expected-error@+1 {{expected N to be a multiple of 16 up to 256, got 24}}
  %0 = blockscale.instruction_descriptor
       <tcgen05, 256x24x16, unscaled, f16, f16, none, 0>
  return
}
