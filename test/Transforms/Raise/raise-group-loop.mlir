// RUN: blockscale-opt %s --blockscale-raise 2>&1 | FileCheck %s --implicit-check-not=remark: --implicit-check-not=scf.for

// Loops over groups of rows become grouped products.

// The start is where the step before ended.
// CHECK-LABEL: func.func @carried_start(
// CHECK-SAME:    %[[X:.*]]: tensor<10x64xbf16>, %[[Y:.*]]: tensor<3x64x24xbf16>, %[[ENDS:.*]]: tensor<3xi32>)
// CHECK:         %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<10x24xf32>
// CHECK:         %[[D:.*]] = blockscale.grouped_matmul %[[X]], %[[Y]], %[[ENDS]], %[[ZEROS]] : tensor<10x64xbf16>
// CHECK-NEXT:    return %[[D]]
func.func @carried_start(%x: tensor<10x64xbf16>, %y: tensor<3x64x24xbf16>, %ends: tensor<3xi32>) -> tensor<10x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %f0 = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<10x24xf32>
  %d, %last = scf.for %g = %c0 to %c3 step %c1 iter_args(%rows = %zeros, %start = %c0) -> (tensor<10x24xf32>, index) {
    %end_i32 = tensor.extract %ends[%g] : tensor<3xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %size = arith.subi %end, %start : index
    %xs = tensor.extract_slice %x[%start, 0] [%size, 64] [1, 1] : tensor<10x64xbf16> to tensor<?x64xbf16>
    %yg = tensor.extract_slice %y[%g, 0, 0] [1, 64, 24] [1, 1, 1] : tensor<3x64x24xbf16> to tensor<64x24xbf16>
    %e = tensor.empty(%size) : tensor<?x24xf32>
    %z = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
    %p = linalg.matmul ins(%xs, %yg : tensor<?x64xbf16>, tensor<64x24xbf16>) outs(%z : tensor<?x24xf32>) -> tensor<?x24xf32>
    %next = tensor.insert_slice %p into %rows[%start, 0] [%size, 24] [1, 1] : tensor<?x24xf32> into tensor<10x24xf32>
    scf.yield %next, %end : tensor<10x24xf32>, index
  }
  return %d : tensor<10x24xf32>
}

// The start is the end before, or 0, by a selection; the difference is of i32. Each y is N x K. Attributes of the
// product go on. The sizes are dynamic, and rows of no group are not initialized.
// CHECK-LABEL: func.func @selected_start(
// CHECK-SAME:    %[[X:.*]]: tensor<?x64xf16>, %[[Y:.*]]: tensor<?x24x64xf16>, %[[ENDS:.*]]: tensor<?xi32>)
// CHECK-DAG:     %[[Y_OF_GROUPS:.*]] = tensor.extract_slice %[[Y]][0, 0, 0]
// CHECK-DAG:     %[[ZEROS:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?x24xf32>)
// CHECK-DAG:     %[[YT:.*]] = linalg.transpose ins(%[[Y_OF_GROUPS]] : tensor<?x24x64xf16>) {{.*}} permutation = [0, 2, 1]
// CHECK:         %[[D:.*]] = blockscale.grouped_matmul %[[X]], %[[YT]], %[[ENDS]], %[[ZEROS]] {blockscale.path = #blockscale.path<dequant_mma>}
// CHECK-NEXT:    return %[[D]]
func.func @selected_start(%x: tensor<?x64xf16>, %y: tensor<?x24x64xf16>, %ends: tensor<?xi32>) -> tensor<?x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c0_i32 = arith.constant 0 : i32
  %f0 = arith.constant 0.0 : f32
  %groups = tensor.dim %ends, %c0 : tensor<?xi32>
  %ys = tensor.extract_slice %y[0, 0, 0] [%groups, 24, 64] [1, 1, 1] : tensor<?x24x64xf16> to tensor<?x24x64xf16>
  %t = tensor.dim %x, %c0 : tensor<?x64xf16>
  %init = tensor.empty(%t) : tensor<?x24xf32>
  %d = scf.for %g = %c0 to %groups step %c1 iter_args(%rows = %init) -> tensor<?x24xf32> {
    %is_first = arith.cmpi eq, %g, %c0 : index
    %before = arith.subi %g, %c1 : index
    %safe = arith.maxsi %before, %c0 : index
    %before_end = tensor.extract %ends[%safe] : tensor<?xi32>
    %start_i32 = arith.select %is_first, %c0_i32, %before_end : i32
    %end_i32 = tensor.extract %ends[%g] : tensor<?xi32>
    %size_i32 = arith.subi %end_i32, %start_i32 : i32
    %start = arith.index_cast %start_i32 : i32 to index
    %size = arith.index_cast %size_i32 : i32 to index
    %xs = tensor.extract_slice %x[%start, 0] [%size, 64] [1, 1] : tensor<?x64xf16> to tensor<?x64xf16>
    %yg = tensor.extract_slice %ys[%g, 0, 0] [1, 24, 64] [1, 1, 1] : tensor<?x24x64xf16> to tensor<24x64xf16>
    %e = tensor.empty(%size) : tensor<?x24xf32>
    %z = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> (m, n)>]
         {blockscale.path = #blockscale.path<dequant_mma>}
         ins(%xs, %yg : tensor<?x64xf16>, tensor<24x64xf16>) outs(%z : tensor<?x24xf32>) -> tensor<?x24xf32>
    %next = tensor.insert_slice %p into %rows[%start, 0] [%size, 24] [1, 1] : tensor<?x24xf32> into tensor<?x24xf32>
    scf.yield %next : tensor<?x24xf32>
  }
  return %d : tensor<?x24xf32>
}

