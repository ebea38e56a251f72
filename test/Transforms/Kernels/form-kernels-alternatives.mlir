// A list of alternatives: up to 16 rows in two ranges of K, up to 4096 by the time
// of all rounds of tiles on 132 SMs, and all other numbers of rows without mixed
// input. y is dequantized for these alone.

// RUN: blockscale-opt %s --blockscale-select-path --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK:         %[[M:.*]] = tensor.dim %arg0, %c0 :
// CHECK:         %[[FEW:.*]] = arith.cmpi ule, %[[M]], %c16 :
// CHECK:         %[[ABOVE:.*]] = arith.cmpi ugt, %[[M]], %c16 :
// CHECK:         %[[ANY:.*]] = arith.cmpi ule, %[[M]], %c4096 :
// CHECK:         %[[MANY:.*]] = arith.andi %[[ABOVE]], %[[ANY]] :

// 128 * 256 * 1990 and 128 * 192 * 1960 for each round.

// CHECK:         %[[OF_X:.*]] = arith.ceildivui %[[M]], %c256 :
// CHECK:         %[[TILES:.*]] = arith.muli %[[OF_X]], %c8 :
// CHECK:         %[[ROUNDS:.*]] = arith.ceildivui %[[TILES]], %c132 :
// CHECK:         %[[WIDE:.*]] = arith.muli %[[ROUNDS]], %c65208320 :
// CHECK:         %[[OF_X:.*]] = arith.ceildivui %[[M]], %c192 :
// CHECK:         %[[TILES:.*]] = arith.muli %[[OF_X]], %c8 :
// CHECK:         %[[ROUNDS:.*]] = arith.ceildivui %[[TILES]], %c132 :
// CHECK:         %[[NARROW:.*]] = arith.muli %[[ROUNDS]], %c48168960 :
// CHECK:         %[[IS_WIDE:.*]] = arith.cmpi ule, %[[WIDE]], %[[NARROW]] :
// CHECK:         arith.andi %[[MANY]], %[[IS_WIDE]] :
// CHECK:         %[[IS_NARROW:.*]] = arith.cmpi ult, %[[NARROW]], %[[WIDE]] :
// CHECK:         arith.andi %[[MANY]], %[[IS_NARROW]] :
// CHECK:         %[[NONE:.*]] = arith.cmpi ugt, %[[M]], %c4096 :
// CHECK:         %[[RANGES:.*]] = arith.select %[[FEW]], %c2, %c1 :
// CHECK:         arith.cmpi ne, %[[RANGES]], %c1 :

// CHECK:         %[[BLOCKS:.*]] = arith.select %[[ANY]], %{{.*}}, %c0 :
// CHECK:         blockscale.launch @kernels::@main__permute blocks = [%[[BLOCKS]], 1, 1]
// CHECK:         blockscale.launch @kernels::@main__matmul blocks =
// CHECK:         blockscale.launch @kernels::@main__matmul_0 blocks =
// CHECK:         blockscale.launch @kernels::@main__matmul_1 blocks =
// CHECK:         blockscale.launch @kernels::@main__split_k_reduction blocks =
// CHECK:         %[[BLOCKS:.*]] = arith.select %[[ANY]], %{{.*}}, %c0 :
// CHECK:         blockscale.launch @kernels::@main__exact_recomputation blocks = [%[[BLOCKS]], 1, 1]
// CHECK:         %[[OTHER:.*]] = arith.select %[[NONE]], %{{.*}}, %c0 :
// CHECK:         %[[BLOCKS:.*]] = arith.select %[[NONE]], %c1024, %c0 :
// CHECK:         blockscale.launch @kernels::@main__dequantize blocks = [%[[BLOCKS]], 1, 1]
// CHECK:         blockscale.launch @kernels::@main__matmul_2 blocks = [%[[OTHER]], 1, 1]

#wide = #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 3, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>
#narrow = #blockscale.warp_specialized_schedule<tile = [128, 192, 128], stages = 4, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>
#few = #blockscale.warp_specialized_schedule<tile = [64, 16, 512], stages = 3, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>
#bf16 = #blockscale.instruction<wgmma, 64x8x16, unscaled, bf16, bf16, none, 0>
module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  func.func @main(%x: tensor<?x8192xbf16>, %y: tensor<1024x8192xf4E2M1FN>, %ys: tensor<1024x512xf8E4M3FN>,
                  %acc: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
    %w = blockscale.dequantize %y, %ys : tensor<1024x8192xf4E2M1FN>, tensor<1024x512xf8E4M3FN> to tensor<1024x8192xbf16>
    %d = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> (m, n)>]
         {blockscale.alternatives = [
           #blockscale.alternative<most_rows = 16, most_ranges = 4, cost = 0, instruction = #bf16, schedule = #few>,
           #blockscale.alternative<most_rows = 4096, most_ranges = 1, cost = 1990, instruction = #bf16, schedule = #wide>,
           #blockscale.alternative<most_rows = 4096, most_ranges = 1, cost = 1960, instruction = #bf16, schedule = #narrow>]}
         ins(%x, %w : tensor<?x8192xbf16>, tensor<1024x8192xbf16>) outs(%acc : tensor<?x1024xf32>) -> tensor<?x1024xf32>
    return %d : tensor<?x1024xf32>
  }
}
