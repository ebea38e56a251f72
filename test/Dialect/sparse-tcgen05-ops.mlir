// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s

// A sparse A through tcgen05: metadata in tensor memory. Print and parse again.

// CHECK-LABEL: gpu.func @sparse(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<128x128xi8, {{.*}}>, %[[B:[a-z0-9]+]]: memref<2x64x128xi8, {{.*}}>, %[[ATOMS:[a-z0-9]+]]: memref<4096xi8, {{.*}}>, %[[S:[a-z0-9]+]]: !blockscale.tmem_scales<128x4>, %[[ACC:[a-z0-9]+]]: !blockscale.tmem_acc<128x64>, %[[T:[a-z0-9]+]]: !blockscale.tmem<512>, %[[MORE:[a-z0-9]+]]: i1, %[[STEPS:[a-z0-9]+]]: index)
// CHECK:         %[[C16:.*]] = arith.constant 16 : index
// CHECK:         %[[E:.*]] = blockscale.tmem_metadata %[[T]][%[[C16]]] : !blockscale.tmem<512> -> !blockscale.tmem_metadata<128x32>
// CHECK-NEXT:    blockscale.copy_metadata %[[ATOMS]][%[[STEPS]]], %[[E]] {atom = 1 : i64, group = 2 : i64} : memref<4096xi8, {{.*}}>, !blockscale.tmem_metadata<128x32>
// CHECK-NEXT:    blockscale.async_tile_mma %[[A]], %[[S]], %[[B]], %[[S]], %[[ACC]], %[[MORE]] metadata %[[E]] steps %[[STEPS]] instruction = <tcgen05, 128x64x64, mxf8f6f4, e4m3, e5m2, ue8m0, 1, 2:4> layouts = <k, slots, swizzled>, <k, slots, swizzled> : memref<128x128xi8, {{.*}}>, <128x4>, memref<2x64x128xi8, {{.*}}>, <128x4>, <128x64>, !blockscale.tmem_metadata<128x32>
// CHECK-NEXT:    blockscale.tcgen05_mma <tcgen05, 128x64x64, mxf8f6f4, e4m3, e5m2, ue8m0, 1, 2:4> %[[ACC]], %{{.*}}, %{{.*}}, %[[S]][1], %[[S]][2], %[[MORE]] metadata %[[E]][3] : !blockscale.tmem_acc<128x64>, i64, !blockscale.tmem_scales<128x4>, !blockscale.tmem_scales<128x4>, !blockscale.tmem_metadata<128x32>
gpu.module @kernels {
  gpu.func @sparse(%a: memref<128x128xi8, #gpu.address_space<workgroup>>,
                   %b: memref<2x64x128xi8, #gpu.address_space<workgroup>>,
                   %atoms: memref<4096xi8, #gpu.address_space<workgroup>>,
                   %s: !blockscale.tmem_scales<128x4>, %acc: !blockscale.tmem_acc<128x64>,
                   %t: !blockscale.tmem<512>, %more: i1, %steps: index) {
    %c16 = arith.constant 16 : index
    %word = arith.constant 0 : i64
    %e = blockscale.tmem_metadata %t[%c16] : !blockscale.tmem<512> -> !blockscale.tmem_metadata<128x32>
    blockscale.copy_metadata %atoms[%steps], %e {atom = 1 : i64, group = 2 : i64}
        : memref<4096xi8, #gpu.address_space<workgroup>>, !blockscale.tmem_metadata<128x32>
    blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more metadata %e steps %steps
        instruction = <tcgen05, 128x64x64, mxf8f6f4, e4m3, e5m2, ue8m0, 1, 2:4>
        layouts = <k, slots, swizzled>, <k, slots, swizzled>
        : memref<128x128xi8, #gpu.address_space<workgroup>>, !blockscale.tmem_scales<128x4>,
          memref<2x64x128xi8, #gpu.address_space<workgroup>>, !blockscale.tmem_scales<128x4>,
          !blockscale.tmem_acc<128x64>, !blockscale.tmem_metadata<128x32>
    blockscale.tcgen05_mma <tcgen05, 128x64x64, mxf8f6f4, e4m3, e5m2, ue8m0, 1, 2:4>
        %acc, %word, %word, %s[1], %s[2], %more metadata %e[3]
        : !blockscale.tmem_acc<128x64>, i64, !blockscale.tmem_scales<128x4>,
          !blockscale.tmem_scales<128x4>, !blockscale.tmem_metadata<128x32>
    gpu.return
  }
}
