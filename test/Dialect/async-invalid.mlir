// Constraints of ops of asynchronous kernels, and of warp-specialized schedules.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

gpu.module @kernels {
  gpu.func @f() {
    // expected-error@+1 {{expected a positive number of warps for each of 1 regions, got [4, 1]}}
    blockscale.roles warps = [4, 1] {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f() {
    // expected-error@+1 {{expected a positive number of warps for each of 2 regions, got [4, 0]}}
    blockscale.roles warps = [4, 0] {
    }, {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f() {
    // expected-error@+1 {{expected at most 32 warps, got [9223372036854775807, 9223372036854775807]}}
    blockscale.roles warps = [9223372036854775807, 9223372036854775807] {
    }, {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%barriers: memref<4xi64>, %i: index) {
    // expected-error@+1 {{expected barriers to have a static shape, the identity layout and the workgroup memory space, got 'memref<4xi64>'}}
    blockscale.barrier_init %barriers[%i], 1 : memref<4xi64>
    gpu.return
  }
}

// -----

!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @f(%barriers: !barriers) {
    %c4 = arith.constant 4 : index
    // expected-error@+1 {{expected one of 4 barriers, got number 4}}
    blockscale.barrier_init %barriers[%c4], 1 : !barriers
    gpu.return
  }
}

// -----

!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @f(%barriers: !barriers, %parity: i32) {
    %c-1 = arith.constant -1 : index
    // expected-error@+1 {{expected one of 4 barriers, got number -1}}
    blockscale.barrier_wait %barriers[%c-1], %parity : !barriers
    gpu.return
  }
}

// -----

!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @f(%barriers: !barriers, %i: index) {
    // expected-error@+1 {{expected a count from 1 to 1048575, got 0}}
    blockscale.barrier_init %barriers[%i], 0 : !barriers
    gpu.return
  }
}

// -----

!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @f(%barriers: !barriers, %i: index) {
    // expected-error@+1 {{expected a count from 1 to 1048575, got 1048576}}
    blockscale.barrier_init %barriers[%i], 1048576 : !barriers
    gpu.return
  }
}

// -----

!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @f(%barriers: !barriers, %i: index) {
    // expected-error@+1 {{expected 0 to 1048575 bytes, got 1048576}}
    blockscale.barrier_arrive %barriers[%i] expect 1048576 : !barriers
    gpu.return
  }
}

// -----

!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @f(%barriers: !barriers, %i: index) {
    // expected-error@+1 {{expected 0 to 1048575 bytes, got -1}}
    blockscale.barrier_arrive %barriers[%i] expect -1 : !barriers
    gpu.return
  }
}

// -----

!barriers = memref<1xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @f(%map: !llvm.ptr, %at: i32, %tile: memref<128x128xi8>,
              %barriers: !barriers, %i: index) {
    // expected-error@+1 {{expected memory to have a static shape, the identity layout and the workgroup memory space, got 'memref<128x128xi8>'}}
    blockscale.tensor_load %map[%at] to %tile[%i], %barriers[%i]
        : memref<128x128xi8>, !barriers
    gpu.return
  }
}

// -----

!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
!barriers = memref<1xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @f(%map: !llvm.ptr, %at: i32, %tile: !tile, %barriers: !barriers,
              %i: index) {
    %c64 = arith.constant 64 : index
    // expected-error@+1 {{expected an offset in memory that is a multiple of 128, got 64}}
    blockscale.tensor_load %map[%at] to %tile[%c64], %barriers[%i]
        : !tile, !barriers
    gpu.return
  }
}

// -----

!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
!barriers = memref<1xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @f(%map: !llvm.ptr, %at: i32, %tile: !tile, %barriers: !barriers,
              %i: index) {
    %c16384 = arith.constant 16384 : index
    // expected-error@+1 {{expected an offset in memory that is a multiple of 128, got 16384}}
    blockscale.tensor_load %map[%at] to %tile[%c16384], %barriers[%i]
        : !tile, !barriers
    gpu.return
  }
}

