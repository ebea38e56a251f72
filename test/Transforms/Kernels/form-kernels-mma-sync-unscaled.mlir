// Products without scales on the path dequant_mma: the multistage loop in parts.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_80 --blockscale-select-path --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize -split-input-file | FileCheck %s

// The barrier is in front of the last products of a stage, and the first
// fragments of the next stage are loaded behind it. Columns of y are contiguous:
// rows of its tile are steps along K.

// CHECK-LABEL: gpu.func @main__matmul(
// CHECK:         nvgpu.device_async_copy
// CHECK:         nvgpu.device_async_wait
// CHECK-NEXT:    gpu.barrier
// CHECK:         %[[FIRST:.*]] = blockscale.load_fragments %{{.*}}, %{{.*}} step = 0 of !blockscale.acc<64x64, #blockscale.warps<2x2>> instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0> layouts = <k, slots, swizzled>, <mn, slots, swizzled> : memref<64x64xi8, {{.*}}>, memref<32x128xi8, {{.*}}> -> <16>
// CHECK:         scf.for {{.*}} iter_args({{.*}}, %[[STEP:[a-z0-9]+]] = %[[FIRST]]) -> ({{.*}}, !blockscale.fragments<16>)
// CHECK:           %[[SECOND:.*]] = blockscale.load_fragments %{{.*}}, %{{.*}} step = 1
// CHECK:           scf.if
// CHECK:             nvgpu.device_async_copy
// CHECK:           nvgpu.device_async_create_group
// CHECK-NEXT:      %[[SUM:.*]] = blockscale.fragments_mma %[[STEP]], %{{.*}} instruction
// CHECK:           nvgpu.device_async_wait
// CHECK-NEXT:      gpu.barrier
// CHECK:           %[[NEXT:.*]] = blockscale.load_fragments %{{.*}}, %{{.*}} step = 0
// CHECK-NEXT:      %[[LAST:.*]] = blockscale.fragments_mma %[[SECOND]], %[[SUM]] instruction
// CHECK-NEXT:      scf.yield %[[LAST]], {{.*}}, %[[NEXT]] :
// CHECK-NOT:     tile_mma
func.func @main(%x: tensor<64x128xbf16>, %y: tensor<128x64xbf16>, %acc: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = linalg.matmul {blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 32], warps = [2, 2], stages = 2>}
       ins(%x, %y : tensor<64x128xbf16>, tensor<128x64xbf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// With one stage there is nothing to load while it is multiplied.

// CHECK-LABEL: gpu.func @one_stage__matmul(
// CHECK-NOT:     load_fragments
// CHECK:         blockscale.tile_mma %{{.*}}, %c0_i8, %{{.*}}, %c0_i8, %{{.*}} types = <f16, f16, none, 1> instruction = <dequant_mma, 16x8x16, unscaled, f16, f16, none, 0>
func.func @one_stage(%x: tensor<64x32xf16>, %y: tensor<32x64xf16>, %acc: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = linalg.matmul {blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 32], warps = [2, 2], stages = 1>}
       ins(%x, %y : tensor<64x32xf16>, tensor<32x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
