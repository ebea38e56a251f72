// Round trips of the ops of wgmma.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s

!shared = memref<128x128xi8, #gpu.address_space<workgroup>>
!rows = memref<64x128xi8, #gpu.address_space<workgroup>>
!columns = memref<1x64x128xi8, #gpu.address_space<workgroup>>

// CHECK-LABEL: func @products(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<128x128xi8, {{.*}}>, %[[B:[a-z0-9]+]]: memref<64x128xi8, {{.*}}>, %[[T:[a-z0-9]+]]: memref<1x64x128xi8, {{.*}}>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: !blockscale.acc<128x64, #blockscale.warps<8x1>>)
// CHECK-NEXT:    %[[FIRST:.*]] = blockscale.warpgroup_mma %[[A]], %[[B]], %[[ACC]] instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0> layouts = <k, slots, swizzled>, <k, slots, swizzled> : memref<128x128xi8, #gpu.address_space<workgroup>>, memref<64x128xi8, #gpu.address_space<workgroup>>, <128x64, #blockscale.warps<8x1>>
// CHECK-NEXT:    %[[SECOND:.*]] = blockscale.warpgroup_mma %[[A]], %[[T]], %[[FIRST]] instruction = <wgmma, 64x64x16, unscaled, f16, f16, none, 0> layouts = <k, slots, swizzled>, <mn, slots, swizzled> : memref<128x128xi8,
// CHECK-NEXT:    %{{.*}}:2 = blockscale.warpgroup_wait %[[SECOND]], %[[SECOND]] pending = 1 : !blockscale.acc<128x64, #blockscale.warps<8x1>>, !blockscale.acc<128x64, #blockscale.warps<8x1>>
func.func @products(%a: !shared, %b: !rows, %t: !columns,
                    %acc: !blockscale.acc<128x64, #blockscale.warps<8x1>>) {
  %0 = blockscale.warpgroup_mma %a, %b, %acc
       instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <k, slots, swizzled>
       : !shared, !rows, !blockscale.acc<128x64, #blockscale.warps<8x1>>
  %1 = blockscale.warpgroup_mma %a, %t, %0
       instruction = <wgmma, 64x64x16, unscaled, f16, f16, none, 0>
       layouts = <k, slots, swizzled>, <mn, slots, swizzled>
       : !shared, !columns, !blockscale.acc<128x64, #blockscale.warps<8x1>>
  %2:2 = blockscale.warpgroup_wait %1, %1 pending = 1
         : !blockscale.acc<128x64, #blockscale.warps<8x1>>, !blockscale.acc<128x64, #blockscale.warps<8x1>>
  return
}

// CHECK-LABEL: func @descriptor(
// CHECK-NEXT:    blockscale.matrix_descriptor %{{.*}}[%{{.*}}] layout = <k, slots, swizzled> wgmma : memref<64x128xi8,
func.func @descriptor(%b: !rows, %offset: index) -> i64 {
  %0 = blockscale.matrix_descriptor %b[%offset] layout = <k, slots, swizzled> wgmma : !rows
  return %0 : i64
}
