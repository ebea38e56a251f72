// Ops of asynchronous kernels are read as they are written.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s

!barriers = memref<4xi64, #gpu.address_space<workgroup>>
!tile = memref<128x128xi8, #gpu.address_space<workgroup>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @roles(
  // CHECK:         blockscale.roles warps = [4, 1] {
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:    }, {
  // CHECK-NEXT:    }
  gpu.func @roles() {
    blockscale.roles warps = [4, 1] {
      gpu.barrier
    }, {
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @barriers(
  // CHECK:         blockscale.barrier_init %{{.*}}[%{{.*}}], 33 : memref<4xi64,
  // CHECK-NEXT:    blockscale.barrier_arrive %{{.*}}[%{{.*}}] : memref<4xi64,
  // CHECK-NEXT:    blockscale.barrier_arrive %{{.*}}[%{{.*}}] expect 1048575 : memref<4xi64,
  // CHECK-NEXT:    blockscale.barrier_wait %{{.*}}[%{{.*}}], %{{.*}} : memref<4xi64,
  gpu.func @barriers(%barriers: !barriers, %i: index, %parity: i32) {
    blockscale.barrier_init %barriers[%i], 33 : !barriers
    blockscale.barrier_arrive %barriers[%i] : !barriers
    blockscale.barrier_arrive %barriers[%i] expect 1048575 : !barriers
    blockscale.barrier_wait %barriers[%i], %parity : !barriers
    gpu.return
  }

  // CHECK-LABEL: gpu.func @clusters(
  // CHECK:         blockscale.barrier_arrive %{{.*}}[%{{.*}}] of %{{.*}} : memref<4xi64,
  // CHECK-NEXT:    blockscale.tensor_load %{{.*}}[%{{.*}}] to %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] blocks %{{.*}} : memref<128x128xi8,
  // CHECK-NEXT:    blockscale.tensor_load %{{.*}}[%{{.*}}] to %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] blocks %{{.*}} hint 5 :
  // CHECK-NEXT:    blockscale.cluster_barrier
  gpu.func @clusters(%map: !llvm.ptr, %at: i32, %tile: !tile, %offset: index,
                     %barriers: !barriers, %i: index, %rank: i32,
                     %ranks: i16) {
    blockscale.barrier_arrive %barriers[%i] of %rank : !barriers
    blockscale.tensor_load %map[%at] to %tile[%offset], %barriers[%i]
        blocks %ranks : !tile, !barriers
    blockscale.tensor_load %map[%at] to %tile[%offset], %barriers[%i]
        blocks %ranks hint 5 : !tile, !barriers
    blockscale.cluster_barrier
    gpu.return
  }

  // CHECK-LABEL: gpu.func @schedules(
  // CHECK-SAME:    a = #blockscale.warp_specialized_schedule<tile = [128, 64, 64], stages = 4, accumulators = 1, persistent = true>,
  // CHECK-SAME:    b = #blockscale.warp_specialized_schedule<tile = [128, 64, 64], stages = 4, accumulators = 1, persistent = true, split_k = 2, cluster = 2x1>,
  // CHECK-SAME:    c = #blockscale.warp_specialized_schedule<tile = [128, 64, 64], stages = 4, accumulators = 1, persistent = true, cluster = 1x4>
  gpu.func @schedules() attributes {
      a = #blockscale.warp_specialized_schedule<tile = [128, 64, 64], stages = 4, accumulators = 1, persistent = true, cluster = 1x1>,
      b = #blockscale.warp_specialized_schedule<tile = [128, 64, 64], stages = 4, accumulators = 1, persistent = true, split_k = 2, cluster = 2x1>,
      c = #blockscale.warp_specialized_schedule<tile = [128, 64, 64], stages = 4, accumulators = 1, persistent = true, cluster = 1x4>} {
    gpu.return
  }

  // CHECK-LABEL: gpu.func @copies(
  // CHECK:         blockscale.tensor_load %{{.*}}[%{{.*}}] to %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] : memref<128x128xi8,
  // CHECK-NEXT:    blockscale.tensor_load %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] hint 1364590687093260288 :
  gpu.func @copies(%map: !llvm.ptr, %at: i32, %tile: !tile, %offset: index,
                   %barriers: !barriers, %i: index) {
    blockscale.tensor_load %map[%at] to %tile[%offset], %barriers[%i]
        : !tile, !barriers
    blockscale.tensor_load %map[%at, %at] to %tile[%offset], %barriers[%i]
        hint 1364590687093260288 : !tile, !barriers
    gpu.return
  }

  // CHECK-LABEL: gpu.func @products(
  // CHECK:         blockscale.async_tile_mma
  // CHECK-SAME:      instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
  // CHECK-SAME:      layouts = <k, slots, swizzled>, <k, padded, swizzled> : memref<128x128xi8, #gpu.address_space<workgroup>>, <128x4>, memref<64x128xi8, #gpu.address_space<workgroup>>, <128x4>, <128x64>
  // CHECK:         blockscale.async_tile_mma
  // CHECK-SAME:      steps %{{.*}} instruction
  // CHECK-SAME:      layouts = <k, slots, swizzled>, <mn, slots, swizzled>
  // CHECK:         blockscale.async_tile_mma %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} instruction = <tcgen05, 128x64x16, unscaled, bf16, bf16, none, 0>
  // CHECK-SAME:      : memref<128x128xi8, #gpu.address_space<workgroup>>, memref<1x64x128xi8, #gpu.address_space<workgroup>>, <128x64>
  // CHECK:         %[[PART:.*]] = blockscale.acc_read %{{.*}}[%{{.*}}] : <128x64> -> <128x32, #blockscale.warps<4x1>>
  // CHECK-NEXT:    blockscale.acc_add %[[PART]], %[[PART]] : <128x32, #blockscale.warps<4x1>>
  // CHECK-NEXT:    blockscale.acc_read %{{.*}}[%{{.*}}] : <128x64> -> <24x128, #blockscale.lane_columns>
  gpu.func @products(%a: !tile, %sa: !blockscale.tmem_scales<128x4>,
                     %b: memref<64x128xi8, #gpu.address_space<workgroup>>,
                     %columns: memref<1x128x64xi8,
                                      #gpu.address_space<workgroup>>,
                     %halves: memref<1x64x128xi8,
                                     #gpu.address_space<workgroup>>,
                     %acc: !blockscale.tmem_acc<128x64>, %more: i1,
                     %steps: index) {
    blockscale.async_tile_mma %a, %sa, %b, %sa, %acc, %more
        instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
        layouts = <k, slots, swizzled>, <k, padded, swizzled>
        : !tile, !blockscale.tmem_scales<128x4>,
          memref<64x128xi8, #gpu.address_space<workgroup>>,
          !blockscale.tmem_scales<128x4>, !blockscale.tmem_acc<128x64>
    blockscale.async_tile_mma %a, %sa, %columns, %sa, %acc, %more steps %steps
        instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
        layouts = <k, slots, swizzled>, <mn, slots, swizzled>
        : !tile, !blockscale.tmem_scales<128x4>,
          memref<1x128x64xi8, #gpu.address_space<workgroup>>,
          !blockscale.tmem_scales<128x4>, !blockscale.tmem_acc<128x64>
    blockscale.async_tile_mma %a, %halves, %acc, %more
        instruction = <tcgen05, 128x64x16, unscaled, bf16, bf16, none, 0>
        layouts = <k, slots, swizzled>, <mn, slots, swizzled>
        : !tile, memref<1x64x128xi8, #gpu.address_space<workgroup>>,
          !blockscale.tmem_acc<128x64>
    %part = blockscale.acc_read %acc[%steps]
        : !blockscale.tmem_acc<128x64>
        -> !blockscale.acc<128x32, #blockscale.warps<4x1>>
    %sum = blockscale.acc_add %part, %part
        : !blockscale.acc<128x32, #blockscale.warps<4x1>>
    %transposed = blockscale.acc_read %acc[%steps]
        : !blockscale.tmem_acc<128x64>
        -> !blockscale.acc<24x128, #blockscale.lane_columns>
    gpu.return
  }
}
