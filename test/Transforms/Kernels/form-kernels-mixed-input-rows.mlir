// Rows of x of mixed input. TMA takes longer for rows outside of a tensor than
// for any others, so the rows that the kernel in front writes are followed by
// memory for those that the last tile has in addition. Nothing writes them, and
// no result is made of them.

// RUN: blockscale-opt %s --blockscale-select-path --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize --cse | FileCheck %s

#wide = #blockscale.warp_specialized_schedule<tile = [64, 64, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>
#bf16 = #blockscale.instruction<wgmma, 64x8x16, unscaled, bf16, bf16, none, 0>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  // Two tiles of 64 rows.

  // CHECK-LABEL: func.func @known(
  // CHECK:         %[[X:.*]] = tensor.empty() : tensor<128x1024xbf16>
  // CHECK:         %[[VALUES:.*]]:2 = blockscale.launch @kernels::@known__permute {{.*}}outs(%[[X]], %{{.*}} : tensor<128x1024xbf16>,
  // CHECK:         blockscale.launch @kernels::@known__matmul {{.*}}ins({{.*}}%[[VALUES]]#0
  func.func @known(%x: tensor<100x1024xbf16>, %y: tensor<1024x1024xf4E2M1FN>, %ys: tensor<1024x64xf8E4M3FN>,
                   %acc: tensor<100x1024xf32>) -> tensor<100x1024xf32> {
    %w = blockscale.dequantize %y, %ys : tensor<1024x1024xf4E2M1FN>, tensor<1024x64xf8E4M3FN> to tensor<1024x1024xbf16>
    %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] {blockscale.schedule = #wide}
         ins(%x, %w : tensor<100x1024xbf16>, tensor<1024x1024xbf16>) outs(%acc : tensor<100x1024xf32>) -> tensor<100x1024xf32>
    return %d : tensor<100x1024xf32>
  }

  // A tile has at most 256 rows, and for few, at most 8 or twice as many. M is a
  // parameter of the product, since x no longer tells it.

  // CHECK-LABEL: func.func @unknown(
  // CHECK:         %[[M:.*]] = tensor.dim %arg0, %c0 :
  // CHECK:         %[[FEW:.*]] = arith.addi %[[M]], %c7 :
  // CHECK:         %[[BEHIND:.*]] = arith.minui %[[FEW]], %c255 :
  // CHECK:         %[[ROWS:.*]] = arith.addi %[[M]], %[[BEHIND]] :
  // CHECK:         %[[X:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x1024xbf16>
  // CHECK:         %[[VALUES:.*]]:2 = blockscale.launch @kernels::@unknown__permute {{.*}}outs(%[[X]],
  // CHECK:         blockscale.launch @kernels::@unknown__matmul {{.*}}ins({{.*}}%[[VALUES]]#0, %[[M]]
  func.func @unknown(%x: tensor<?x1024xbf16>, %y: tensor<1024x1024xf4E2M1FN>, %ys: tensor<1024x64xf8E4M3FN>,
                     %acc: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
    %w = blockscale.dequantize %y, %ys : tensor<1024x1024xf4E2M1FN>, tensor<1024x64xf8E4M3FN> to tensor<1024x1024xbf16>
    %d = linalg.matmul indexing_maps = [#mk, #nk, #mn]
         {blockscale.alternatives = [#blockscale.alternative<
             most_rows = 256, most_ranges = 1, cost = 0, instruction = #bf16, schedule = #wide>]}
         ins(%x, %w : tensor<?x1024xbf16>, tensor<1024x1024xbf16>) outs(%acc : tensor<?x1024xf32>) -> tensor<?x1024xf32>
    return %d : tensor<?x1024xf32>
  }

  // y is read once, and leaves L2 first, in the kernel for up to 64 rows, since
  // these are one tile; in the one for more rows it is not.

  // CHECK-LABEL: func.func @two(
  // CHECK:       gpu.func @two__matmul(
  // CHECK:         blockscale.tensor_load %{{.*}} hint
  // CHECK:       gpu.func @two__matmul_{{[0-9]+}}(
  // CHECK-NOT:     hint
  // CHECK:       gpu.func @two__exact_recomputation
  func.func @two(%x: tensor<?x1024xbf16>, %y: tensor<1024x1024xf4E2M1FN>, %ys: tensor<1024x64xf8E4M3FN>,
                 %acc: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
    %w = blockscale.dequantize %y, %ys : tensor<1024x1024xf4E2M1FN>, tensor<1024x64xf8E4M3FN> to tensor<1024x1024xbf16>
    %d = linalg.matmul indexing_maps = [#mk, #nk, #mn]
         {blockscale.alternatives = [
           #blockscale.alternative<most_rows = 64, most_ranges = 1, cost = 0, instruction = #bf16, schedule = #wide>,
           #blockscale.alternative<most_rows = 256, most_ranges = 1, cost = 0, instruction = #bf16, schedule = #wide>]}
         ins(%x, %w : tensor<?x1024xbf16>, tensor<1024x1024xbf16>) outs(%acc : tensor<?x1024xf32>) -> tensor<?x1024xf32>
    return %d : tensor<?x1024xf32>
  }
}