// The start by a branch; the product adds to rows of the result, so that any initial ones will do. A slice that keeps
// the dimension of groups, and a reshape.
// CHECK-LABEL: func.func @accumulates(
// CHECK-SAME:    %[[X:.*]]: tensor<10x64xbf16>, %[[Y:.*]]: tensor<3x64x24xbf16>, %[[ENDS:.*]]: tensor<3xi32>, %[[ACC:.*]]: tensor<10x24xf32>)
// CHECK:         %[[D:.*]] = blockscale.grouped_matmul %[[X]], %[[Y]], %[[ENDS]], %[[ACC]] :
// CHECK-NEXT:    return %[[D]]
func.func @accumulates(%x: tensor<10x64xbf16>, %y: tensor<3x64x24xbf16>, %ends: tensor<3xi32>, %acc: tensor<10x24xf32>)
    -> tensor<10x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %d = scf.for %g = %c0 to %c3 step %c1 iter_args(%rows = %acc) -> tensor<10x24xf32> {
    %is_later = arith.cmpi ne, %g, %c0 : index
    %start = scf.if %is_later -> index {
      %before = arith.subi %g, %c1 : index
      %before_end = tensor.extract %ends[%before] : tensor<3xi32>
      %cast = arith.index_cast %before_end : i32 to index
      scf.yield %cast : index
    } else {
      scf.yield %c0 : index
    }
    %end_i32 = tensor.extract %ends[%g] : tensor<3xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %size = arith.subi %end, %start : index
    %xs = tensor.extract_slice %x[%start, 0] [%size, 64] [1, 1] : tensor<10x64xbf16> to tensor<?x64xbf16>
    %y1 = tensor.extract_slice %y[%g, 0, 0] [1, 64, 24] [1, 1, 1] : tensor<3x64x24xbf16> to tensor<1x64x24xbf16>
    %yg = tensor.collapse_shape %y1 [[0, 1], [2]] : tensor<1x64x24xbf16> into tensor<64x24xbf16>
    %old = tensor.extract_slice %rows[%start, 0] [%size, 24] [1, 1] : tensor<10x24xf32> to tensor<?x24xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (m, k)>,
                                          affine_map<(n, m, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%yg, %xs : tensor<64x24xbf16>, tensor<?x64xbf16>) outs(%old : tensor<?x24xf32>) {
    ^bb0(%b: bf16, %a: bf16, %c: f32):
      %bf = arith.extf %b : bf16 to f32
      %af = arith.extf %a : bf16 to f32
      %product = arith.mulf %af, %bf : f32
      %sum = arith.addf %c, %product : f32
      linalg.yield %sum : f32
    } -> tensor<?x24xf32>
    %next = tensor.insert_slice %p into %rows[%start, 0] [%size, 24] [1, 1] : tensor<?x24xf32> into tensor<10x24xf32>
    scf.yield %next : tensor<10x24xf32>
  }
  return %d : tensor<10x24xf32>
}

