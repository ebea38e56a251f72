// RUN: blockscale-opt %s -pass-pipeline='builtin.module(gpu.module(gpu.func(blockscale-lower-async)))' | FileCheck %s

// An instruction with a sparse A has 32 bytes of A, 64 bytes of B, whose second column starts with the third
// instruction, and two columns of metadata.

// CHECK-LABEL: gpu.func @sparse(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<128x128xi8, {{.*}}>, %[[B:[a-z0-9]+]]: memref<2x64x128xi8, {{.*}}>, %[[S:[a-z0-9]+]]: !blockscale.tmem_scales<128x4>, %[[E:[a-z0-9]+]]: !blockscale.tmem_metadata<128x32>, %[[ACC:[a-z0-9]+]]: !blockscale.tmem_acc<128x64>, %[[MORE:[a-z0-9]+]]: i1)
// CHECK:         %[[TRUE:.*]] = arith.constant true
// CHECK:         %[[A_0:.*]] = blockscale.matrix_descriptor %[[A]][%{{.*}}]
// CHECK:         %[[B_0:.*]] = blockscale.matrix_descriptor %[[B]][%{{.*}}]
// CHECK-NEXT:    blockscale.tcgen05_mma <tcgen05, 128x64x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4> %[[ACC]], %[[A_0]], %[[B_0]], %[[S]][0], %[[S]][0], %[[MORE]] metadata %[[E]][0]
// CHECK:         %[[C_32:.*]] = arith.constant 32 : index
// CHECK-NEXT:    %[[A_1:.*]] = blockscale.matrix_descriptor %[[A]][%[[C_32]]]
// CHECK-NEXT:    %[[C_64:.*]] = arith.constant 64 : index
// CHECK-NEXT:    %[[B_1:.*]] = blockscale.matrix_descriptor %[[B]][%[[C_64]]]
// CHECK-NEXT:    blockscale.tcgen05_mma {{.*}} %[[ACC]], %[[A_1]], %[[B_1]], %[[S]][1], %[[S]][1], %[[TRUE]] metadata %[[E]][1]
// CHECK:         %[[C_8192:.*]] = arith.constant 8192 : index
// CHECK-NEXT:    %[[B_2:.*]] = blockscale.matrix_descriptor %[[B]][%[[C_8192]]]
// CHECK-NEXT:    blockscale.tcgen05_mma {{.*}}, %[[B_2]], %[[S]][2], %[[S]][2], %[[TRUE]] metadata %[[E]][2]
// CHECK:         %[[C_8256:.*]] = arith.constant 8256 : index
// CHECK-NEXT:    %[[B_3:.*]] = blockscale.matrix_descriptor %[[B]][%[[C_8256]]]
// CHECK-NEXT:    blockscale.tcgen05_mma {{.*}}, %[[B_3]], %[[S]][3], %[[S]][3], %[[TRUE]] metadata %[[E]][3]
// CHECK-NEXT:    gpu.return
gpu.module @kernels {
  gpu.func @sparse(%a: memref<128x128xi8, #gpu.address_space<workgroup>>,
                   %b: memref<2x64x128xi8, #gpu.address_space<workgroup>>,
                   %s: !blockscale.tmem_scales<128x4>, %e: !blockscale.tmem_metadata<128x32>,
                   %acc: !blockscale.tmem_acc<128x64>, %more: i1) {
    blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more metadata %e
        instruction = <tcgen05, 128x64x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
        layouts = <k, slots, swizzled>, <k, slots, swizzled>
        : memref<128x128xi8, #gpu.address_space<workgroup>>, !blockscale.tmem_scales<128x4>,
          memref<2x64x128xi8, #gpu.address_space<workgroup>>, !blockscale.tmem_scales<128x4>,
          !blockscale.tmem_acc<128x64>, !blockscale.tmem_metadata<128x32>
    gpu.return
  }
}
