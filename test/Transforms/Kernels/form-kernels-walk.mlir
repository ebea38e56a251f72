// What a product may take over is left for it, and gets a kernel of its own
// where it is not taken. (The order of the walk shows in
// form-kernels-mixed-input.mlir and form-kernels-dynamic.mlir.)

// RUN: blockscale-opt %s -split-input-file --blockscale-attach-target=target=sm_120a --blockscale-legalize --blockscale-form-kernels | FileCheck %s

// All of it is one kernel.

// CHECK-LABEL: func.func @taken(
// CHECK:         blockscale.launch @kernels::@taken__mma_scaled {{.*}} -> tensor<128x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>
// CHECK-NOT:     blockscale.launch
// CHECK-NOT:     blockscale.quantize
func.func @taken(
    %x: tensor<128x128xf8E4M3FN>, %sx: tensor<128x4xf8E8M0FNU>,
    %y: tensor<128x128xf8E4M3FN>, %sy: tensor<4x128xf8E8M0FNU>)
    -> (tensor<128x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>) {
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %zero
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [128, 128, 128], warps = [2, 2], stages = 1>}
       : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
         tensor<128x128xf8E4M3FN>, tensor<4x128xf8E8M0FNU>, tensor<128x128xf32>
  %q, %s = blockscale.quantize %d {block_size = 32 : i64}
           : tensor<128x128xf32> to tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>
  %t = blockscale.swizzle_scales %s
       : tensor<128x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  return %q, %t : tensor<128x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>
}

// -----

// No block is whole in a tile of 16 columns: the quantize gets a kernel, which
// takes the swizzle over.

// CHECK-LABEL: func.func @quantize_left(
// CHECK:         %[[D:.*]] = blockscale.launch @kernels::@quantize_left__mma_scaled {{.*}} -> tensor<128x128xf32>
// CHECK:         blockscale.launch @kernels::@quantize_left__quantize {{.*}} ins(%[[D]] {{.*}} -> tensor<128x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>
// CHECK-NOT:     blockscale.launch
// CHECK-NOT:     blockscale.swizzle_scales
func.func @quantize_left(
    %x: tensor<128x128xf8E4M3FN>, %sx: tensor<128x4xf8E8M0FNU>,
    %y: tensor<128x128xf8E4M3FN>, %sy: tensor<4x128xf8E8M0FNU>)
    -> (tensor<128x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>) {
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %zero
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 16, 128], warps = [2, 2], stages = 1>}
       : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
         tensor<128x128xf8E4M3FN>, tensor<4x128xf8E8M0FNU>, tensor<128x128xf32>
  %q, %s = blockscale.quantize %d {block_size = 32 : i64}
           : tensor<128x128xf32> to tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>
  %t = blockscale.swizzle_scales %s
       : tensor<128x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  return %q, %t : tensor<128x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>
}

// -----

// Tiles of 64 rows do not write the padding of the atoms: the swizzle gets a
// kernel.

// CHECK-LABEL: func.func @swizzle_left(
// CHECK:         %[[Q:.*]]:2 = blockscale.launch @kernels::@swizzle_left__mma_scaled {{.*}} -> tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>
// CHECK:         blockscale.launch @kernels::@swizzle_left__swizzle_scales {{.*}} ins(%[[Q]]#1
// CHECK-NOT:     blockscale.swizzle_scales
func.func @swizzle_left(
    %x: tensor<64x128xf8E4M3FN>, %sx: tensor<64x4xf8E8M0FNU>,
    %y: tensor<128x128xf8E4M3FN>, %sy: tensor<4x128xf8E8M0FNU>)
    -> (tensor<64x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>) {
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %zero
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 128, 128], warps = [2, 2], stages = 1>}
       : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
         tensor<128x128xf8E4M3FN>, tensor<4x128xf8E8M0FNU>, tensor<64x128xf32>
  %q, %s = blockscale.quantize %d {block_size = 32 : i64}
           : tensor<64x128xf32> to tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>
  %t = blockscale.swizzle_scales %s
       : tensor<64x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  return %q, %t : tensor<64x128xf8E4M3FN>, tensor<1x1x32x16xf8E8M0FNU>
}

// -----

// Who asks for sizes of a result, and who makes something that nobody needs, is
// no user of it.

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @sizes(
// CHECK:         blockscale.launch @kernels::@sizes__mma_scaled {{.*}} -> tensor<?x?xf16>
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @sizes(
    %x: tensor<?x128xf8E4M3FN>, %sx: tensor<?x4xf8E8M0FNU>,
    %y: tensor<128x?xf8E4M3FN>, %sy: tensor<4x?xf8E8M0FNU>,
    %c: tensor<?x?xf32>) -> tensor<?x?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 128, 128], warps = [2, 2], stages = 1>}
       : tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU>,
         tensor<128x?xf8E4M3FN>, tensor<4x?xf8E8M0FNU>, tensor<?x?xf32>
  %unused = linalg.negf ins(%d : tensor<?x?xf32>) outs(%c : tensor<?x?xf32>)
            -> tensor<?x?xf32>
  %m = tensor.dim %d, %c0 : tensor<?x?xf32>
  %n = tensor.dim %d, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf16>
  %h = linalg.generic
      {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<?x?xf32>) outs(%empty : tensor<?x?xf16>) {
  ^bb0(%e: f32, %o: f16):
    %t = arith.truncf %e : f32 to f16
    linalg.yield %t : f16
  } -> tensor<?x?xf16>
  return %h : tensor<?x?xf16>
}
