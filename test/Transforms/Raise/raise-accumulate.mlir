// A loop over groups whose product has a licence: that of the groups has it, too.

// RUN: blockscale-opt %s --blockscale-raise | FileCheck %s

// CHECK-LABEL: func.func @groups(
// CHECK:         blockscale.grouped_mma_scaled {{.*}} {accumulate = #blockscale.accumulate<chunk = 64, rebase>, block_size = 32 : i64}
func.func @groups(%x: tensor<10x64xf8E4M3FN>, %xs: tensor<10x2xf8E8M0FNU>, %y: tensor<3x64x24xf8E4M3FN>,
                  %ys: tensor<3x2x24xf8E8M0FNU>, %ends: tensor<3xi32>, %acc: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %d, %last = scf.for %g = %c0 to %c3 step %c1 iter_args(%rows = %acc, %start = %c0) -> (tensor<10x24xf32>, index) {
    %end_i32 = tensor.extract %ends[%g] : tensor<3xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %size = arith.subi %end, %start : index
    %xg = tensor.extract_slice %x[%start, 0] [%size, 64] [1, 1] : tensor<10x64xf8E4M3FN> to tensor<?x64xf8E4M3FN>
    %xsg = tensor.extract_slice %xs[%start, 0] [%size, 2] [1, 1] : tensor<10x2xf8E8M0FNU> to tensor<?x2xf8E8M0FNU>
    %yg = tensor.extract_slice %y[%g, 0, 0] [1, 64, 24] [1, 1, 1] : tensor<3x64x24xf8E4M3FN> to tensor<64x24xf8E4M3FN>
    %ysg = tensor.extract_slice %ys[%g, 0, 0] [1, 2, 24] [1, 1, 1] : tensor<3x2x24xf8E8M0FNU> to tensor<2x24xf8E8M0FNU>
    %old = tensor.extract_slice %rows[%start, 0] [%size, 24] [1, 1] : tensor<10x24xf32> to tensor<?x24xf32>
    %p = blockscale.mma_scaled %xg, %xsg, %yg, %ysg, %old
         {accumulate = #blockscale.accumulate<chunk = 64, rebase>}
         : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>, tensor<64x24xf8E4M3FN>, tensor<2x24xf8E8M0FNU>, tensor<?x24xf32>
    %next = tensor.insert_slice %p into %rows[%start, 0] [%size, 24] [1, 1] : tensor<?x24xf32> into tensor<10x24xf32>
    scf.yield %next, %end : tensor<10x24xf32>, index
  }
  return %d : tensor<10x24xf32>
}