// -----

!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
!barriers = memref<1xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @f(%map: !llvm.ptr, %at: i32, %tile: !tile, %barriers: !barriers,
              %i: index) {
    // expected-error@+1 {{expected 1 to 5 coordinates, got 6}}
    blockscale.tensor_load %map[%at, %at, %at, %at, %at, %at] to %tile[%i],
        %barriers[%i] : !tile, !barriers
    gpu.return
  }
}

// -----

!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
!barriers = memref<1xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @f(%map: !llvm.ptr, %tile: !tile, %barriers: !barriers,
              %i: index) {
    // expected-error@+1 {{expected 1 to 5 coordinates, got 0}}
    blockscale.tensor_load %map[] to %tile[%i], %barriers[%i]
        : !tile, !barriers
    gpu.return
  }
}

// -----

// M of the tile and of the instruction.

!a = memref<64x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x4>
gpu.module @kernels {
  gpu.func @f(%a: !a, %s: !scales, %b: !b, %acc: !blockscale.tmem_acc<128x64>,
              %more: i1) {
    // expected-error@+1 {{expected a to have 128 rows, got 64}}
    blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more
        instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
        layouts = <k, slots, swizzled>, <k, slots, swizzled>
        : !a, !scales, !b, !scales, !blockscale.tmem_acc<128x64>
    gpu.return
  }
}

// -----

// N of the tile and of the instruction, transposed.

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<2x128x64xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x4>
gpu.module @kernels {
  gpu.func @f(%a: !a, %s: !scales, %b: !b, %acc: !blockscale.tmem_acc<128x64>,
              %more: i1) {
    // expected-error@+1 {{expected b to have 64 rows, got 128}}
    blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more
        instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
        layouts = <k, slots, swizzled>, <mn, slots, swizzled>
        : !a, !scales, !b, !scales, !blockscale.tmem_acc<128x64>
    gpu.return
  }
}

// -----

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x64xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x4>
gpu.module @kernels {
  gpu.func @f(%a: !a, %s: !scales, %b: !b, %acc: !blockscale.tmem_acc<128x64>,
              %more: i1) {
    // expected-error@+1 {{expected tiles with the same multiple of 32 bytes along K, got 128 and 64}}
    blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more
        instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
        layouts = <k, slots, swizzled>, <k, slots, swizzled>
        : !a, !scales, !b, !scales, !blockscale.tmem_acc<128x64>
    gpu.return
  }
}

// -----

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x4>
gpu.module @kernels {
  gpu.func @f(%a: !a, %s: !scales, %b: !b, %acc: !blockscale.tmem_acc<128x64>,
              %more: i1) {
    // expected-error@+1 {{expected b with swizzle rows of padded for e2m1, got slots}}
    blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more
        instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
        layouts = <k, slots, swizzled>, <k, slots, swizzled>
        : !a, !scales, !b, !scales, !blockscale.tmem_acc<128x64>
    gpu.return
  }
}

// -----

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x4>
gpu.module @kernels {
  gpu.func @f(%a: !a, %s: !scales, %b: !b, %acc: !blockscale.tmem_acc<128x64>,
              %more: i1) {
    // expected-error@+1 {{expected a with swizzle rows of 16 bytes, or of 32, 64 or 128 that are swizzled, got 128}}
    blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more
        instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
        layouts = <k, slots>, <k, slots, swizzled>
        : !a, !scales, !b, !scales, !blockscale.tmem_acc<128x64>
    gpu.return
  }
}

// -----

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x4>
gpu.module @kernels {
  gpu.func @f(%a: !a, %s: !scales, %b: !b, %acc: !blockscale.tmem_acc<128x32>,
              %more: i1) {
    // expected-error@+1 {{expected an accumulator of 128x64, got '!blockscale.tmem_acc<128x32>'}}
    blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more
        instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
        layouts = <k, slots, swizzled>, <k, slots, swizzled>
        : !a, !scales, !b, !scales, !blockscale.tmem_acc<128x32>
    gpu.return
  }
}

