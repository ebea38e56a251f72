// Which schedules the path tcgen05 chooses, and how it explains them.

// DEFINE: %{chip} = sm_100a
// DEFINE: %{own} = {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 64, 128], stages = 1, accumulators = 1, persistent = false>}
// DEFINE: %{select} = sed 's/{OWN}/%{own}/' %s | blockscale-opt --blockscale-attach-target=target=%{chip} --blockscale-select-path --blockscale-legalize --blockscale-select-schedule
// RUN: %{select} --blockscale-explain-schedules -o %t.mlir 2>&1 | FileCheck %s --match-full-lines --strict-whitespace
// RUN: %{select} --blockscale-explain-schedules=pictures -o %t.mlir 2>&1 | FileCheck %s --check-prefix=PICTURE
// The module is what it was.
// RUN: %{select} -o - | diff - %t.mlir

// A chip of which less is published, and on which fp4 has K = 96.
// REDEFINE: %{chip} = sm_103f
// RUN: %{select} --blockscale-explain-schedules -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER

// Operands that are dequantized, and loops.
// REDEFINE: %{chip} = sm_90a
// REDEFINE: %{own} =
// RUN: %{select} --blockscale-explain-schedules -o /dev/null 2>&1 | FileCheck %s --check-prefix=CONVERTED
// REDEFINE: %{own} = {blockscale.path = #blockscale.path<decompose>}
// RUN: %{select} --blockscale-explain-schedules -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOOPS

// Paths with bounds only.
// REDEFINE: %{chip} = sm_120a
// REDEFINE: %{own} =
// RUN: %{select} --blockscale-explain-schedules=pictures -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARPS

//      CHECK:@large: 4096 x 4096 x 4096, tcgen05 with mxf8f6f4
// CHECK-NEXT:  #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 6, accumulators = 2, persistent = true, cluster = 2x1, two_cta = true>
// CHECK-NEXT:  512 tiles on 148 SMs, at most 4 on each
// CHECK-NEXT:       65536 clocks  tensor core     16384 operations per clock
// CHECK-NEXT:       34304 clocks  shared memory   128 bytes per clock
// CHECK-NEXT:       68608 clocks  L2 cache        64 bytes per clock (assumed, that of H200)
// CHECK-NEXT:       45440 clocks  pipeline        1618 clocks until a copy is there
// CHECK-NEXT:        8192 clocks  stores of sums  64 bytes per clock (assumed, that of H200)
// CHECK-NEXT:       26052 clocks  memory          7672 GB/s
// CHECK-NEXT:       73042 clocks  in all, limited by: L2 cache
// CHECK-NEXT:        37.2 us, 3697 TFLOP/s at 1965 MHz
// CHECK-NEXT:  N of tiles    swap_ab  2cta  wide K split_k  stages  accumulators        clocks  limited by
// CHECK-NEXT:          64         no   yes      no       1       8             2        152658  L2 cache
// CHECK-NEXT:         128         no   yes      no       1       8             2         92242  L2 cache
// CHECK-NEXT:         192         no   yes      no       1       7             2         78674  L2 cache
// CHECK-NEXT:         256         no   yes      no       1       6             2         73042  L2 cache, the choice

//      PICTURE: shared memory: 6 stages of 34816 bytes
// PICTURE-NEXT:   A  bytes      0 to  16383: A, 128 rows of 128 bytes
// PICTURE-NEXT:   B  bytes  16384 to  32767: B, 128 rows of 128 bytes
// PICTURE-NEXT:   a  bytes  32768 to  33279: scales of A, 1 atom of 512 bytes
// PICTURE-NEXT:   b  bytes  33280 to  34303: scales of B, 2 atoms of 512 bytes
// PICTURE-NEXT:   .  bytes  34304 to  34815: unused, as stages are aligned
//      PICTURE:   stage 5 |AAAAAAAAAAAAAAAABBBBBBBBBBBBBBBBab| from 174080, full 5, empty 11
// PICTURE-NEXT: mbarriers: 14; those of stages as above, those of sums full 12, empty 13
// PICTURE-NEXT: tensor memory: 128 lanes of 512 columns, a character is 8 columns
// PICTURE-NEXT:   sums 0  |################################................................| 0 to 255
// PICTURE-NEXT:   sums 1  |.............................################################...| 232 to 487
// PICTURE-NEXT:   scales  |.............................................................###| 488 to 511
// PICTURE-NEXT:   both sums have columns 232 to 255; the first 32 columns that are read release them

//      OTHER: 148 SMs
// OTHER-NEXT: 16384 operations per clock{{$}}
//      OTHER: 1618 clocks until a copy is there (assumed, that of B200)
//      OTHER: 8000 GB/s{{$}}
//      OTHER: at 1965 MHz (assumed, that of B200)

//      CONVERTED: @large: 4096 x 4096 x 4096, wgmma
//      CONVERTED: clocks  at least, limited by: tensor core

//      LOOPS: @own: 200 x 9 x 128, decompose
// LOOPS-NEXT:   no schedule: loops

