// Schedules of matmuls with few rows or columns on the path dequant_mma: there is
// split-K, unless no workspace is allowed.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-legalize --blockscale-select-schedule | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-legalize --blockscale-select-schedule=no-workspace | FileCheck %s --check-prefix=WHOLE

// Four blocks for each of 132 SMs: 64 tiles.

// CHECK-LABEL: func.func @rows(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [16, 128, 128], warps = [1, 2], stages = 2, split_k = 8>
// WHOLE-LABEL: func.func @rows(
// WHOLE:         blockscale.schedule = #blockscale.multistage_schedule<tile = [32, 64, 128], warps = [2, 2], stages = 3>
func.func @rows(
    %x: tensor<7x8192xf8E4M3FN>, %sx: tensor<7x256xf8E8M0FNU>,
    %y: tensor<8192x8192xf8E5M2>, %sy: tensor<256x8192xf8E8M0FNU>,
    %c: tensor<7x8192xf32>) -> tensor<7x8192xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<dequant_mma>}
       : tensor<7x8192xf8E4M3FN>, tensor<7x256xf8E8M0FNU>, tensor<8192x8192xf8E5M2>, tensor<256x8192xf8E8M0FNU>,
         tensor<7x8192xf32>
  return %d : tensor<7x8192xf32>
}

// The same for columns, and two blocks if there are 64; a split-K range has four steps
// at least.

// CHECK-LABEL: func.func @columns(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 64, 128], warps = [4, 1], stages = 2, split_k = 2>
// WHOLE-LABEL: func.func @columns(
// WHOLE-NOT:     split_k
func.func @columns(
    %x: tensor<256x1024xf8E4M3FN>, %sx: tensor<256x32xf8E8M0FNU>,
    %y: tensor<1024x40xf8E5M2>, %sy: tensor<32x40xf8E8M0FNU>,
    %c: tensor<256x40xf32>) -> tensor<256x40xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<dequant_mma>}
       : tensor<256x1024xf8E4M3FN>, tensor<256x32xf8E8M0FNU>, tensor<1024x40xf8E5M2>, tensor<32x40xf8E8M0FNU>,
         tensor<256x40xf32>
  return %d : tensor<256x40xf32>
}

// Too short, of unknown length, and too many rows.

// CHECK-LABEL: func.func @short(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [32, 64, 128], warps = [2, 2], stages = 3>
func.func @short(
    %x: tensor<16x992xf8E4M3FN>, %sx: tensor<16x31xf8E8M0FNU>,
    %y: tensor<992x256xf8E5M2>, %sy: tensor<31x256xf8E8M0FNU>,
    %c: tensor<16x256xf32>) -> tensor<16x256xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<dequant_mma>}
       : tensor<16x992xf8E4M3FN>, tensor<16x31xf8E8M0FNU>, tensor<992x256xf8E5M2>, tensor<31x256xf8E8M0FNU>,
         tensor<16x256xf32>
  return %d : tensor<16x256xf32>
}

// CHECK-LABEL: func.func @dynamic(
// CHECK-NOT:     split_k
func.func @dynamic(
    %x: tensor<16x?xf8E4M3FN>, %sx: tensor<16x?xf8E8M0FNU>,
    %y: tensor<?x256xf8E5M2>, %sy: tensor<?x256xf8E8M0FNU>,
    %c: tensor<16x256xf32>) -> tensor<16x256xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {block_size = 32, blockscale.path = #blockscale.path<dequant_mma>}
       : tensor<16x?xf8E4M3FN>, tensor<16x?xf8E8M0FNU>, tensor<?x256xf8E5M2>, tensor<?x256xf8E8M0FNU>,
         tensor<16x256xf32>
  return %d : tensor<16x256xf32>
}

// CHECK-LABEL: func.func @wide(
// CHECK-NOT:     split_k
func.func @wide(
    %x: tensor<65x1024xf8E4M3FN>, %sx: tensor<65x32xf8E8M0FNU>,
    %y: tensor<1024x256xf8E5M2>, %sy: tensor<32x256xf8E8M0FNU>,
    %c: tensor<65x256xf32>) -> tensor<65x256xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<dequant_mma>}
       : tensor<65x1024xf8E4M3FN>, tensor<65x32xf8E8M0FNU>, tensor<1024x256xf8E5M2>, tensor<32x256xf8E8M0FNU>,
         tensor<65x256xf32>
  return %d : tensor<65x256xf32>
}

// The function has an attribute for how many rows it is, which is used if that is not
// known.

// CHECK-LABEL: func.func @few(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [16, 128, 128], warps = [1, 2], stages = 2, split_k = 8>
// WHOLE-LABEL: func.func @few(
// WHOLE-NOT:     split_k
func.func @few(
    %x: tensor<?x?xf8E4M3FN>, %sx: tensor<?x?xf8E8M0FNU>,
    %y: tensor<?x?xf8E5M2>, %sy: tensor<?x?xf8E8M0FNU>,
    %c: tensor<?x?xf32>) -> tensor<?x?xf32>
    attributes {blockscale.rows = "few"} {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {block_size = 32, blockscale.path = #blockscale.path<dequant_mma>}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf8E5M2>, tensor<?x?xf8E8M0FNU>,
         tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @some(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 128, 128], warps = [1, 4], stages = 2, split_k = 4>
func.func @some(
    %x: tensor<?x?xf8E4M3FN>, %sx: tensor<?x?xf8E8M0FNU>,
    %y: tensor<?x?xf8E5M2>, %sy: tensor<?x?xf8E8M0FNU>,
    %c: tensor<?x?xf32>) -> tensor<?x?xf32>
    attributes {blockscale.rows = "some"} {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {block_size = 32, blockscale.path = #blockscale.path<dequant_mma>}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf8E5M2>, tensor<?x?xf8E8M0FNU>,
         tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @tile(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 128], warps = [2, 2], stages = 3>
// CHECK-LABEL: func.func @known(
// CHECK-NOT:     split_k
func.func @tile(
    %x: tensor<?x?xf8E4M3FN>, %sx: tensor<?x?xf8E8M0FNU>,
    %y: tensor<?x?xf8E5M2>, %sy: tensor<?x?xf8E8M0FNU>,
    %c: tensor<?x?xf32>) -> tensor<?x?xf32>
    attributes {blockscale.rows = "tile"} {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {block_size = 32, blockscale.path = #blockscale.path<dequant_mma>}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf8E5M2>, tensor<?x?xf8E8M0FNU>,
         tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

func.func @known(
    %x: tensor<300x?xf8E4M3FN>, %sx: tensor<300x?xf8E8M0FNU>,
    %y: tensor<?x?xf8E5M2>, %sy: tensor<?x?xf8E8M0FNU>,
    %c: tensor<300x?xf32>) -> tensor<300x?xf32>
    attributes {blockscale.rows = "few"} {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {block_size = 32, blockscale.path = #blockscale.path<dequant_mma>}
       : tensor<300x?xf8E4M3FN>, tensor<300x?xf8E8M0FNU>, tensor<?x?xf8E5M2>, tensor<?x?xf8E8M0FNU>,
         tensor<300x?xf32>
  return %d : tensor<300x?xf32>
}
