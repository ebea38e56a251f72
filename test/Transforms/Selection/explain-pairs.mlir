// The layout of pairs of CTAs with 64 rows each: half of the columns of a tile is after the other half.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule="schedule=tile=64x256x128,stages=2,accumulators=2,persistent=1,cluster=2x1,two_cta=1" --blockscale-explain-schedules=pictures -o /dev/null 2>&1 | FileCheck %s

//      CHECK: 128 tiles on 148 SMs, at most 2 on each
//      CHECK: shared memory: 2 stages of 26624 bytes
// CHECK-NEXT:   A  bytes      0 to   8191: A, 64 rows of 128 bytes
// CHECK-NEXT:   B  bytes   8192 to  24575: B, 128 rows of 128 bytes
//      CHECK:   sums 0  |################................................................| 0 to 127
// CHECK-NEXT:   sums 1  |................################................................| 128 to 255
// CHECK-NEXT:   scales  |................................##..............................| 256 to 271
// CHECK-NEXT:   sums: lane l has row l mod 64 of the tile, column c its column c; from lane 64 on column 128 + c
// CHECK-NEXT:   scales of stage s: columns 256 + 8 s to 263 + 8 s
// CHECK-NEXT:     +0 to +3: rows 0 to 127 of A, blocks 0 to 3
// CHECK-NEXT:     +4 to +7: rows 0 to 127 of B, blocks 0 to 3, in lanes 0 to 63
// CHECK-NEXT:     +4 to +7: rows 128 to 255 of B, blocks 0 to 3, in lanes 64 to 127
func.func @halves(
    %x: tensor<1024x512xf8E4M3FN>, %sx: tensor<1024x16xf8E8M0FNU>,
    %y: tensor<512x2048xf8E5M2>, %sy: tensor<16x2048xf8E8M0FNU>,
    %c: tensor<1024x2048xf32>) -> tensor<1024x2048xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<1024x512xf8E4M3FN>, tensor<1024x16xf8E8M0FNU>, tensor<512x2048xf8E5M2>, tensor<16x2048xf8E8M0FNU>,
         tensor<1024x2048xf32>
  return %d : tensor<1024x2048xf32>
}