// -----

// Four instructions of four blocks each need 16.

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<64x128xi8, #gpu.address_space<workgroup>>
!sa = !blockscale.tmem_scales<128x16>
!sb = !blockscale.tmem_scales<128x12>
gpu.module @kernels {
  gpu.func @f(%a: !a, %sa: !sa, %b: !b, %sb: !sb,
              %acc: !blockscale.tmem_acc<128x64>, %more: i1) {
    // expected-error@+1 {{expected the block of b to be 0 to 8 for '!blockscale.tmem_scales<128x12>', got 12}}
    blockscale.async_tile_mma %a, %sa, %b, %sb, %acc, %more
        instruction = <tcgen05, 128x64x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
        layouts = <k, slots, swizzled>, <k, slots, swizzled>
        : !a, !sa, !b, !sb, !blockscale.tmem_acc<128x64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%sums: !blockscale.tmem_acc<128x64>, %column: index) {
    // expected-error@+1 {{expected a result of 128 rows, of a multiple of 8 columns, in #blockscale.warps<4x1>, or its transpose in #blockscale.lane_columns, got '!blockscale.acc<128x32, #blockscale.warps<2x2>>'}}
    %part = blockscale.acc_read %sums[%column]
        : !blockscale.tmem_acc<128x64>
        -> !blockscale.acc<128x32, #blockscale.warps<2x2>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%sums: !blockscale.tmem_acc<128x64>, %column: index) {
    // expected-error@+1 {{expected a result of 128 rows, of a multiple of 8 columns, in #blockscale.warps<4x1>, or its transpose in #blockscale.lane_columns, got '!blockscale.acc<12x128, #blockscale.lane_columns>'}}
    %part = blockscale.acc_read %sums[%column]
        : !blockscale.tmem_acc<128x64>
        -> !blockscale.acc<12x128, #blockscale.lane_columns>
    gpu.return
  }
}

// -----

// expected-error@+1 {{expected 1 to 1024 rows of 128 columns, one for each thread, got 128x64}}
func.func private @lanes(!blockscale.acc<128x64, #blockscale.lane_columns>)

// -----

gpu.module @kernels {
  gpu.func @f(%sums: !blockscale.tmem_acc<128x64>) {
    %c40 = arith.constant 40 : index
    // expected-error@+1 {{expected 32 columns among the 64 of the accumulator, got those from 40 on}}
    %part = blockscale.acc_read %sums[%c40]
        : !blockscale.tmem_acc<128x64>
        -> !blockscale.acc<128x32, #blockscale.warps<4x1>>
    gpu.return
  }
}

// -----

// expected-error@+1 {{expected three sizes of a tile, got 2}}
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 256], stages = 4, accumulators = 2, persistent = true>

// -----

// expected-error@+1 {{expected M of the tile to be a multiple of 64 up to 256, got 96}}
#schedule = #blockscale.warp_specialized_schedule<tile = [96, 256, 128], stages = 4, accumulators = 2, persistent = true>

// -----

// expected-error@+1 {{expected N of the tile to be a multiple of 8 up to 256, or 1 for the kernel gemv, got 260}}
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 260, 128], stages = 4, accumulators = 2, persistent = true>

// -----

// expected-error@+1 {{expected K of the tile to be a power of two from 64 to 2048, got 32}}
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 32], stages = 4, accumulators = 2, persistent = true>

// -----

// expected-error@+1 {{expected 1 to 16 stages, got 17}}
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 17, accumulators = 2, persistent = true>

// -----

// expected-error@+1 {{expected 1 or 2 accumulators, got 3}}
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 4, accumulators = 3, persistent = true>

// -----

// expected-error@+1 {{expected raster groups of 1 to 1024 tiles, got 0}}
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 4, accumulators = 2, persistent = true, raster_group = 0>

// -----

