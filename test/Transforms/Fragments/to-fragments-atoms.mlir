// Scales in the layout `atoms`.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(blockscale-legalize,gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" | FileCheck %s

// A warp has 64 rows of A and 64 of B: the words of rows that are 32 apart
// are one load. A tile of 16 rows has words of its own, and so has one of 8
// columns: 2 loads for the four tiles of A, 4 for the eight of B, and all thread
// selectors are 0.

// CHECK-LABEL: gpu.func @atoms(
// CHECK-SAME:    workgroup(%{{.*}}, %[[A_SCALES:.*]] : memref<1x1x32x16xi8, {{.*}}, %{{.*}}, %[[B_SCALES:.*]] : memref<1x1x32x16xi8,
// CHECK-COUNT-2: vector.load %[[A_SCALES]][{{.*}}] {alignment = 8 : i64} : memref<1x1x32x16xi8, {{.*}}>, vector<8xi8>
// CHECK-NOT:     vector.load %[[A_SCALES]]
// CHECK-COUNT-4: vector.load %[[B_SCALES]][{{.*}}] {alignment = 8 : i64} : memref<1x1x32x16xi8, {{.*}}>, vector<8xi8>
// CHECK-NOT:     vector.load %[[B_SCALES]]
// CHECK-COUNT-32: blockscale.mma_sync {{.*}}[0, 0]{{.*}}[0, 0]
// CHECK-COUNT-32: blockscale.mma_sync {{.*}}[3, 0]{{.*}}[3, 0]
#shared = #gpu.address_space<workgroup>
!tile = memref<128x128xi8, #shared>
!atom = memref<1x1x32x16xi8, #shared>
!acc = !blockscale.acc<128x128, #blockscale.warps<2x2>>
gpu.module @kernels {
  gpu.func @atoms(%d: memref<128x128xf32>)
      workgroup(%a: !tile, %sa: !atom, %b: !tile, %sb: !atom) kernel {
    %c0 = arith.constant 0 : index
    %zero = blockscale.acc_zero : !acc
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %zero types = <e4m3, e5m2, ue8m0, 32>
           instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
           {a_layout = #blockscale.tile_layout<k, slots, swizzled>,
            b_layout = #blockscale.tile_layout<k, slots, swizzled>,
            a_scale_layout = #blockscale.scale_tile_layout<atoms>,
            b_scale_layout = #blockscale.scale_tile_layout<atoms>}
           : !tile, !atom, !tile, !atom, !acc
    blockscale.acc_store %sum, %d[%c0, %c0] in_bounds : !acc, memref<128x128xf32>
    gpu.return
  }

  // Two blocks are used: the bytes of others become 0x00.

  // CHECK-LABEL: gpu.func @blocks(
  // CHECK-DAG:     %[[MASK:.*]] = arith.constant 65535 : i32
  // CHECK:         vector.load {{.*}} : memref<1x1x32x16xi8, {{.*}}>, vector<4xi8>
  // CHECK:         arith.andi %{{.*}}, %[[MASK]] : i32
  gpu.func @blocks(%d: memref<16x8xf32>)
      workgroup(%a: memref<16x128xi8, #shared>, %sa: !atom, %b: memref<8x128xi8, #shared>, %sb: !atom) kernel {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %zero = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %zero blocks %c2 types = <e4m3, e5m2, ue8m0, 32>
           instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
           {a_scale_layout = #blockscale.scale_tile_layout<atoms>,
            b_scale_layout = #blockscale.scale_tile_layout<atoms>}
           : memref<16x128xi8, #shared>, !atom, memref<8x128xi8, #shared>, !atom,
             !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_store %sum, %d[%c0, %c0] in_bounds : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}
