// Schedules of tcgen05 for products without scales, and products that stay on
// another path.

// DEFINE: %{select} = blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-select-path --blockscale-legalize
// RUN: %{select} --blockscale-select-schedule 2>%t | FileCheck %s
// RUN: count 0 < %t
// RUN: %{select} --blockscale-select-schedule --blockscale-explain-schedules=pictures -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// A schedule of tcgen05 moves the product with weights there.
// RUN: %{select} --blockscale-select-schedule=schedule=tile=128x64x64,stages=4,accumulators=2,persistent=1 2>&1 | FileCheck %s --check-prefix=MOVED

// Without a workspace there is no split-K.
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-select-path=no-workspace --blockscale-legalize --blockscale-select-schedule=no-workspace | FileCheck %s --check-prefix=IN-PLACE

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @large(
// CHECK:         linalg.matmul {blockscale.instruction = #blockscale.instruction<tcgen05, 128x8x16, unscaled, bf16, bf16, none, 0>, blockscale.path = #blockscale.path<tcgen05>, blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 64], stages = 7, accumulators = 2, persistent = true, cluster = 2x1, two_cta = true>}

// The rate is that of dense bf16: 2 * 4096^3 operations at 8192 in a clock, on
// 128 of the SMs; tensor memory has no scales.

// EXPLAIN-LABEL: @large: 4096 x 4096 x 4096, tcgen05{{$}}
// EXPLAIN:         131072 clocks  tensor core     8192 operations per clock
// EXPLAIN:         34377 clocks  memory          7672 GB/s
// EXPLAIN:       shared memory: 7 stages of 32768 bytes
// EXPLAIN-NEXT:    A  bytes      0 to  16383: A, 128 rows of 128 bytes
// EXPLAIN-NEXT:    B  bytes  16384 to  32767: B, 128 rows of 128 bytes
// EXPLAIN-NEXT:    a character is 1024 bytes
// EXPLAIN:       tensor memory:
// EXPLAIN-NEXT:    sums 0  |{{[#.]*}}| 0 to 255
// EXPLAIN-NEXT:    sums 1  |{{[#.]*}}| 256 to 511
// EXPLAIN-NEXT:    sums: lane l has row l of the tile, column c its column c
// EXPLAIN-NEXT:  @few_rows:
func.func @large(%x: tensor<4096x4096xbf16>, %y: tensor<4096x4096xbf16>, %acc: tensor<4096x4096xf32>)
    -> tensor<4096x4096xf32> {
  %d = linalg.matmul ins(%x, %y : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
       outs(%acc : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %d : tensor<4096x4096xf32>
}

// CHECK-LABEL: func.func @few_rows(
// CHECK:         linalg.matmul {{.*}}f16, f16, none, 0>{{.*}}#blockscale.warp_specialized_schedule<tile = [128, 64, 64], stages = 8, accumulators = 2, persistent = true, split_k = 4>
// IN-PLACE-LABEL: func.func @few_rows(
// IN-PLACE:         linalg.matmul {{.*}}#blockscale.warp_specialized_schedule<{{.*}}>
// IN-PLACE-NOT:     split_k
func.func @few_rows(%x: tensor<64x8192xf16>, %y: tensor<8192x2048xf16>, %acc: tensor<64x2048xf32>)
    -> tensor<64x2048xf32> {
  %d = linalg.matmul ins(%x, %y : tensor<64x8192xf16>, tensor<8192x2048xf16>)
       outs(%acc : tensor<64x2048xf32>) -> tensor<64x2048xf32>
  return %d : tensor<64x2048xf32>
}

// CHECK-LABEL: func.func @weights(
// CHECK:         linalg.matmul {{.*}}#blockscale.instruction<dequant_mma, {{.*}}blockscale.path = #blockscale.path<dequant_mma>
// MOVED:         [[@LINE+7]]:8: remark: computed on the path tcgen05, as --schedule is of that
// MOVED:         [[@LINE+6]]:8: remark: y is dequantized first, to memory; for a y that is dequantized in registers, expected the path dequant_mma or wgmma
// MOVED-LABEL: func.func @weights(
// MOVED:         linalg.matmul {{.*}}#blockscale.instruction<tcgen05, 128x8x16, unscaled, bf16, bf16, none, 0>, blockscale.path = #blockscale.path<tcgen05>, blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 64, 64], stages = 4, accumulators = 2, persistent = true>
func.func @weights(%x: tensor<256x256xbf16>, %y: tensor<1024x256xf8E4M3FN>, %ys: tensor<1024x8xf8E8M0FNU>,
    %acc: tensor<256x1024xf32>) -> tensor<256x1024xf32> {
  %w = blockscale.dequantize %y, %ys : tensor<1024x256xf8E4M3FN>, tensor<1024x8xf8E8M0FNU> to tensor<1024x256xbf16>
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : tensor<256x256xbf16>, tensor<1024x256xbf16>)
       outs(%acc : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  return %d : tensor<256x1024xf32>
}
