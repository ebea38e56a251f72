// Every constraint of the types of tcgen05 and of the ops on tensor memory,
// broken.

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
  // expected-error@+1 {{'blockscale.tmem_alloc' op expected group to be 1 or 2, got 3}}
  blockscale.tmem_alloc %slot {columns = 32 : i64, group = 3 : i64} : !slot
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
  // expected-error@+1 {{'blockscale.tmem_relinquish' op expected group to be 1 or 2, got 3}}
  blockscale.tmem_relinquish {group = 3 : i64}
  return
}

// -----

func.func @dealloc_a3(%t: !blockscale.tmem<32>) {
  // expected-error@+1 {{'blockscale.tmem_dealloc' op expected group to be 1 or 2, got 3}}
  blockscale.tmem_dealloc %t {group = 3 : i64} : !blockscale.tmem<32>
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

// -----

// expected-error@+1 {{expected 4 copies of scales, or 2 of 256 rows, got 2 of 128}}
func.func private @tmem_scales_c1_copies(!blockscale.tmem_scales<128x4, copies = 2>)
