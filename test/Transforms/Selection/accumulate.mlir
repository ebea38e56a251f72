// The licence of sums: the options that give it, and that selection keeps it.

// RUN: blockscale-opt %s --blockscale-select-path | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: blockscale-opt %s --blockscale-select-path=accumulate=128 | FileCheck %s --check-prefixes=CHECK,GIVEN -DLICENCE="<chunk = 128>"
// RUN: blockscale-opt %s --blockscale-select-path="accumulate=64 rebase" | FileCheck %s --check-prefixes=CHECK,GIVEN -DLICENCE="<chunk = 64, rebase>"
// RUN: blockscale-opt %s --blockscale-select-path --blockscale-legalize --blockscale-select-schedule | FileCheck %s --check-prefixes=LEGAL
// RUN: not blockscale-opt %s --blockscale-select-path=accumulate=100 2>&1 | FileCheck %s --check-prefix=CHUNK
// RUN: not blockscale-opt %s --blockscale-select-path=rebase 2>&1 | FileCheck %s --check-prefix=REBASE

// CHUNK: accumulate.mlir:[[#]]:1: error: expected a chunk of 32, 64 or 128 terms, got 100
// REBASE: accumulate.mlir:[[#]]:1: error: expected a chunk of 32, 64 or 128 terms, got 0

module attributes {blockscale.target = #blockscale.target<sm_90a>} {

// CHECK-LABEL: func @none(
// OWN:           blockscale.mma_scaled {{.*}} {blockscale.path = {{.*}}}
// GIVEN:         blockscale.mma_scaled {{.*}} {accumulate = #blockscale.accumulate[[LICENCE]], blockscale.path = {{.*}}}
func.func @none(%x: tensor<128x128xf8E4M3FN>, %xs: tensor<128x4xf8E8M0FNU>,
                %y: tensor<128x128xf8E4M3FN>, %ys: tensor<4x128xf8E8M0FNU>,
                %acc: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
         tensor<128x128xf8E4M3FN>, tensor<4x128xf8E8M0FNU>, tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// CHECK-LABEL: func @own(
// CHECK:         blockscale.mma_scaled {{.*}} {accumulate = #blockscale.accumulate<chunk = 32>, blockscale.path = {{.*}}}
func.func @own(%x: tensor<128x128xf8E4M3FN>, %xs: tensor<128x4xf8E8M0FNU>,
               %y: tensor<128x128xf8E4M3FN>, %ys: tensor<4x128xf8E8M0FNU>,
               %acc: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       {accumulate = #blockscale.accumulate<chunk = 32>}
       : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
         tensor<128x128xf8E4M3FN>, tensor<4x128xf8E8M0FNU>, tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// Repeated powers of two. (Chunks of 128 would be multiplied as fp8.)

// CHECK-LABEL: func @powers(
// CHECK:         blockscale.mma_scaled {{.*}} {accumulate = #blockscale.accumulate<chunk = 64, rebase>, block_size = 32 : i64
func.func @powers(%x: tensor<128x128xf8E4M3FN>, %xs: tensor<128x1xf8E8M0FNU>,
                  %y: tensor<128x128xf8E4M3FN>, %ys: tensor<1x1xf8E8M0FNU>,
                  %acc: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>,
        y_scale_block = #blockscale.scale_block<rows = 128, k = 128>,
        accumulate = #blockscale.accumulate<chunk = 64, rebase>}
       : tensor<128x128xf8E4M3FN>, tensor<128x1xf8E8M0FNU>,
         tensor<128x128xf8E4M3FN>, tensor<1x1xf8E8M0FNU>, tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// Scales of whole rows become factors of the result.

// CHECK-LABEL: func @rows(
// CHECK:         blockscale.mma_scaled {{.*}} {accumulate = #blockscale.accumulate<chunk = 64>, block_size = 32 : i64
func.func @rows(%x: tensor<128x128xf8E4M3FN>, %xs: tensor<128x1xf32>,
                %y: tensor<128x128xf8E4M3FN>, %ys: tensor<1x128xf32>,
                %acc: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       {x_scale_block = #blockscale.scale_block<rows = 1, k = all>,
        y_scale_block = #blockscale.scale_block<rows = 1, k = all>,
        accumulate = #blockscale.accumulate<chunk = 64>}
       : tensor<128x128xf8E4M3FN>, tensor<128x1xf32>,
         tensor<128x128xf8E4M3FN>, tensor<1x128xf32>, tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// CHECK-LABEL: func @grouped(
// OWN:           blockscale.grouped_mma_scaled {{.*}} {blockscale.path
// GIVEN:         blockscale.grouped_mma_scaled {{.*}} {accumulate = #blockscale.accumulate[[LICENCE]], blockscale.path
func.func @grouped(%x: tensor<128x128xf8E4M3FN>, %xs: tensor<128x4xf8E8M0FNU>,
                   %y: tensor<2x128x128xf8E4M3FN>,
                   %ys: tensor<2x4x128xf8E8M0FNU>, %offsets: tensor<2xi32>,
                   %acc: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %offsets, %acc
       : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
         tensor<2x128x128xf8E4M3FN>, tensor<2x4x128xf8E8M0FNU>, tensor<2xi32>,
         tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// A batch of vectors is unrolled.

// LEGAL-LABEL: func @vectors(
// LEGAL-COUNT-2: blockscale.mma_scaled {{.*}} {accumulate = #blockscale.accumulate<chunk = 64>,
func.func @vectors(%x: vector<2x16x32xf8E4M3FN>, %xs: vector<2x16x1xf8E8M0FNU>,
                   %y: vector<2x32x8xf8E4M3FN>, %ys: vector<2x1x8xf8E8M0FNU>,
                   %acc: vector<2x16x8xf32>) -> vector<2x16x8xf32> {
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       {accumulate = #blockscale.accumulate<chunk = 64>}
       : vector<2x16x32xf8E4M3FN>, vector<2x16x1xf8E8M0FNU>,
         vector<2x32x8xf8E4M3FN>, vector<2x1x8xf8E8M0FNU>, vector<2x16x8xf32>
  return %d : vector<2x16x8xf32>
}

}
