// Schedules that are chosen for the path wgmma, for the 132 SMs of
// an H100: wide tiles, except for results that have too few of them; as many
// stages as fit in shared memory.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule | FileCheck %s

// CHECK-LABEL: func @large(
// CHECK:         tile = [128, 256, 64], stages = 4, accumulators = 1, persistent = true>
func.func @large(%x: tensor<8192x8192xbf16>, %y: tensor<8192x8192xbf16>, %acc: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) outs(%acc : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  return %0 : tensor<8192x8192xf32>
}

// Dynamic sizes are assumed to be large.

// CHECK-LABEL: func @dynamic(
// CHECK:         tile = [128, 256, 64], stages = 4, accumulators = 1, persistent = true>
func.func @dynamic(%x: tensor<?x?xf16>, %y: tensor<?x?xf16>, %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<?x?xf16>, tensor<?x?xf16>) outs(%acc : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// 128 tiles of 64 x 128 where 128 x 256 makes 32.

// CHECK-LABEL: func @square(
// CHECK:         tile = [64, 128, 64], stages = 8, accumulators = 1, persistent = true>
func.func @square(%x: tensor<1024x1024xbf16>, %y: tensor<1024x1024xbf16>, %acc: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%acc : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// The result has few columns, and a column less than 16 is one of 16.

// CHECK-LABEL: func @narrow(
// CHECK:         tile = [64, 16, 64], stages = 8, accumulators = 1, persistent = true>
func.func @narrow(%x: tensor<4096x1024xbf16>, %y: tensor<1024x5xbf16>, %acc: tensor<4096x5xf32>) -> tensor<4096x5xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<4096x1024xbf16>, tensor<1024x5xbf16>) outs(%acc : tensor<4096x5xf32>) -> tensor<4096x5xf32>
  return %0 : tensor<4096x5xf32>
}

// A batch makes enough tiles.

// CHECK-LABEL: func @batch(
// CHECK:         tile = [128, 256, 64], stages = 4, accumulators = 1, persistent = true>
func.func @batch(%x: tensor<128x1024x64xbf16>, %y: tensor<128x64x1024xbf16>, %acc: tensor<128x1024x1024xf32>) -> tensor<128x1024x1024xf32> {
  %0 = linalg.batch_matmul ins(%x, %y : tensor<128x1024x64xbf16>, tensor<128x64x1024xbf16>) outs(%acc : tensor<128x1024x1024xf32>) -> tensor<128x1024x1024xf32>
  return %0 : tensor<128x1024x1024xf32>
}
