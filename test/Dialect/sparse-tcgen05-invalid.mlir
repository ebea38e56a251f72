// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// The constraints of metadata in tensor memory.

// expected-error@+1 {{expected 128 rows of a multiple of 16 bytes up to 2048, got 64x32}}
func.func private @tmem_metadata_c1_rows(!blockscale.tmem_metadata<64x32>)

// -----

// expected-error@+1 {{expected 128 rows of a multiple of 16 bytes up to 2048, got 128x24}}
func.func private @tmem_metadata_c1_bytes(!blockscale.tmem_metadata<128x24>)

// -----

func.func @tmem_metadata_r1(%t: !blockscale.tmem<32>) {
  %at = arith.constant 28 : index
  // expected-error@+1 {{'blockscale.tmem_metadata' op expected 8 columns among the 32 of the allocation, got those from 28 on}}
  %e = blockscale.tmem_metadata %t[%at] : !blockscale.tmem<32> -> !blockscale.tmem_metadata<128x32>
  return
}

// -----

func.func @tmem_metadata_r1_alignment(%t: !blockscale.tmem<32>) {
  %at = arith.constant 2 : index
  // expected-error@+1 {{expected column to be a multiple of 4, got 2}}
  %e = blockscale.tmem_metadata %t[%at] : !blockscale.tmem<32> -> !blockscale.tmem_metadata<128x32>
  return
}

// -----

func.func @copy_p2(%m: memref<2048xi8, #gpu.address_space<workgroup>>, %e: !blockscale.tmem_metadata<128x32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected atom to be less than 2 for '!blockscale.tmem_metadata<128x32>', got 2}}
  blockscale.copy_metadata %m[%c0], %e {atom = 2 : i64}
      : memref<2048xi8, #gpu.address_space<workgroup>>, !blockscale.tmem_metadata<128x32>
  return
}

// -----

func.func @copy_p1(%m: memref<2047xi8, #gpu.address_space<workgroup>>, %e: !blockscale.tmem_metadata<128x32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected memory to have at least the 2048 bytes of an atom, got}}
  blockscale.copy_metadata %m[%c0], %e {atom = 0 : i64}
      : memref<2047xi8, #gpu.address_space<workgroup>>, !blockscale.tmem_metadata<128x32>
  return
}

// -----

func.func @copy_p3(%m: memref<4096xi8, #gpu.address_space<workgroup>>, %e: !blockscale.tmem_metadata<128x32>) {
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{expected offset to be a multiple of 16 from 0 to 2048, got 8}}
  blockscale.copy_metadata %m[%c8], %e {atom = 0 : i64}
      : memref<4096xi8, #gpu.address_space<workgroup>>, !blockscale.tmem_metadata<128x32>
  return
}

// -----

func.func @copy_p4(%m: memref<4096xi8, #gpu.address_space<workgroup>>, %e: !blockscale.tmem_metadata<128x32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected group to be 1 or 2, got 3}}
  blockscale.copy_metadata %m[%c0], %e {atom = 0 : i64, group = 3 : i64}
      : memref<4096xi8, #gpu.address_space<workgroup>>, !blockscale.tmem_metadata<128x32>
  return
}

// -----

!acc = !blockscale.tmem_acc<128x64>
!s = !blockscale.tmem_scales<128x4>
!e = !blockscale.tmem_metadata<128x32>
func.func @mma_t9_missing(%acc: !acc, %a: i64, %s: !s, %more: i1) {
  // expected-error@+1 {{expected metadata for #blockscale.instruction<tcgen05, 128x64x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>}}
  blockscale.tcgen05_mma <tcgen05, 128x64x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
      %acc, %a, %a, %s[0], %s[0], %more : !acc, i64, !s, !s
  return
}

// -----

