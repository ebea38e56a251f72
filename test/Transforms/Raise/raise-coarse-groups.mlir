// Loops over groups of rows with coarse scales become grouped products. Test for the values: raise-coarse-groups.test.

// RUN: blockscale-opt %s --blockscale-raise 2>&1 | FileCheck %s --implicit-check-not=remark: --implicit-check-not=scf.for --implicit-check-not=linalg.generic
// RUN: blockscale-opt %s --blockscale-raise | blockscale-opt -o %t

// 1 x 128 by 128 x 128; y is G x N x K, with scales of ceil(N / 128) x ceil(K / 128).
// CHECK-LABEL: func.func @block128(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<11x256xf8E4M3FN>, %[[XS:[^:]*]]: tensor<11x2xf32>, %[[Y:[^:]*]]: tensor<3x136x256xf8E4M3FN>, %[[YS:[^:]*]]: tensor<3x2x2xf32>, %[[ENDS:[^:]*]]: tensor<3xi32>)
// CHECK-DAG:     %[[YT:.*]] = linalg.transpose ins(%[[Y]] : {{.*}} permutation = [0, 2, 1]
// CHECK-DAG:     %[[YST:.*]] = linalg.transpose ins(%[[YS]] : {{.*}} permutation = [0, 2, 1]
// CHECK:         %[[D:.*]] = blockscale.grouped_mma_scaled %[[X]], %[[XS]], %[[YT]], %[[YST]], %[[ENDS]], %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>, y_scale_block = #blockscale.scale_block<rows = 128, k = 128>}
// CHECK-NEXT:    return %[[D]]
func.func @block128(%x: tensor<11x256xf8E4M3FN>, %xs: tensor<11x2xf32>, %y: tensor<3x136x256xf8E4M3FN>, %ys: tensor<3x2x2xf32>, %ends: tensor<3xi32>) -> tensor<11x136xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %groups = arith.constant 3 : index
  %f0 = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<11x136xf32>
  %d, %last = scf.for %g = %c0 to %groups step %c1 iter_args(%rows = %zeros, %start = %c0) -> (tensor<11x136xf32>, index) {
    %end_i32 = tensor.extract %ends[%g] : tensor<3xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %size = arith.subi %end, %start : index
    %xg = tensor.extract_slice %x[%start, 0] [%size, 256] [1, 1] : tensor<11x256xf8E4M3FN> to tensor<?x256xf8E4M3FN>
    %yg = tensor.extract_slice %y[%g, 0, 0] [1, 136, 256] [1, 1, 1] : tensor<3x136x256xf8E4M3FN> to tensor<136x256xf8E4M3FN>
    %xsg = tensor.extract_slice %xs[%start, 0] [%size, 2] [1, 1] : tensor<11x2xf32> to tensor<?x2xf32>
    %ysg = tensor.extract_slice %ys[%g, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<3x2x2xf32> to tensor<2x2xf32>
    %e = tensor.empty(%size) : tensor<?x136xf32>
    %z = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x136xf32>) -> tensor<?x136xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, k floordiv 128)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%xg, %yg, %xsg, %ysg : tensor<?x256xf8E4M3FN>, tensor<136x256xf8E4M3FN>, tensor<?x2xf32>, tensor<2x2xf32>) outs(%z : tensor<?x136xf32>) {
    ^bb0(%a: f8E4M3FN, %b: f8E4M3FN, %sa: f32, %sb: f32, %c: f32):
      %aw = arith.extf %a : f8E4M3FN to f32
      %as = arith.mulf %aw, %sa : f32
      %bw = arith.extf %b : f8E4M3FN to f32
      %bs = arith.mulf %bw, %sb : f32
      %t = arith.mulf %as, %bs : f32
      %r = arith.addf %c, %t : f32
      linalg.yield %r : f32
    } -> tensor<?x136xf32>
    %next = tensor.insert_slice %p into %rows[%start, 0] [%size, 136] [1, 1] : tensor<?x136xf32> into tensor<11x136xf32>
    scf.yield %next, %end : tensor<11x136xf32>, index
  }
  return %d : tensor<11x136xf32>
}

