// The pipeline for the CPU leaves the LLVM dialect and nothing else.

// RUN: blockscale-opt %s --blockscale-to-cpu --mlir-print-op-generic | FileCheck %s --implicit-check-not='{{"(affine|arith|blockscale|bufferization|cf|func|index|linalg|math|memref|scf|tensor|ub|vector)\.|unrealized_conversion_cast}}'

// CHECK-DAG: sym_name = "mma_scaled_tensor"
// CHECK-DAG: sym_name = "mma_scaled_dynamic"
// CHECK-DAG: sym_name = "mma_scaled_vector"
// CHECK-DAG: sym_name = "swizzles"
// CHECK-DAG: sym_name = "no_op_of_ours"

func.func @mma_scaled_tensor(
    %x: tensor<16x64xf8E4M3FN>, %x_swizzled: tensor<1x1x32x16xf8E8M0FNU>,
    %y_nk: tensor<8x64xf6E3M2FN>, %y_scale: tensor<2x8xf8E8M0FNU>)
    -> tensor<16x8xf32> {
  %x_scale = blockscale.unswizzle_scales %x_swizzled
             : tensor<1x1x32x16xf8E8M0FNU> to tensor<16x2xf8E8M0FNU>
  %empty = tensor.empty() : tensor<64x8xf6E3M2FN>
  %y = linalg.transpose ins(%y_nk : tensor<8x64xf6E3M2FN>)
       outs(%empty : tensor<64x8xf6E3M2FN>) permutation = [1, 0]
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

func.func @mma_scaled_dynamic(
    %x: tensor<?x?x?xf4E2M1FN>, %x_scale: tensor<?x?x?xf8E4M3FN>,
    %y: tensor<?x?xf4E2M1FN>, %y_scale: tensor<?x?xf8E4M3FN>,
    %acc: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 16}
       : tensor<?x?x?xf4E2M1FN>, tensor<?x?x?xf8E4M3FN>, tensor<?x?xf4E2M1FN>,
         tensor<?x?xf8E4M3FN>, tensor<?x?x?xf32>
  return %d : tensor<?x?x?xf32>
}

func.func @mma_scaled_vector(%x: tensor<16x64xf8E5M2>,
                             %x_scale: tensor<16x2xf8E8M0FNU>,
                             %y: tensor<64x8xf6E2M3FN>,
                             %y_scale: tensor<2x8xf8E8M0FNU>,
                             %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %p0 = ub.poison : f8E5M2
  %p1 = ub.poison : f8E8M0FNU
  %p2 = ub.poison : f6E2M3FN
  %p3 = ub.poison : f32
  %0 = vector.transfer_read %x[%c0, %c0], %p0 {in_bounds = [true, true]}
       : tensor<16x64xf8E5M2>, vector<16x64xf8E5M2>
  %1 = vector.transfer_read %x_scale[%c0, %c0], %p1 {in_bounds = [true, true]}
       : tensor<16x2xf8E8M0FNU>, vector<16x2xf8E8M0FNU>
  %2 = vector.transfer_read %y[%c0, %c0], %p2 {in_bounds = [true, true]}
       : tensor<64x8xf6E2M3FN>, vector<64x8xf6E2M3FN>
  %3 = vector.transfer_read %y_scale[%c0, %c0], %p1 {in_bounds = [true, true]}
       : tensor<2x8xf8E8M0FNU>, vector<2x8xf8E8M0FNU>
  %4 = vector.transfer_read %acc[%c0, %c0], %p3 {in_bounds = [true, true]}
       : tensor<16x8xf32>, vector<16x8xf32>
  %d = blockscale.mma_scaled %0, %1, %2, %3, %4
       : vector<16x64xf8E5M2>, vector<16x2xf8E8M0FNU>, vector<64x8xf6E2M3FN>,
         vector<2x8xf8E8M0FNU>, vector<16x8xf32>
  %r = vector.transfer_write %d, %acc[%c0, %c0] {in_bounds = [true, true]}
       : vector<16x8xf32>, tensor<16x8xf32>
  return %r : tensor<16x8xf32>
}

func.func @swizzles(%s: tensor<?x?xf8E8M0FNU>, %t: tensor<?x?x32x16xf8E4M3FN>,
                    %m: index, %k: index)
    -> (tensor<?x?x32x16xf8E8M0FNU>, tensor<?x?xf8E4M3FN>) {
  %0 = blockscale.swizzle_scales %s
       : tensor<?x?xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %1 = blockscale.unswizzle_scales %t sizes(%m, %k)
       : tensor<?x?x32x16xf8E4M3FN> to tensor<?x?xf8E4M3FN>
  return %0, %1 : tensor<?x?x32x16xf8E8M0FNU>, tensor<?x?xf8E4M3FN>
}

func.func @no_op_of_ours(%x: tensor<4xf8E5M2>, %out: tensor<4xf32>, %i: index)
    -> (tensor<4xf32>, f32) {
  %0 = arith.extf %x : tensor<4xf8E5M2> to tensor<4xf32>
  %1 = linalg.exp ins(%0 : tensor<4xf32>) outs(%out : tensor<4xf32>)
       -> tensor<4xf32>
  %2 = tensor.extract %1[%i] : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, f32
}
