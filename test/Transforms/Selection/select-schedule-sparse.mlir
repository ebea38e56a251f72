// Sparse products of dynamic sizes on sm_90a have kernels of wgmma for numbers of columns, beside that of mma.sp.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule 2>/dev/null | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_80 --blockscale-select-path --blockscale-legalize --blockscale-select-schedule 2>/dev/null | FileCheck %s --check-prefix=NONE
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-select-path=no-workspace --blockscale-legalize --blockscale-select-schedule=no-workspace 2>/dev/null | FileCheck %s --check-prefix=NONE

// NONE-NOT: blockscale.alternatives
// NONE:     {{^ *%[0-9]+}} = blockscale.sparse_mma_scaled {{.*}}blockscale.schedule = #blockscale.multistage_schedule
// NONE-NOT: blockscale.alternatives

// CHECK-LABEL: func.func @layer(
// CHECK:       {{^ *%[0-9]+}} = blockscale.sparse_mma_scaled
// CHECK-SAME:    blockscale.alternatives = [
// CHECK-SAME:      most_rows = 16, most_ranges = 16, cost = 0, instruction = <wgmma, 64x8x32, unscaled, bf16, bf16, none, 0, 2:4>, {{[^>]*}}tile = [64, 16, 512]{{[^>]*}}kernel = sparse_input>
// CHECK-SAME:      most_rows = 64, most_ranges = 16, cost = 0, {{.*}}tile = [64, 64, 512]
// CHECK-SAME:      most_rows = 2147483647, most_ranges = 1, cost = 1000, {{.*}}tile = [128, 256, 128]
// CHECK-SAME:      most_rows = 2147483647, most_ranges = 1, cost = 1750, {{.*}}tile = [64, 128, 256]
// CHECK-SAME:    blockscale.path = #blockscale.path<dequant_mma>
// CHECK-SAME:    blockscale.schedule = #blockscale.multistage_schedule
func.func @layer(%x: tensor<?x?xf8E4M3FN>, %m: tensor<?x?xi8>, %xs: tensor<?x?xf8E8M0FNU>,
                 %y: tensor<?x?xf8E4M3FN>, %ys: tensor<?x?xf8E8M0FNU>, %acc: tensor<?x?xf32>, %n: index, %k: index) -> tensor<?x?xf32> {
  %e = tensor.empty(%k, %n) : tensor<?x?xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<?x?xf8E4M3FN>) outs(%e : tensor<?x?xf8E4M3FN>) permutation = [1, 0]
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %t, %ys, %acc {block_size = 64, granularity = #blockscale.granularity<2:4>, legal_metadata}
      : tensor<?x?xf8E4M3FN>, tensor<?x?xi8>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// 40 columns have one tile. A batch has no ranges.
// CHECK-LABEL: func.func @few(
// CHECK:       {{^ *%[0-9]+}} = blockscale.sparse_mma_scaled {{.*}}blockscale.alternatives = [#blockscale.alternative<most_rows = 64, most_ranges = 1,
// CHECK-NOT:     most_rows = 16
// CHECK:         return
func.func @few(%x: tensor<2x?x512xf8E4M3FN>, %m: tensor<2x?x128xi8>, %xs: tensor<2x?x16xf8E8M0FNU>,
               %y: tensor<2x40x1024xf8E4M3FN>, %ys: tensor<2x16x40xf8E8M0FNU>, %acc: tensor<2x?x40xf32>) -> tensor<2x?x40xf32> {
  %e = tensor.empty() : tensor<2x1024x40xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<2x40x1024xf8E4M3FN>) outs(%e : tensor<2x1024x40xf8E4M3FN>) permutation = [0, 2, 1]
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %t, %ys, %acc {block_size = 64, granularity = #blockscale.granularity<2:4>, legal_metadata}
      : tensor<2x?x512xf8E4M3FN>, tensor<2x?x128xi8>, tensor<2x?x16xf8E8M0FNU>, tensor<2x1024x40xf8E4M3FN>, tensor<2x16x40xf8E8M0FNU>, tensor<2x?x40xf32>
  return %d : tensor<2x?x40xf32>
}

// y that is not contiguous along K, and fewer rows than have been measured.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     blockscale.alternatives
func.func @others(%x: tensor<?x512xf8E4M3FN>, %m: tensor<?x128xi8>, %xs: tensor<?x16xf8E8M0FNU>,
                  %y: tensor<1024x40xf8E4M3FN>, %ys: tensor<16x40xf8E8M0FNU>, %acc: tensor<?x40xf32>,
                  %x2: tensor<128x512xf8E4M3FN>, %m2: tensor<128x128xi8>, %xs2: tensor<128x16xf8E8M0FNU>,
                  %y2: tensor<?x1024xf8E4M3FN>, %ys2: tensor<16x?xf8E8M0FNU>, %acc2: tensor<128x?xf32>, %n: index)
    -> (tensor<?x40xf32>, tensor<128x?xf32>) {
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {block_size = 64, granularity = #blockscale.granularity<2:4>, legal_metadata}
      : tensor<?x512xf8E4M3FN>, tensor<?x128xi8>, tensor<?x16xf8E8M0FNU>, tensor<1024x40xf8E4M3FN>, tensor<16x40xf8E8M0FNU>, tensor<?x40xf32>
  %e = tensor.empty(%n) : tensor<1024x?xf8E4M3FN>
  %t = linalg.transpose ins(%y2 : tensor<?x1024xf8E4M3FN>) outs(%e : tensor<1024x?xf8E4M3FN>) permutation = [1, 0]
  %d2 = blockscale.sparse_mma_scaled %x2, %m2, %xs2, %t, %ys2, %acc2 {block_size = 64, granularity = #blockscale.granularity<2:4>, legal_metadata}
      : tensor<128x512xf8E4M3FN>, tensor<128x128xi8>, tensor<128x16xf8E8M0FNU>, tensor<1024x?xf8E4M3FN>, tensor<16x?xf8E8M0FNU>, tensor<128x?xf32>
  return %d, %d2 : tensor<?x40xf32>, tensor<128x?xf32>
}