// Two products of one x, both stored in bf16.
// CHECK-LABEL: func.func @truncated(
// CHECK-SAME:    %[[X:.*]]: tensor<?x64xbf16>, %[[GATES:.*]]: tensor<3x64x24xbf16>, %[[UPS:.*]]: tensor<3x64x16xbf16>, %[[ENDS:.*]]: tensor<3xi32>)
// CHECK:         %[[GATE_ZEROS:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?x24xf32>)
// CHECK:         %[[GATE:.*]] = blockscale.grouped_matmul %[[X]], %[[GATES]], %[[ENDS]], %[[GATE_ZEROS]] :
// CHECK:         %[[GATE_BF16:.*]] = linalg.generic {{.*}} ins(%[[GATE]] : tensor<?x24xf32>)
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
// CHECK:         %[[UP:.*]] = blockscale.grouped_matmul %[[X]], %[[UPS]], %[[ENDS]], %{{.*}} :
// CHECK:         %[[UP_BF16:.*]] = linalg.generic {{.*}} ins(%[[UP]] : tensor<?x16xf32>)
// CHECK:         return %[[GATE_BF16]], %[[UP_BF16]]
func.func @truncated(%x: tensor<?x64xbf16>, %gates: tensor<3x64x24xbf16>, %ups: tensor<3x64x16xbf16>, %ends: tensor<3xi32>)
    -> (tensor<?x24xbf16>, tensor<?x16xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %f0 = arith.constant 0.0 : f32
  %b0 = arith.constant 0.0 : bf16
  %t = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %gate_empty = tensor.empty(%t) : tensor<?x24xbf16>
  %gate_zeros = linalg.fill ins(%b0 : bf16) outs(%gate_empty : tensor<?x24xbf16>) -> tensor<?x24xbf16>
  %up_empty = tensor.empty(%t) : tensor<?x16xbf16>
  %gate, %up, %last = scf.for %g = %c0 to %c3 step %c1
      iter_args(%gate_rows = %gate_zeros, %up_rows = %up_empty, %start = %c0) -> (tensor<?x24xbf16>, tensor<?x16xbf16>, index) {
    %end_i32 = tensor.extract %ends[%g] : tensor<3xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %size = arith.subi %end, %start : index
    %xs = tensor.extract_slice %x[%start, 0] [%size, 64] [1, 1] : tensor<?x64xbf16> to tensor<?x64xbf16>
    %y1 = tensor.extract_slice %gates[%g, 0, 0] [1, 64, 24] [1, 1, 1] : tensor<3x64x24xbf16> to tensor<64x24xbf16>
    %y2 = tensor.extract_slice %ups[%g, 0, 0] [1, 64, 16] [1, 1, 1] : tensor<3x64x16xbf16> to tensor<64x16xbf16>
    %e1 = tensor.empty(%size) : tensor<?x24xf32>
    %z1 = linalg.fill ins(%f0 : f32) outs(%e1 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %p1 = linalg.matmul ins(%xs, %y1 : tensor<?x64xbf16>, tensor<64x24xbf16>) outs(%z1 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %n1 = tensor.empty(%size) : tensor<?x24xbf16>
    %t1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                          iterator_types = ["parallel", "parallel"]}
          ins(%p1 : tensor<?x24xf32>) outs(%n1 : tensor<?x24xbf16>) {
    ^bb0(%v: f32, %o: bf16):
      %b = arith.truncf %v : f32 to bf16
      linalg.yield %b : bf16
    } -> tensor<?x24xbf16>
    %e2 = tensor.empty(%size) : tensor<?x16xf32>
    %z2 = linalg.fill ins(%f0 : f32) outs(%e2 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %p2 = linalg.matmul ins(%xs, %y2 : tensor<?x64xbf16>, tensor<64x16xbf16>) outs(%z2 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %t2 = arith.truncf %p2 : tensor<?x16xf32> to tensor<?x16xbf16>
    %next1 = tensor.insert_slice %t1 into %gate_rows[%start, 0] [%size, 24] [1, 1] : tensor<?x24xbf16> into tensor<?x24xbf16>
    %next2 = tensor.insert_slice %t2 into %up_rows[%start, 0] [%size, 16] [1, 1] : tensor<?x16xbf16> into tensor<?x16xbf16>
    scf.yield %next1, %next2, %end : tensor<?x24xbf16>, tensor<?x16xbf16>, index
  }
  return %gate, %up : tensor<?x24xbf16>, tensor<?x16xbf16>
}

// The product in the loop is decoded operands and a contraction, which is raised first.
// CHECK-LABEL: func.func @scaled(
// CHECK-SAME:    %[[X:.*]]: tensor<10x64xf8E4M3FN>, %[[XS:.*]]: tensor<10x2xf8E8M0FNU>, %[[Y:.*]]: tensor<3x24x64xf4E2M1FN>, %[[YS:.*]]: tensor<3x24x2xf8E8M0FNU>, %[[ENDS:.*]]: tensor<3xi32>, %[[ACC:.*]]: tensor<10x24xf32>)
// CHECK-DAG:     %[[YT:.*]] = linalg.transpose ins(%[[Y]] : {{.*}} permutation = [0, 2, 1]
// CHECK-DAG:     %[[YST:.*]] = linalg.transpose ins(%[[YS]] : {{.*}} permutation = [0, 2, 1]
// CHECK:         %[[D:.*]] = blockscale.grouped_mma_scaled %[[X]], %[[XS]], %[[YT]], %[[YST]], %[[ENDS]], %[[ACC]] {block_size = 32 : i64}
// CHECK-NEXT:    return %[[D]]
func.func @scaled(%x: tensor<10x64xf8E4M3FN>, %xs: tensor<10x2xf8E8M0FNU>, %y: tensor<3x24x64xf4E2M1FN>,
                  %ys: tensor<3x24x2xf8E8M0FNU>, %ends: tensor<3xi32>, %acc: tensor<10x24xf32>) -> tensor<10x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %d, %last = scf.for %g = %c0 to %c3 step %c1 iter_args(%rows = %acc, %start = %c0) -> (tensor<10x24xf32>, index) {
    %end_i32 = tensor.extract %ends[%g] : tensor<3xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %size = arith.subi %end, %start : index
    %xg = tensor.extract_slice %x[%start, 0] [%size, 64] [1, 1] : tensor<10x64xf8E4M3FN> to tensor<?x64xf8E4M3FN>
    %xsg = tensor.extract_slice %xs[%start, 0] [%size, 2] [1, 1] : tensor<10x2xf8E8M0FNU> to tensor<?x2xf8E8M0FNU>
    %yg = tensor.extract_slice %y[%g, 0, 0] [1, 24, 64] [1, 1, 1] : tensor<3x24x64xf4E2M1FN> to tensor<24x64xf4E2M1FN>
    %ysg = tensor.extract_slice %ys[%g, 0, 0] [1, 24, 2] [1, 1, 1] : tensor<3x24x2xf8E8M0FNU> to tensor<24x2xf8E8M0FNU>
    %old = tensor.extract_slice %rows[%start, 0] [%size, 24] [1, 1] : tensor<10x24xf32> to tensor<?x24xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (m, k floordiv 32)>,
                                          affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n, k floordiv 32)>,
                                          affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%xg, %xsg, %yg, %ysg : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>, tensor<24x64xf4E2M1FN>, tensor<24x2xf8E8M0FNU>)
         outs(%old : tensor<?x24xf32>) {
    ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f4E2M1FN, %sb: f8E8M0FNU, %c: f32):
      %0 = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
      %1 = arith.scaling_extf %b, %sb : f4E2M1FN, f8E8M0FNU to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<?x24xf32>
    %next = tensor.insert_slice %p into %rows[%start, 0] [%size, 24] [1, 1] : tensor<?x24xf32> into tensor<10x24xf32>
    scf.yield %next, %end : tensor<10x24xf32>, index
  }
  return %d : tensor<10x24xf32>
}