//      WARPS: @large: 4096 x 4096 x 4096, mma_sync with mxf8f6f4
// WARPS-NEXT:   #blockscale.multistage_schedule<tile = [128, 128, 128], warps = [2, 2], stages = 3>
// WARPS-NEXT:   1024 tiles on 170 SMs, at most 7 on each
// WARPS-NEXT:       458752 clocks  tensor core     2048 operations per clock
// WARPS-NEXT:       114688 clocks  shared memory   128 bytes per clock
// WARPS-NEXT:       118272 clocks  L2 cache        64 bytes per clock (assumed, that of H200)
// WARPS-NEXT:         7168 clocks  stores of sums  64 bytes per clock (assumed, that of H200)
// WARPS-NEXT:       136619 clocks  memory          1792 GB/s
// WARPS-NEXT:       458752 clocks  at least, limited by: tensor core
// WARPS-NEXT:        190.6 us, at most 721 TFLOP/s at 2407 MHz
// WARPS-NEXT: @few:
func.func @large(
    %x: tensor<4096x4096xf8E4M3FN>, %sx: tensor<4096x128xf8E8M0FNU>,
    %y: tensor<4096x4096xf8E5M2>, %sy: tensor<128x4096xf8E8M0FNU>,
    %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<4096x4096xf8E4M3FN>, tensor<4096x128xf8E8M0FNU>, tensor<4096x4096xf8E5M2>, tensor<128x4096xf8E8M0FNU>,
         tensor<4096x4096xf32>
  return %d : tensor<4096x4096xf32>
}

// Weights for a few tokens: operands are swapped, and there is split-K. Elements of 4 bits are
// packed in memory, even if they have bytes in shared memory.

//      CHECK:@few: 16 x 8192 x 8192, tcgen05 with mxf8f6f4
// CHECK-NEXT:  #blockscale.warp_specialized_schedule<tile = [128, 16, 128], stages = 8, accumulators = 2, persistent = true, swap_ab = true, split_k = 2>
// CHECK-NEXT:  128 tiles on 148 SMs, at most 1 on each
// CHECK-NEXT:        1024 clocks  tensor core     {{.*}}
// CHECK-NEXT:        4864 clocks  shared memory   {{.*}}
// CHECK-NEXT:        5632 clocks  L2 cache        {{.*}}
//      CHECK:        4333 clocks  split-K sum     2000 ns for a launch (assumed)

//      PICTURE: @few
//      PICTURE: A is y, and B is x: the result is the transpose of what is multiplied
// PICTURE-NEXT: shared memory: 8 stages of 19456 bytes
func.func @few(
    %x: tensor<16x8192xf8E4M3FN>, %sx: tensor<16x256xf8E8M0FNU>,
    %y: tensor<8192x8192xf4E2M1FN>, %sy: tensor<256x8192xf8E8M0FNU>,
    %c: tensor<16x8192xf32>) -> tensor<16x8192xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x8192xf8E4M3FN>, tensor<16x256xf8E8M0FNU>, tensor<8192x8192xf4E2M1FN>, tensor<256x8192xf8E8M0FNU>,
         tensor<16x8192xf32>
  return %d : tensor<16x8192xf32>
}

// Dynamic sizes count as 65536, here of M and the batch, which is said.

//      CHECK:@dynamic: ? x ? x 1024 x 512, tcgen05 with mxf4nvf4
// CHECK-NEXT:  #blockscale.warp_specialized_schedule<tile = [128, 192, 256], stages = 4, {{.*}}
// CHECK-NEXT:  ? counts as 65536
// CHECK-NEXT:  201326592 tiles on 148 SMs, at most 1360315 on each
//      CHECK:  4827584948 clocks  in all, limited by: memory
func.func @dynamic(
    %x: tensor<?x?x512xf4E2M1FN>, %sx: tensor<?x?x32xf8E4M3FN>,
    %y: tensor<512x1024xf4E2M1FN>, %sy: tensor<32x1024xf8E4M3FN>,
    %c: tensor<?x?x1024xf32>) -> tensor<?x?x1024xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<?x?x512xf4E2M1FN>, tensor<?x?x32xf8E4M3FN>, tensor<512x1024xf4E2M1FN>, tensor<32x1024xf8E4M3FN>,
         tensor<?x?x1024xf32>
  return %d : tensor<?x?x1024xf32>
}

// One tile of 16 columns or tiles of rows, and a schedule of one's own.

//      CHECK:@own: 200 x 9 x 128, tcgen05 with mxf8f6f4
// CHECK-NEXT:  #blockscale.warp_specialized_schedule<tile = [128, 64, 128], stages = 1, accumulators = 1, persistent = false>
//      CHECK:          16         no    no      no       1       8             2{{.*}}
// CHECK-NEXT:          64        yes    no      no       1       8             2{{.*}}, the choice

//      PICTURE: @own
//      PICTURE: shared memory: 1 stage of 25600 bytes
//      PICTURE: tensor memory
// PICTURE-NEXT:   sums 0  |########........................................................| 0 to 63
// PICTURE-NEXT:   scales  |........#.......................................................| 64 to 71
func.func @own(
    %x: tensor<200x128xf8E4M3FN>, %sx: tensor<200x4xf8E8M0FNU>,
    %y: tensor<128x9xf8E4M3FN>, %sy: tensor<4x9xf8E8M0FNU>,
    %c: tensor<200x9xf32>) -> tensor<200x9xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {OWN}
       : tensor<200x128xf8E4M3FN>, tensor<200x4xf8E8M0FNU>, tensor<128x9xf8E4M3FN>, tensor<4x9xf8E8M0FNU>,
         tensor<200x9xf32>
  return %d : tensor<200x9xf32>
}
