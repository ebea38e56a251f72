// Schedules of products without scales by mma.sync.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_80 --blockscale-select-path --blockscale-legalize --blockscale-select-schedule -split-input-file -verify-diagnostics | FileCheck %s --check-prefixes=CHECK,AMPERE
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_89 --blockscale-select-path --blockscale-legalize --blockscale-select-schedule -split-input-file -verify-diagnostics | FileCheck %s --check-prefixes=CHECK,ADA

// Three stages of 64 elements along K, or four of 32 where there is less shared
// memory.

// CHECK-LABEL: func.func @large(
// AMPERE:        multistage_schedule<tile = [128, 256, 64], warps = [2, 4], stages = 3>
// ADA:           multistage_schedule<tile = [128, 256, 32], warps = [2, 4], stages = 4>
func.func @large(%x: tensor<4096x4096xbf16>, %y: tensor<4096x4096xbf16>, %acc: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%acc : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// Dynamic sizes count as large.

// CHECK-LABEL: func.func @dynamic(
// AMPERE:        multistage_schedule<tile = [128, 256, 64], warps = [2, 4], stages = 3>
func.func @dynamic(%x: tensor<?x?xbf16>, %y: tensor<?x?xbf16>, %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%acc : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Tiles for all SMs; no more stages than steps, and no more K than there is.

// CHECK-LABEL: func.func @medium(
// AMPERE:        multistage_schedule<tile = [128, 128, 32], warps = [2, 2], stages = 5>
// ADA:           multistage_schedule<tile = [64, 128, 32], warps = [2, 2], stages = 4>
func.func @medium(%x: tensor<1024x1024xf16>, %y: tensor<1024x1024xf16>, %acc: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%acc : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// CHECK-LABEL: func.func @small(
// CHECK:         multistage_schedule<tile = [32, 32, 32], warps = [1, 1], stages = 1>
func.func @small(%x: tensor<70x7xf16>, %y: tensor<7x80xf16>, %acc: tensor<70x80xf32>) -> tensor<70x80xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<70x7xf16>, tensor<7x80xf16>) outs(%acc : tensor<70x80xf32>) -> tensor<70x80xf32>
  return %0 : tensor<70x80xf32>
}

// Few rows: split-K.

// CHECK-LABEL: func.func @few(
// AMPERE:        multistage_schedule<tile = [16, 128, 64], warps = [1, 2], stages = 4, split_k = 6>
// ADA:           multistage_schedule<tile = [16, 128, 64], warps = [1, 2], stages = 4, split_k =
func.func @few(%x: tensor<16x4096xbf16>, %y: tensor<4096x4096xbf16>, %acc: tensor<16x4096xf32>) -> tensor<16x4096xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<16x4096xbf16>, tensor<4096x4096xbf16>) outs(%acc : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  return %0 : tensor<16x4096xf32>
}

// A schedule for another chip's kernels does not count here, and a remark says so.

// CHECK-LABEL: func.func @other_chip(
// CHECK:         multistage_schedule<
func.func @other_chip(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>, %acc: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-remark@+1 {{the schedule is not that of the attribute: expected one of the path dequant_mma, got #blockscale.warp_specialized_schedule<tile = [64, 64, 64], stages = 2, accumulators = 1, persistent = true>}}
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 64, 64], stages = 2, accumulators = 1, persistent = true>}
       ins(%x, %y : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @too_much(%x: tensor<256x256xbf16>, %y: tensor<256x256xbf16>, %acc: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected a schedule that needs at most}}
  %0 = linalg.matmul {blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 256, 64], warps = [2, 4], stages = 4>}
       ins(%x, %y : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%acc : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
