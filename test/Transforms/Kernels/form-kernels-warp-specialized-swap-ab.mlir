// A kernel of the path tcgen05 that computes the transpose.

// RUN: blockscale-opt %s --blockscale-legalize --blockscale-form-kernels --canonicalize | FileCheck %s

// Rows of A are those of y, 128 columns of the result; of
// x 40 rows are B. Threads have columns of the result, and all of its rows, 16
// at a time.

// CHECK-LABEL: gpu.func @swap_ab__mma_scaled(
// CHECK-SAME:    %[[X:arg0]]: memref<40x256xi8>, {{.*}}, %[[D:arg4]]: memref<40x1024xf32>, %[[Y_MAP:arg5]]: !llvm.ptr, %[[YS_MAP:arg6]]: !llvm.ptr, %[[X_MAP:arg7]]: !llvm.ptr, %[[XS_MAP:arg8]]: !llvm.ptr)
// CHECK:         scf.for %[[TILE:.*]] = %block_id_x to %c8 step
// CHECK:           %[[COLUMN:.*]] = arith.muli %{{.*}}, %c128 : index
// CHECK:           scf.for
// CHECK:             %[[PART:.*]] = blockscale.acc_read {{.*}} : <128x64> -> <16x128, #blockscale.lane_columns>
// CHECK:             blockscale.acc_store %[[PART]], %[[D]][%{{.*}}, %[[COLUMN]]] :
// CHECK:         blockscale.tensor_load %[[Y_MAP]][%{{.*}}, %{{.*}}] to %{{.*}}[%c0], {{.*}} hint
// CHECK:         blockscale.tensor_load %[[X_MAP]][%{{.*}}, %{{.*}}] to %{{.*}}[%c16384], %{{.*}}[%c0] :
// CHECK:         blockscale.async_tile_mma {{.*}} instruction = <tcgen05, 128x64x32, mxf8f6f4, e5m2, e4m3, ue8m0, 1>
#instruction = #blockscale.instruction<tcgen05, 128x256x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 64, 128], stages = 2, accumulators = 1, persistent = true, swap_ab = true>
func.func @swap_ab(%x: tensor<40x256xf8E4M3FN>,
                %xt: tensor<1x2x32x16xf8E8M0FNU>,
                %y: tensor<1024x256xf8E5M2>,
                %yt: tensor<8x2x32x16xf8E8M0FNU>) -> tensor<40x1024xf32> {
  %zero = arith.constant dense<0.0> : tensor<40x1024xf32>
  %xs = blockscale.unswizzle_scales %xt
      : tensor<1x2x32x16xf8E8M0FNU> to tensor<40x8xf8E8M0FNU>
  %ys = blockscale.unswizzle_scales %yt
      : tensor<8x2x32x16xf8E8M0FNU> to tensor<1024x8xf8E8M0FNU>
  %empty = tensor.empty() : tensor<256x1024xf8E5M2>
  %transposed = linalg.transpose ins(%y : tensor<1024x256xf8E5M2>)
      outs(%empty : tensor<256x1024xf8E5M2>) permutation = [1, 0]
  %empty_scales = tensor.empty() : tensor<8x1024xf8E8M0FNU>
  %scales = linalg.transpose ins(%ys : tensor<1024x8xf8E8M0FNU>)
      outs(%empty_scales : tensor<8x1024xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %transposed, %scales, %zero
      {blockscale.path = #blockscale.path<tcgen05>,
       blockscale.instruction = #instruction, blockscale.schedule = #schedule}
      : tensor<40x256xf8E4M3FN>, tensor<40x8xf8E8M0FNU>,
        tensor<256x1024xf8E5M2>, tensor<8x1024xf8E8M0FNU>,
        tensor<40x1024xf32>
  return %d : tensor<40x1024xf32>
}
