// Paths and schedules of groups of rows.

// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-attach-target="target=sm_90a" --blockscale-select-path --blockscale-legalize --blockscale-select-schedule | FileCheck %s

// Tiles by the average number of rows of a group: 2 here.

// CHECK-LABEL: func @few(
// CHECK:         blockscale.path = #blockscale.path<wgmma>
// CHECK-SAME:    tile = [64, 8, 256], stages = 3, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input, blocks_per_sm = 2>
func.func @few(%x: tensor<8x256xbf16>, %c: tensor<4x64x256xf4E2M1FN>, %s: tensor<4x64x8xf8E8M0FNU>, %o: tensor<4xi32>,
               %acc: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %w = blockscale.dequantize %c, %s : tensor<4x64x256xf4E2M1FN>, tensor<4x64x8xf8E8M0FNU> to tensor<4x64x256xbf16>
  %e = tensor.empty() : tensor<4x256x64xbf16>
  %y = linalg.transpose ins(%w : tensor<4x64x256xbf16>) outs(%e : tensor<4x256x64xbf16>) permutation = [0, 2, 1]
  %d = blockscale.grouped_matmul %x, %y, %o, %acc : tensor<8x256xbf16>, tensor<4x256x64xbf16>, tensor<4xi32>, tensor<8x64xf32>
  return %d : tensor<8x64xf32>
}

// -----

// CHECK-LABEL: func @dynamic(
// CHECK:         blockscale.alternatives = [#blockscale.alternative<most_rows = 4,
// CHECK-SAME:    #blockscale.alternative<most_rows = 9223372036854775807,
// CHECK-SAME:    blockscale.path = #blockscale.path<dequant_mma>
func.func @dynamic(%x: tensor<?x256xbf16>, %c: tensor<?x64x256xf4E2M1FN>, %s: tensor<?x64x8xf8E8M0FNU>, %o: tensor<?xi32>,
                   %acc: tensor<?x64xf32>, %g: index) -> tensor<?x64xf32> {
  %w = blockscale.dequantize %c, %s : tensor<?x64x256xf4E2M1FN>, tensor<?x64x8xf8E8M0FNU> to tensor<?x64x256xbf16>
  %e = tensor.empty(%g) : tensor<?x256x64xbf16>
  %y = linalg.transpose ins(%w : tensor<?x64x256xbf16>) outs(%e : tensor<?x256x64xbf16>) permutation = [0, 2, 1]
  %d = blockscale.grouped_matmul %x, %y, %o, %acc : tensor<?x256xbf16>, tensor<?x256x64xbf16>, tensor<?xi32>, tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

// -----

// CHECK-LABEL: func @plain(
// CHECK:         blockscale.path = #blockscale.path<wgmma>, blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 64, 64], stages = {{.*}}persistent = true>
func.func @plain(%x: tensor<?x256xbf16>, %y: tensor<4x256x64xbf16>, %o: tensor<4xi32>, %acc: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %d = blockscale.grouped_matmul %x, %y, %o, %acc : tensor<?x256xbf16>, tensor<4x256x64xbf16>, tensor<4xi32>, tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

// -----

func.func @cluster(%x: tensor<?x256xbf16>, %y: tensor<4x256x64xbf16>, %o: tensor<4xi32>, %acc: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-error@+1 {{expected no cluster for groups of rows, got #blockscale.warp_specialized_schedule}}
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 64, 64], stages = 2, accumulators = 1, persistent = true, cluster = 2x1>}
      : tensor<?x256xbf16>, tensor<4x256x64xbf16>, tensor<4xi32>, tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

// -----

func.func @ranges(%x: tensor<?x256xbf16>, %y: tensor<4x256x64xbf16>, %o: tensor<4xi32>, %acc: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-error@+1 {{expected no split-K ranges for groups of rows, got #blockscale.multistage_schedule}}
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      {blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 64], warps = [2, 2], stages = 2, split_k = 2>}
      : tensor<?x256xbf16>, tensor<4x256x64xbf16>, tensor<4xi32>, tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

// -----

func.func @path(%x: tensor<?x256xbf16>, %y: tensor<4x256x64xbf16>, %o: tensor<4xi32>, %acc: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-error@+1 {{expected a path with kernels for groups of rows of these types and sizes on sm_90a}}
  %d = blockscale.grouped_matmul %x, %y, %o, %acc {blockscale.path = #blockscale.path<tcgen05>}
      : tensor<?x256xbf16>, tensor<4x256x64xbf16>, tensor<4xi32>, tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

// -----

// A schedule of the function that is for another product: this one keeps its own.

// CHECK-LABEL: func @of_another(
// CHECK:         blockscale.grouped_matmul
// CHECK-SAME:    blockscale.path = #blockscale.path<dequant_mma>
// CHECK-SAME:    #blockscale.multistage_schedule
func.func @of_another(%x: tensor<?x256xbf16>, %c: tensor<4x64x256xf4E2M1FN>, %s: tensor<4x64x8xf8E8M0FNU>, %o: tensor<4xi32>,
                      %acc: tensor<?x64xf32>) -> tensor<?x64xf32>
    attributes {blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 128], warps = [2, 2], stages = 2>} {
  %w = blockscale.dequantize %c, %s : tensor<4x64x256xf4E2M1FN>, tensor<4x64x8xf8E8M0FNU> to tensor<4x64x256xbf16>
  %e = tensor.empty() : tensor<4x256x64xbf16>
  %y = linalg.transpose ins(%w : tensor<4x64x256xbf16>) outs(%e : tensor<4x256x64xbf16>) permutation = [0, 2, 1]
  %d = blockscale.grouped_matmul %x, %y, %o, %acc : tensor<?x256xbf16>, tensor<4x256x64xbf16>, tensor<4xi32>, tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}
