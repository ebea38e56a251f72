// Accumulators of warpgroups that are used without a wait.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(blockscale-to-fragments)))" -split-input-file -verify-diagnostics

gpu.module @kernels {
  gpu.func @early(%d: memref<64x64xf32>)
      workgroup(%a : memref<64x128xi8, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %zero = blockscale.acc_zero : !blockscale.acc<64x64, #blockscale.warps<4x1>>
    %product = blockscale.warpgroup_mma %a, %a, %zero
        instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0>
        layouts = <k, slots, swizzled>, <k, slots, swizzled>
        : memref<64x128xi8, #gpu.address_space<workgroup>>,
          memref<64x128xi8, #gpu.address_space<workgroup>>,
          !blockscale.acc<64x64, #blockscale.warps<4x1>>
    // expected-error@+1 {{expected sums that a warpgroup_wait has waited for, got those of a warpgroup_mma}}
    blockscale.acc_store %product, %d[%c0, %c0]
        : !blockscale.acc<64x64, #blockscale.warps<4x1>>, memref<64x64xf32>
    gpu.return
  }
}