// expected-error@+1 {{expected raster groups of 1 to 1024 tiles, got 1025}}
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 4, accumulators = 2, persistent = true, raster_group = 1025>

// -----

// expected-error@+1 {{expected 1 to 64 split-K ranges, got 0}}
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 4, accumulators = 2, persistent = true, split_k = 0>

// -----

// expected-error@+1 {{expected a cluster of 1, 2 or 4 blocks, got 3x1}}
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 4, accumulators = 2, persistent = true, cluster = 3x1>

// -----

// expected-error@+1 {{expected a cluster of 1, 2 or 4 blocks, got 4x2}}
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 4, accumulators = 2, persistent = true, cluster = 4x2>

// -----

// expected-error@+1 {{expected a cluster of 1, 2 or 4 blocks, got 0x1}}
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 4, accumulators = 2, persistent = true, cluster = 0x1>

// -----

// expected-error@+1 {{expected 1 block on an SM, or 2 for the kernel mixed_input with a tile of at most 128 x 64, got 2}}
#schedule = #blockscale.warp_specialized_schedule<tile = [64, 72, 128], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input, blocks_per_sm = 2>

// -----

// expected-error@+1 {{expected 1 block on an SM, or 2 for the kernel mixed_input with a tile of at most 128 x 64, got 2}}
#schedule = #blockscale.warp_specialized_schedule<tile = [64, 64, 128], stages = 2, accumulators = 1, persistent = true, blocks_per_sm = 2>

// -----

// expected-error@+1 {{expected 1 block on an SM, or 2 for the kernel mixed_input with a tile of at most 128 x 64, got 3}}
#schedule = #blockscale.warp_specialized_schedule<tile = [64, 64, 128], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input, blocks_per_sm = 3>

// -----

// expected-error@+2 {{expected two sizes of a cluster, got 3}}
// expected-error@+1 {{failed to parse BlockScale_WarpSpecializedScheduleAttr parameter 'cluster'}}
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 4, accumulators = 2, persistent = true, cluster = 2x2x1>

// -----

!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @f(%barriers: !barriers, %i: index, %rank: i32) {
    // expected-error@+1 {{expected no block of the cluster for an arrival that expects bytes, got 16 bytes}}
    blockscale.barrier_arrive %barriers[%i] of %rank expect 16 : !barriers
    gpu.return
  }
}

// -----

!barriers = memref<4xi64, #gpu.address_space<workgroup>>
func.func @arrive_b5_cluster(%b: !barriers, %i: index) {
  // expected-error@+1 {{expected a block of the cluster for an arrival that those of other blocks see}}
  blockscale.barrier_arrive %b[%i] cluster : !barriers
  return
}

// -----

!barriers = memref<4xi64, #gpu.address_space<workgroup>>
!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
func.func @load_l3(%map: !llvm.ptr, %tile: !tile, %b: !barriers, %i: index, %at: i32) {
  // expected-error@+1 {{expected group to be 1 or 2, got 4}}
  blockscale.tensor_load %map[%at] to %tile[%i], %b[%i] {group = 4 : i64} : !tile, !barriers
  return
}

// -----

func.func @memory_m1(%m: memref<32xi8>, %block: i32) {
  // expected-error@+1 {{expected memory to have a static shape, the identity layout and the workgroup memory space, got 'memref<32xi8>'}}
  %0 = blockscale.block_memory %m of %block : memref<32xi8> to memref<32xi8, 7>
  return
}

// -----

!own = memref<32xi8, #gpu.address_space<workgroup>>
func.func @memory_m2(%m: !own, %block: i32) {
  // expected-error@+1 {{expected a result of 'memref<32xi8, 7>', got 'memref<32xi8, 3>'}}
  %0 = blockscale.block_memory %m of %block : !own to memref<32xi8, 3>
  return
}

// -----

