// Schedules of the path tcgen05 by their text, and as attributes: parameters are
// printed only if they do not have their default.

// DEFINE: %{text} =
// DEFINE: %{select} = blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule="schedule=%{text}"

// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0
// RUN: %{select} | FileCheck %s -DREST=
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,raster_group=8
// RUN: %{select} | FileCheck %s -DREST=
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,raster_group=3
// RUN: %{select} | FileCheck %s -DREST=", raster_group = 3"
// RUN: %{select} | blockscale-opt | FileCheck %s -DREST=", raster_group = 3"

// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,swap_ab=0
// RUN: %{select} | FileCheck %s -DREST=
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,swap_ab=1
// RUN: %{select} | blockscale-opt | FileCheck %s -DREST=", swap_ab = true"
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,raster_group=3,swap_ab=1
// RUN: %{select} | blockscale-opt | FileCheck %s -DREST=", raster_group = 3, swap_ab = true"

// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,split_k=1
// RUN: %{select} | FileCheck %s -DREST=
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,split_k=4
// RUN: %{select} | blockscale-opt | FileCheck %s -DREST=", split_k = 4"
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,swap_ab=1,split_k=3
// RUN: %{select} | blockscale-opt | FileCheck %s -DREST=", swap_ab = true, split_k = 3"

// CHECK: blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 64, 128], stages = 3, accumulators = 2, persistent = false[[REST]]>}

// All of the text is read, in order.
// DEFINE: %{fail} = not %{select} 2>&1 | FileCheck %s --check-prefix
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,raster_group=
// RUN: %{fail}=TEXT
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,raster_group=3,
// RUN: %{fail}=TEXT
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,raster_group=3,raster_group=3
// RUN: %{fail}=TEXT
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,raster_group=3,persistent=0
// RUN: %{fail}=TEXT
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,swap_ab=1,raster_group=3
// RUN: %{fail}=TEXT
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,cluster=2
// RUN: %{fail}=TEXT
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,cluster=1x1,split_k=2
// RUN: %{fail}=TEXT
// TEXT: error: expected a schedule of the form {{.*}}persistent=P[,raster_group=G][,swap_ab=E][,split_k=N][,cluster=MxN][,two_cta=P][,k=K][,kernel=KERNEL][,blocks_per_sm=B], got '

// An illegal attribute is illegal as text, too.
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,raster_group=0
// RUN: %{fail}=GROUP
// GROUP: error: expected raster groups of 1 to 1024 tiles, got 0{{$}}
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,swap_ab=2
// RUN: %{fail}=SWAP
// SWAP: error: expected swap_ab to be 0 or 1, got 2{{$}}

// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,split_k=65
// RUN: %{fail}=PARTS
// PARTS: error: expected 1 to 64 split-K ranges, got 65{{$}}

// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,cluster=2x3
// RUN: %{fail}=BLOCKS
// BLOCKS: error: expected a cluster of 1, 2 or 4 blocks, got 2x3{{$}}

// Clusters, and pairs of CTAs.
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,cluster=1x1
// RUN: %{select} | FileCheck %s -DREST=
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,cluster=2x1
// RUN: %{select} | FileCheck %s "-DREST=, cluster = 2x1"
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,cluster=2x2,two_cta=1
// RUN: %{select} | FileCheck %s "-DREST=, cluster = 2x2, two_cta = true"
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,two_cta=1
// RUN: %{fail}=ODD
// ODD: error: expected an even number of blocks along M for pairs of CTAs, got 1x1{{$}}
// REDEFINE: %{text} = tile=128x24x128,stages=3,accumulators=2,persistent=0,cluster=2x1,two_cta=1
// RUN: %{fail}=CLUSTER-N
// CLUSTER-N: error: 'blockscale.mma_scaled' op expected N of the tile to be a multiple of 16 for a cluster of 2 blocks along M, got
// REDEFINE: %{text} = tile=64x64x128,stages=3,accumulators=2,persistent=0
// RUN: %{fail}=SIXTY
// SIXTY: error: 'blockscale.mma_scaled' op expected M of the tile to be 128, or 64 for pairs of CTAs, got
// REDEFINE: %{text} = tile=64x128x128,stages=3,accumulators=2,persistent=0,cluster=2x1,two_cta=1
// RUN: %{fail}=HALVES
// HALVES: error: 'blockscale.mma_scaled' op expected N of the tile to be 256 for pairs of CTAs with 64 rows each, got

// K of instructions is for sm_103 and packed fp4.
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,k=96
// RUN: %{fail}=WIDE
// WIDE: error: 'blockscale.mma_scaled' op expected types and a chip that have instructions with K of 96, M of the tile of 128 and N of a multiple of 16, got tcgen05.mma.kind::mxf8f6f4.block_scale.block32 on sm_100a and
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,k=64
// RUN: %{fail}=UNKNOWN
// UNKNOWN: error: expected K of instructions to be 96, or 0 for that of the others, got 64{{$}}

// Each split-K range has a stage: there are 512 elements.
// REDEFINE: %{text} = tile=128x64x128,stages=3,accumulators=2,persistent=0,split_k=5
// RUN: %{fail}=EMPTY
// EMPTY: error: 'blockscale.mma_scaled' op expected at most 4 split-K ranges, one for each stage, got #blockscale.warp_specialized_schedule<tile = [128, 64, 128], stages = 3, accumulators = 2, persistent = false, split_k = 5>

// N of the instruction are rows of the result: 300 here, not 80.
// REDEFINE: %{text} = tile=128x80x128,stages=3,accumulators=2,persistent=0
// RUN: %{select} -o /dev/null
// REDEFINE: %{text} = tile=128x80x128,stages=3,accumulators=2,persistent=0,swap_ab=1
// RUN: %{fail}=ROWS
// ROWS: error: 'blockscale.mma_scaled' op expected N of the tile to be a multiple of 64 for a result of more rows, got #blockscale.warp_specialized_schedule<tile = [128, 80, 128],

// GEMV is a kernel of the path wgmma.
// REDEFINE: %{text} = tile=128x1x128,stages=3,accumulators=2,persistent=0,swap_ab=1,kernel=gemv
// RUN: %{fail}=ONEROW
// ONEROW: error: 'blockscale.mma_scaled' op expected a kernel of the path tcgen05 (dense), got #blockscale.warp_specialized_schedule<tile = [128, 1, 128],
// REDEFINE: %{text} = tile=128x1x128,stages=3,accumulators=2,persistent=0
// RUN: %{fail}=ONECOLUMN
// ONECOLUMN: error: expected N of the tile to be a multiple of 8 up to 256, or 1 for the kernel gemv, got 1{{$}}

func.func @f(
    %x: tensor<300x512xf8E4M3FN>, %sx: tensor<300x16xf8E8M0FNU>,
    %y: tensor<512x80xf8E4M3FN>, %sy: tensor<16x80xf8E8M0FNU>,
    %c: tensor<300x80xf32>) -> tensor<300x80xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<300x512xf8E4M3FN>, tensor<300x16xf8E8M0FNU>, tensor<512x80xf8E4M3FN>, tensor<16x80xf8E8M0FNU>,
         tensor<300x80xf32>
  return %d : tensor<300x80xf32>
}