// Weights are decoded in the loop, with one scale for all of them: dequantize of all groups.
// CHECK-LABEL: func.func @weights(
// CHECK-SAME:    %[[X:.*]]: tensor<10x64xbf16>, %[[Y:.*]]: tensor<3x24x64xf4E2M1FN>, %[[YS:.*]]: tensor<3x24x4xf8E4M3FN>, %[[SCALE:.*]]: tensor<f32>, %[[ENDS:.*]]: tensor<3xi32>)
// CHECK:         %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<10x24xf32>
// CHECK:         %[[S:.*]] = tensor.extract %[[SCALE]][]
// CHECK:         %[[VALUES:.*]] = blockscale.dequantize %[[Y]], %[[YS]] tensor_scale(%[[S]]) {block_size = 16 : i64}
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[VALUES]] : tensor<3x24x64xbf16>) {{.*}} permutation = [0, 2, 1]
// CHECK:         %[[D:.*]] = blockscale.grouped_matmul %[[X]], %[[T]], %[[ENDS]], %[[ZEROS]] :
// CHECK-NEXT:    return %[[D]]
func.func @weights(%x: tensor<10x64xbf16>, %y: tensor<3x24x64xf4E2M1FN>, %ys: tensor<3x24x4xf8E4M3FN>, %scale: tensor<f32>,
                   %ends: tensor<3xi32>) -> tensor<10x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %f0 = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<10x24xf32>
  %d, %last = scf.for %g = %c0 to %c3 step %c1 iter_args(%rows = %zeros, %start = %c0) -> (tensor<10x24xf32>, index) {
    %end_i32 = tensor.extract %ends[%g] : tensor<3xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %size = arith.subi %end, %start : index
    %xs = tensor.extract_slice %x[%start, 0] [%size, 64] [1, 1] : tensor<10x64xbf16> to tensor<?x64xbf16>
    %yg = tensor.extract_slice %y[%g, 0, 0] [1, 24, 64] [1, 1, 1] : tensor<3x24x64xf4E2M1FN> to tensor<24x64xf4E2M1FN>
    %ysg = tensor.extract_slice %ys[%g, 0, 0] [1, 24, 4] [1, 1, 1] : tensor<3x24x4xf8E4M3FN> to tensor<24x4xf8E4M3FN>
    %values = tensor.empty() : tensor<24x64xbf16>
    %decoded = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k floordiv 16)>,
                                                affine_map<(n, k) -> ()>, affine_map<(n, k) -> (n, k)>],
                               iterator_types = ["parallel", "parallel"]}
         ins(%yg, %ysg, %scale : tensor<24x64xf4E2M1FN>, tensor<24x4xf8E4M3FN>, tensor<f32>) outs(%values : tensor<24x64xbf16>) {
    ^bb0(%code: f4E2M1FN, %s: f8E4M3FN, %all: f32, %o: bf16):
      %0 = arith.extf %code : f4E2M1FN to f32
      %1 = arith.extf %s : f8E4M3FN to f32
      %2 = math.absf %1 : f32
      %3 = arith.mulf %0, %2 : f32
      %4 = arith.mulf %3, %all : f32
      %5 = arith.truncf %4 : f32 to bf16
      linalg.yield %5 : bf16
    } -> tensor<24x64xbf16>
    %e = tensor.empty(%size) : tensor<?x24xf32>
    %z = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> (m, n)>]
         ins(%xs, %decoded : tensor<?x64xbf16>, tensor<24x64xbf16>) outs(%z : tensor<?x24xf32>) -> tensor<?x24xf32>
    %next = tensor.insert_slice %p into %rows[%start, 0] [%size, 24] [1, 1] : tensor<?x24xf32> into tensor<10x24xf32>
    scf.yield %next, %end : tensor<10x24xf32>, index
  }
  return %d : tensor<10x24xf32>
}