!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x4>
func.func @tile_a5(%a: !tile, %b: !tile, %s: !scales, %acc: !blockscale.tmem_acc<128x128>, %more: i1) {
  // expected-error@+1 {{expected types that have instructions with K of 96, swizzle rows of 128 bytes, N of a multiple of 16 and no steps, got #blockscale.instruction<tcgen05, 128x128x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>}}
  blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more
      instruction = <tcgen05, 128x128x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
      layouts = <k, slots, swizzled>, <k, slots, swizzled> instruction_k = 96
      : !tile, !scales, !tile, !scales, !blockscale.tmem_acc<128x128>
  return
}

// -----

!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x4>
func.func @tile_a5_k(%a: !tile, %b: !tile, %s: !scales, %acc: !blockscale.tmem_acc<128x128>, %more: i1) {
  // expected-error@+1 {{expected types that have instructions with K of 80, swizzle rows of 128 bytes, N of a multiple of 16 and no steps, got #blockscale.instruction<tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2>}}
  blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more
      instruction = <tcgen05, 128x128x64, mxf4, e2m1, e2m1, ue8m0, 2>
      layouts = <k, slots, swizzled>, <k, slots, swizzled> instruction_k = 80
      : !tile, !scales, !tile, !scales, !blockscale.tmem_acc<128x128>
  return
}

// -----

// Each CTA of a pair has half of the rows of B.
!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
!scales = !blockscale.tmem_scales<128x4>
func.func @tile_a3_pair(%a: !tile, %b: !tile, %s: !scales, %acc: !blockscale.tmem_acc<256x128, group = 2>, %more: i1) {
  // expected-error@+1 {{expected b to have 64 rows, got 128}}
  blockscale.async_tile_mma %a, %s, %b, %s, %acc, %more
      instruction = <tcgen05, 256x128x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
      layouts = <k, slots, swizzled>, <k, slots, swizzled>
      : !tile, !scales, !tile, !scales, !blockscale.tmem_acc<256x128, group = 2>
  return
}

// -----

// 32 rows along N of 64 elements, where the instruction has N of 64.

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<1x64x64xi8, #gpu.address_space<workgroup>>
func.func @tile_a3_halves(%a: !a, %b: !b, %acc: !blockscale.tmem_acc<128x64>, %more: i1) {
  // expected-error@+1 {{'blockscale.async_tile_mma' op expected b to have 64 rows, got 32}}
  blockscale.async_tile_mma %a, %b, %acc, %more
      instruction = <tcgen05, 128x64x16, unscaled, bf16, bf16, none, 0>
      layouts = <k, slots, swizzled>, <mn, slots, swizzled>
      : !a, !b, !blockscale.tmem_acc<128x64>
  return
}

// -----

!a = memref<128x128xi8, #gpu.address_space<workgroup>>
!b = memref<1x128x128xi8, #gpu.address_space<workgroup>>
func.func @tile_a4_halves(%a: !a, %b: !b, %acc: !blockscale.tmem_acc<128x64>, %more: i1) {
  // expected-error@+1 {{expected tiles with the same multiple of 32 bytes along K, got 128 and 256}}
  blockscale.async_tile_mma %a, %b, %acc, %more
      instruction = <tcgen05, 128x64x16, unscaled, bf16, bf16, none, 0>
      layouts = <k, slots, swizzled>, <mn, slots, swizzled>
      : !a, !b, !blockscale.tmem_acc<128x64>
  return
}

// -----

!tile = memref<128x128xi8, #gpu.address_space<workgroup>>
func.func @tile_operands(%a: !tile, %acc: !blockscale.tmem_acc<128x128>, %more: i1) {
  // expected-error@+1 {{expected two tiles, each with scales or none of them, an accumulator and a condition}}
  blockscale.async_tile_mma %a, %a, %a, %acc, %more
      instruction = <tcgen05, 128x128x16, unscaled, bf16, bf16, none, 0>
      layouts = <k, slots, swizzled>, <k, slots, swizzled>
      : !tile, !tile, !blockscale.tmem_acc<128x128>
  return
}