!acc = !blockscale.tmem_acc<128x64>
!s = !blockscale.tmem_scales<128x4>
!e = !blockscale.tmem_metadata<128x32>
func.func @mma_t9_dense(%acc: !acc, %a: i64, %s: !s, %e: !e, %more: i1) {
  // expected-error@+1 {{expected no metadata for #blockscale.instruction<tcgen05, 128x64x32}}
  blockscale.tcgen05_mma <tcgen05, 128x64x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
      %acc, %a, %a, %s[0], %s[0], %more metadata %e[0] : !acc, i64, !s, !s, !e
  return
}

// -----

!acc = !blockscale.tmem_acc<128x64>
!s = !blockscale.tmem_scales<128x4>
!e = !blockscale.tmem_metadata<128x32>
func.func @mma_t9_step(%acc: !acc, %a: i64, %s: !s, %e: !e, %more: i1) {
  // expected-error@+1 {{expected the step of metadata to be 0 to 3 for '!blockscale.tmem_metadata<128x32>', got 4}}
  blockscale.tcgen05_mma <tcgen05, 128x64x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
      %acc, %a, %a, %s[0], %s[0], %more metadata %e[4] : !acc, i64, !s, !s, !e
  return
}

// -----

!acc = !blockscale.tmem_acc<128x64>
!s = !blockscale.tmem_scales<128x4>
!e = !blockscale.tmem_metadata<128x32>
func.func @mma_t9_tmem(%acc: !acc, %a: !blockscale.tmem_a<128x8>, %b: i64, %s: !s, %e: !e, %more: i1) {
  // expected-error@+1 {{expected a sparse a in shared memory, got '!blockscale.tmem_a<128x8>'}}
  blockscale.tcgen05_mma <tcgen05, 128x64x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
      %acc, %a, %b, %s[0], %s[0], %more metadata %e[0] : !acc, !blockscale.tmem_a<128x8>, !s, !s, !e
  return
}

// -----

!acc = !blockscale.tmem_acc<128x256, group = 2>
!s = !blockscale.tmem_scales<128x4>
!t = !blockscale.tmem_scales<256x4, copies = 2>
!e = !blockscale.tmem_metadata<128x32>
func.func @mma_t8(%acc: !acc, %a: i64, %s: !s, %t: !t, %e: !e, %more: i1) {
  // expected-error@+1 {{expected M of 256 for pairs of CTAs with a sparse A, got}}
  blockscale.tcgen05_mma <tcgen05, 128x256x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
      %acc, %a, %a, %s[0], %t[0], %more metadata %e[0] {group = 2 : i64} : !acc, i64, !s, !t, !e
  return
}

// -----

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>
!s = !blockscale.tmem_scales<128x4>
func.func @tile_a4(%a: !a, %b: !b, %s: !s, %acc: !blockscale.tmem_acc<128x64>,
                   %e: !blockscale.tmem_metadata<128x32>, %more: i1) {
  // expected-error@+1 {{expected tiles with a multiple of 32 bytes of a and twice as many of b along K, got 128 and 128}}
  blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more metadata %e
      instruction = <tcgen05, 128x64x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
      layouts = <k, slots, swizzled>, <k, slots, swizzled>
      : !a, !s, !b, !s, !blockscale.tmem_acc<128x64>, !blockscale.tmem_metadata<128x32>
  return
}

// -----

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<2x64x128xi8, #gpu.address_space<workgroup>>
!s = !blockscale.tmem_scales<128x4>
func.func @tile_a6(%a: !a, %b: !b, %s: !s, %acc: !blockscale.tmem_acc<128x64>,
                   %e: !blockscale.tmem_metadata<128x16>, %more: i1) {
  // expected-error@+1 {{expected the step of metadata to be 0 to 1 for '!blockscale.tmem_metadata<128x16>', got 3}}
  blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more metadata %e
      instruction = <tcgen05, 128x64x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
      layouts = <k, slots, swizzled>, <k, slots, swizzled>
      : !a, !s, !b, !s, !blockscale.tmem_acc<128x64>, !blockscale.tmem_metadata<128x16>
  return
}