// A scale for each row and for each column, without a dimension for blocks.
// CHECK-LABEL: func.func @rows(
// CHECK:         blockscale.grouped_mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = all>, y_scale_block = #blockscale.scale_block<rows = 1, k = all>} : tensor<11x96xf8E4M3FN>, tensor<11x1xf32>, tensor<3x96x24xf8E4M3FN>, tensor<3x1x24xf32>
func.func @rows(%x: tensor<11x96xf8E4M3FN>, %xs: tensor<11xf32>, %y: tensor<3x24x96xf8E4M3FN>, %ys: tensor<3x24xf32>, %ends: tensor<3xi32>) -> tensor<11x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %groups = arith.constant 3 : index
  %f0 = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<11x24xf32>
  %d, %last = scf.for %g = %c0 to %groups step %c1 iter_args(%rows = %zeros, %start = %c0) -> (tensor<11x24xf32>, index) {
    %end_i32 = tensor.extract %ends[%g] : tensor<3xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %size = arith.subi %end, %start : index
    %xg = tensor.extract_slice %x[%start, 0] [%size, 96] [1, 1] : tensor<11x96xf8E4M3FN> to tensor<?x96xf8E4M3FN>
    %yg = tensor.extract_slice %y[%g, 0, 0] [1, 24, 96] [1, 1, 1] : tensor<3x24x96xf8E4M3FN> to tensor<24x96xf8E4M3FN>
    %xsg = tensor.extract_slice %xs[%start] [%size] [1] : tensor<11xf32> to tensor<?xf32>
    %ysg = tensor.extract_slice %ys[%g, 0] [1, 24] [1, 1] : tensor<3x24xf32> to tensor<24xf32>
    %e = tensor.empty(%size) : tensor<?x24xf32>
    %z = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m)>, affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%xg, %yg, %xsg, %ysg : tensor<?x96xf8E4M3FN>, tensor<24x96xf8E4M3FN>, tensor<?xf32>, tensor<24xf32>) outs(%z : tensor<?x24xf32>) {
    ^bb0(%a: f8E4M3FN, %b: f8E4M3FN, %sa: f32, %sb: f32, %c: f32):
      %aw = arith.extf %a : f8E4M3FN to f32
      %as = arith.mulf %aw, %sa : f32
      %bw = arith.extf %b : f8E4M3FN to f32
      %bs = arith.mulf %bw, %sb : f32
      %t = arith.mulf %as, %bs : f32
      %r = arith.addf %c, %t : f32
      linalg.yield %r : f32
    } -> tensor<?x24xf32>
    %next = tensor.insert_slice %p into %rows[%start, 0] [%size, 24] [1, 1] : tensor<?x24xf32> into tensor<11x24xf32>
    scf.yield %next, %end : tensor<11x24xf32>, index
  }
  return %d : tensor<11x24xf32>
}

// One number for all of x, and one for each matrix of y.
// CHECK-LABEL: func.func @tensors(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<11x96xf8E4M3FN>, %[[XS:[^:]*]]: f32, %[[Y:[^:]*]]: tensor<3x24x96xf8E4M3FN>, %[[YS:[^:]*]]: tensor<3xf32>,
// CHECK-DAG:     %[[SPLAT:.*]] = tensor.splat %[[XS]] : tensor<1x1xf32>
// CHECK-DAG:     %[[UNITS:.*]] = tensor.expand_shape %[[YS]] {{\[\[}}0, 1, 2]] output_shape [3, 1, 1] : tensor<3xf32> into tensor<3x1x1xf32>
// CHECK:         blockscale.grouped_mma_scaled %[[X]], %[[SPLAT]], %{{.*}}, %[[UNITS]], %{{.*}} {x_scale_block = #blockscale.scale_block<rows = all, k = all>, y_scale_block = #blockscale.scale_block<rows = all, k = all>}
func.func @tensors(%x: tensor<11x96xf8E4M3FN>, %xs: f32, %y: tensor<3x24x96xf8E4M3FN>, %ys: tensor<3xf32>, %ends: tensor<3xi32>) -> tensor<11x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %groups = arith.constant 3 : index
  %f0 = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<11x24xf32>
  %d, %last = scf.for %g = %c0 to %groups step %c1 iter_args(%rows = %zeros, %start = %c0) -> (tensor<11x24xf32>, index) {
    %end_i32 = tensor.extract %ends[%g] : tensor<3xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %size = arith.subi %end, %start : index
    %xg = tensor.extract_slice %x[%start, 0] [%size, 96] [1, 1] : tensor<11x96xf8E4M3FN> to tensor<?x96xf8E4M3FN>
    %yg = tensor.extract_slice %y[%g, 0, 0] [1, 24, 96] [1, 1, 1] : tensor<3x24x96xf8E4M3FN> to tensor<24x96xf8E4M3FN>
    %sb = tensor.extract %ys[%g] : tensor<3xf32>
    %e = tensor.empty(%size) : tensor<?x24xf32>
    %z = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%xg, %yg : tensor<?x96xf8E4M3FN>, tensor<24x96xf8E4M3FN>) outs(%z : tensor<?x24xf32>) {
    ^bb0(%a: f8E4M3FN, %b: f8E4M3FN, %c: f32):
      %aw = arith.extf %a : f8E4M3FN to f32
      %as = arith.mulf %aw, %xs : f32
      %bw = arith.extf %b : f8E4M3FN to f32
      %bs = arith.mulf %bw, %sb : f32
      %t = arith.mulf %as, %bs : f32
      %r = arith.addf %c, %t : f32
      linalg.yield %r : f32
    } -> tensor<?x24xf32>
    %next = tensor.insert_slice %p into %rows[%start, 0] [%size, 24] [1, 1] : tensor<?x24xf32> into tensor<11x24xf32>
    scf.yield %next, %end : tensor<11x24xf32>, index
  }
  return %d : tensor<11x24xf32>
}
