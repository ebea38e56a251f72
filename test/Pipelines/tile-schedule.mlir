// The tile stage says how the kernel of each op divides it.

// RUN: blockscale-compile %s --target=sm_120a --emit=tile | FileCheck %s --check-prefix=CHOSEN
// RUN: blockscale-compile %s --target=sm_120a --emit=tile --schedule=tile=64x32x128,warps=4x1,stages=2 | FileCheck %s --check-prefix=ASKED
// RUN: blockscale-compile %s --target=sm_120a --emit=kernel --schedule=tile=64x32x128,warps=4x1,stages=2 | FileCheck %s --check-prefix=KERNEL
// RUN: blockscale-opt %s --blockscale-to-nvvm="target=sm_120a ptx-version=87 schedule=tile=64x32x128,warps=4x1,stages=2" > %t.opt
// RUN: blockscale-compile %s --target=sm_120a --emit=nvvm --schedule=tile=64x32x128,warps=4x1,stages=2 > %t.tool
// RUN: %python %S/Inputs/same_level.py %t.tool %t.opt

// All paths whose instructions are those of a warp have them.
// RUN: blockscale-compile %s --target=sm_90 --emit=tile --schedule=tile=64x32x128,warps=4x1,stages=2 | FileCheck %s --check-prefix=CONVERTED

// What no instruction computes has no schedule.
// RUN: sed "s/, .c$/& {blockscale.path = #blockscale.path<decompose>}/" %s > %t.plain
// RUN: blockscale-compile %t.plain --target=sm_90 --emit=tile --schedule=tile=64x32x128,warps=4x1,stages=2 | FileCheck %s --check-prefix=PLAIN

// CHOSEN: blockscale.instruction = #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>, blockscale.path = #blockscale.path<mma_sync>, blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 32, 128], warps = [2, 2], stages = 3>
// ASKED:  blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 32, 128], warps = [4, 1], stages = 2>
// KERNEL: blockscale.tile_mma {{.*}} <64x32, #blockscale.warps<4x1>>
// CONVERTED: blockscale.instruction = #blockscale.instruction<dequant_mma, 16x8x32, bf16, e4m3, e5m2, ue8m0, 1>, blockscale.path = #blockscale.path<dequant_mma>, blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 32, 128], warps = [4, 1], stages = 2>
// PLAIN:     blockscale.path = #blockscale.path<decompose>
// PLAIN-NOT: blockscale.schedule
func.func @mma(%x: tensor<50x384xf8E4M3FN>, %sx: tensor<50x12xf8E8M0FNU>,
               %y: tensor<384x20xf8E5M2>, %sy: tensor<12x20xf8E8M0FNU>,
               %c: tensor<50x20xf32>) -> tensor<50x20xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<50x384xf8E4M3FN>, tensor<50x12xf8E8M0FNU>,
         tensor<384x20xf8E5M2>, tensor<12x20xf8E8M0FNU>, tensor<50x20xf32>
  return %d : tensor<50x20xf32>
}
