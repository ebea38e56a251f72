// Round trips of load_fragments and fragments_mma.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s

!a = memref<64x64xi8, #gpu.address_space<workgroup>>
!b = memref<32x64xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<64x32, #blockscale.warps<2x1>>

// CHECK-LABEL: func @step(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<64x64xi8, {{.*}}>, %[[B:[a-z0-9]+]]: memref<32x64xi8, {{.*}}>, %[[ACC:[a-z0-9]+]]: !blockscale.acc<64x32,
// CHECK-NEXT:    %[[STEP:.*]] = blockscale.load_fragments %[[A]], %[[B]] step = 1 of !blockscale.acc<64x32, #blockscale.warps<2x1>> instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0> layouts = <k, slots, swizzled>, <mn, slots, swizzled> : memref<64x64xi8, #gpu.address_space<workgroup>>, memref<32x64xi8, #gpu.address_space<workgroup>> -> <16>
// CHECK-NEXT:    blockscale.fragments_mma %[[STEP]], %[[ACC]] instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0> : <16>, <64x32, #blockscale.warps<2x1>>
func.func @step(%a: !a, %b: !b, %acc: !acc) -> !acc {
  %0 = blockscale.load_fragments %a, %b step = 1 of !acc
       instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
       layouts = <k, slots, swizzled>, <mn, slots, swizzled> : !a, !b -> <16>
  %1 = blockscale.fragments_mma %0, %acc
       instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0> : <16>, <64x32, #blockscale.warps<2x1>>
  return %1 : !acc
}
