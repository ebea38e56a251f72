// The ops of GEMV products of fp4.

// RUN: blockscale-opt %s -split-input-file | blockscale-opt -split-input-file | FileCheck %s
// RUN: blockscale-opt %s -split-input-file --mlir-print-op-generic | blockscale-opt -split-input-file | FileCheck %s

!elements = memref<1x64x64xi8, #gpu.address_space<workgroup>>
!row = memref<8x8x16xi8, #gpu.address_space<workgroup>>
!factors = memref<4xi32, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<8x64, #blockscale.warp_columns<4>>

// CHECK-LABEL: func @power(
// CHECK-NEXT:    %[[PARTS:.*]], %{{.*}} = blockscale.warpgroup_mma_gemv %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scales = %{{.*}}, %{{.*}} types = <e2m1, e2m1, ue8m0, 32> : memref<1x64x64xi8, #gpu.address_space<workgroup>>, memref<8x8x16xi8, #gpu.address_space<workgroup>>, memref<4xi32, #gpu.address_space<workgroup>>, <8x64, #blockscale.warp_columns<4>>
// CHECK-NEXT:    blockscale.acc_total %[[PARTS]] : <8x64, #blockscale.warp_columns<4>>
func.func @power(%y: !elements, %x: !row, %f: !factors, %acc: !acc, %inexact: i32, %scales: i32) -> !acc {
  %0, %1 = blockscale.warpgroup_mma_gemv %y, %x, %f, %acc, %inexact scales = %scales, %scales
       types = <e2m1, e2m1, ue8m0, 32> : !elements, !row, !factors, !acc
  %2 = blockscale.acc_total %0 : !acc
  return %2 : !acc
}

// -----

// Two chunks of eight blocks each.

!elements = memref<2x64x64xi8, #gpu.address_space<workgroup>>
!row = memref<16x8x16xi8, #gpu.address_space<workgroup>>
!factors = memref<16xi32, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<8x64, #blockscale.warp_columns<4>>

// CHECK-LABEL: func @scales_with_mantissa(
// CHECK-NEXT:    blockscale.warpgroup_mma_gemv
func.func @scales_with_mantissa(%y: !elements, %x: !row, %f: !factors, %acc: !acc, %inexact: i32, %s: i32) {
  %0, %1 = blockscale.warpgroup_mma_gemv %y, %x, %f, %acc, %inexact
       scales = %s, %s, %s, %s, %s, %s, %s, %s types = <e2m1, e2m1, ue4m3, 16> : !elements, !row, !factors, !acc
  return
}
