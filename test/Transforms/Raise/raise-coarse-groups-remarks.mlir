// Loops over groups of rows with coarse scales that no grouped product has. The products become mma_scaled.

// RUN: blockscale-opt %s --blockscale-raise -verify-diagnostics | FileCheck %s

// CHECK-NOT: blockscale.grouped

// A scale of x for each group.
func.func @of_group(%x: tensor<11x96xf8E4M3FN>, %xs: tensor<3xf32>, %y: tensor<3x24x96xf8E4M3FN>, %ys: tensor<3xf32>, %ends: tensor<3xi32>) -> tensor<11x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %groups = arith.constant 3 : index
  %f0 = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<11x24xf32>
  // expected-remark@+1 {{not raised to blockscale.grouped_mma_scaled: expected scales of x for all rows to be the same for all groups, got 'tensor.expand_shape'}}
  %d, %last = scf.for %g = %c0 to %groups step %c1 iter_args(%rows = %zeros, %start = %c0) -> (tensor<11x24xf32>, index) {
    %end_i32 = tensor.extract %ends[%g] : tensor<3xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %size = arith.subi %end, %start : index
    %xg = tensor.extract_slice %x[%start, 0] [%size, 96] [1, 1] : tensor<11x96xf8E4M3FN> to tensor<?x96xf8E4M3FN>
    %yg = tensor.extract_slice %y[%g, 0, 0] [1, 24, 96] [1, 1, 1] : tensor<3x24x96xf8E4M3FN> to tensor<24x96xf8E4M3FN>
    %sa = tensor.extract %xs[%g] : tensor<3xf32>
    %sb = tensor.extract %ys[%g] : tensor<3xf32>
    %e = tensor.empty(%size) : tensor<?x24xf32>
    %z = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%xg, %yg : tensor<?x96xf8E4M3FN>, tensor<24x96xf8E4M3FN>) outs(%z : tensor<?x24xf32>) {
    ^bb0(%a: f8E4M3FN, %b: f8E4M3FN, %c: f32):
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

// Groups start at any row, and blocks of 128 rows do not.
func.func @squares(%x: tensor<256x128xf8E4M3FN>, %xs: tensor<2x1xf32>, %y: tensor<2x128x24xf8E4M3FN>, %ys: tensor<2x1x1xf32>, %ends: tensor<2xi32>) -> tensor<256x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %groups = arith.constant 2 : index
  %f0 = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<256x24xf32>
  // expected-remark@+1 {{not raised to blockscale.grouped_mma_scaled: groups start at any row, so expected scales of x for one row, or for all, got <rows = 128, k = 128>}}
  %d, %last = scf.for %g = %c0 to %groups step %c1 iter_args(%rows = %zeros, %start = %c0) -> (tensor<256x24xf32>, index) {
    %end_i32 = tensor.extract %ends[%g] : tensor<2xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %size = arith.subi %end, %start : index
    %xg = tensor.extract_slice %x[%start, 0] [%size, 128] [1, 1] : tensor<256x128xf8E4M3FN> to tensor<?x128xf8E4M3FN>
    %number = arith.ceildivui %size, %size : index
    %xsg = tensor.extract_slice %xs[%g, 0] [%number, 1] [1, 1] : tensor<2x1xf32> to tensor<?x1xf32>
    %yg = tensor.extract_slice %y[%g, 0, 0] [1, 128, 24] [1, 1, 1] : tensor<2x128x24xf8E4M3FN> to tensor<128x24xf8E4M3FN>
    %ysg = tensor.extract_slice %ys[%g, 0, 0] [1, 1, 1] [1, 1, 1] : tensor<2x1x1xf32> to tensor<1x1xf32>
    %e = tensor.empty(%size) : tensor<?x24xf32>
    %z = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
    %p = blockscale.mma_scaled %xg, %xsg, %yg, %ysg, %z {x_scale_block = #blockscale.scale_block<rows = 128, k = 128>, y_scale_block = #blockscale.scale_block<rows = all, k = all>}
         : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>, tensor<128x24xf8E4M3FN>, tensor<1x1xf32>, tensor<?x24xf32>
    %next = tensor.insert_slice %p into %rows[%start, 0] [%size, 24] [1, 1] : tensor<?x24xf32> into tensor<256x24xf32>
    scf.yield %next, %end : tensor<256x24xf32>, index
  }
  return %d : tensor<256x24xf32>
}

// The same for rows that name their groups.
#ik = affine_map<(i, n, k) -> (i, k)>
func.func @named_squares(%x: tensor<130x128xf8E4M3FN>, %xs: tensor<2x1xf32>, %ids: tensor<130xi32>, %y: tensor<4x128x8xf8E4M3FN>, %ys: tensor<4x1x8xf32>) -> tensor<130x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<130x8xf32>
  %c0 = arith.constant 0 : index
  // expected-remark@+1 {{not raised to blockscale.grouped_mma_scaled: rows are in any order, so expected scales of x for one row, or for all, got <rows = 128, k = all>}}
  %d = linalg.generic {indexing_maps = [#ik, affine_map<(i, n, k) -> (i floordiv 128, 0)>, affine_map<(i, n, k) -> (i)>, affine_map<(i, n, k) -> (i, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %xs, %ids : tensor<130x128xf8E4M3FN>, tensor<2x1xf32>, tensor<130xi32>) outs(%zeros : tensor<130x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %id: i32, %c: f32):
    %g = arith.index_cast %id : i32 to index
    %n = linalg.index 1 : index
    %k = linalg.index 2 : index
    %sb = tensor.extract %ys[%g, %c0, %n] : tensor<4x1x8xf32>
    %b = tensor.extract %y[%g, %k, %n] : tensor<4x128x8xf8E4M3FN>
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %bw, %sb : f32
    %t = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %t : f32
    linalg.yield %r : f32
  } -> tensor<130x8xf32>
  return %d : tensor<130x8xf32>
}
