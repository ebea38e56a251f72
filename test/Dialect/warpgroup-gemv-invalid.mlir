// Violated constraints of the ops of GEMV products.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!elements = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!row = memref<8x8x16xi8, #gpu.address_space<workgroup>>
!factors = memref<4xi32, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<8x64, #blockscale.warp_columns<4>>

func.func @g1_formats(%y: !elements, %x: !row, %f: !factors, %acc: !acc, %s: i32) {
  // expected-error@+1 {{'blockscale.warpgroup_mma_gemv' op expected only types of e2m1, got #blockscale.type_combination<e4m3, e2m1, ue8m0, 32>}}
  %0, %1 = blockscale.warpgroup_mma_gemv %y, %x, %f, %acc, %s scales = %s, %s types = <e4m3, e2m1, ue8m0, 32> : !elements, !row, !factors, !acc
  return
}

// -----

!elements = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!row = memref<8x8x16xi8, #gpu.address_space<workgroup>>
!factors = memref<4xi32, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warp_columns<4>>

func.func @g2_rows(%y: !elements, %x: !row, %f: !factors, %acc: !acc, %s: i32) {
  // expected-error@+1 {{op expected an accumulator of 8 rows in #blockscale.warp_columns, and elements in chunks x 64 x 64, got '!blockscale.acc<16x64, #blockscale.warp_columns<4>>' and}}
  %0, %1 = blockscale.warpgroup_mma_gemv %y, %x, %f, %acc, %s scales = %s, %s types = <e2m1, e2m1, ue8m0, 32> : !elements, !row, !factors, !acc
  return
}

// -----

!elements = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!row = memref<8x8x16xi8, #gpu.address_space<workgroup>>
!factors = memref<4xi32, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<16x64, #blockscale.warps<1x4>>

func.func @g2_layout(%y: !elements, %x: !row, %f: !factors, %acc: !acc, %s: i32) {
  // expected-error@+1 {{op expected an accumulator of 8 rows in #blockscale.warp_columns}}
  %0, %1 = blockscale.warpgroup_mma_gemv %y, %x, %f, %acc, %s scales = %s, %s types = <e2m1, e2m1, ue8m0, 32> : !elements, !row, !factors, !acc
  return
}

// -----

!elements = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!row = memref<4x8x16xi8, #gpu.address_space<workgroup>>
!factors = memref<4xi32, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<8x64, #blockscale.warp_columns<4>>

func.func @g3_columns(%y: !elements, %x: !row, %f: !factors, %acc: !acc, %s: i32) {
  // expected-error@+1 {{op expected b of 8 x 8 x 16, and 4 factors, got 'memref<4x8x16xi8, #gpu.address_space<workgroup>>' and 'memref<4xi32, #gpu.address_space<workgroup>>'}}
  %0, %1 = blockscale.warpgroup_mma_gemv %y, %x, %f, %acc, %s scales = %s, %s types = <e2m1, e2m1, ue8m0, 32> : !elements, !row, !factors, !acc
  return
}

// -----

!elements = memref<2x64x64xi8, #gpu.address_space<workgroup>>
!row = memref<16x8x16xi8, #gpu.address_space<workgroup>>
!factors = memref<4xi32, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<8x64, #blockscale.warp_columns<4>>

func.func @g3_factors(%y: !elements, %x: !row, %f: !factors, %acc: !acc, %s: i32) {
  // expected-error@+1 {{op expected b of 16 x 8 x 16, and 8 factors, got}}
  %0, %1 = blockscale.warpgroup_mma_gemv %y, %x, %f, %acc, %s scales = %s, %s types = <e2m1, e2m1, ue8m0, 32> : !elements, !row, !factors, !acc
  return
}

// -----

!elements = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!row = memref<8x8x16xi8, #gpu.address_space<workgroup>>
!factors = memref<4xi32, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<8x64, #blockscale.warp_columns<4>>

func.func @g4_scales(%y: !elements, %x: !row, %f: !factors, %acc: !acc, %s: i32) {
  // expected-error@+1 {{op expected 2 registers of scales, got 3}}
  %0, %1 = blockscale.warpgroup_mma_gemv %y, %x, %f, %acc, %s scales = %s, %s, %s types = <e2m1, e2m1, ue8m0, 32> : !elements, !row, !factors, !acc
  return
}

// -----

func.func @o1_layout(%acc: !blockscale.acc<16x16, #blockscale.warps<1x1>>) {
  // expected-error@+1 {{'blockscale.acc_total' op expected an accumulator in #blockscale.warp_columns, got '!blockscale.acc<16x16, #blockscale.warps<1x1>>'}}
  %0 = blockscale.acc_total %acc : !blockscale.acc<16x16, #blockscale.warps<1x1>>
  return
}
