// RUN: blockscale-opt %s --blockscale-raise 2>&1 | FileCheck %s --implicit-check-not=remark: --implicit-check-not=linalg.generic

// Rows that name the matrices of y which they are multiplied by are sorted, multiplied, and put back.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.*]]: tensor<10x64xbf16>, %[[IDS:.*]]: tensor<10xi32>, %[[Y:.*]]: tensor<4x64x24xbf16>)
// CHECK-DAG:     %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<10x24xf32>
// CHECK-DAG:     %[[GROUPS:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[SLOTS:.*]] = tensor.expand_shape %[[IDS]] {{\[\[}}0, 1]] output_shape [10, 1]
// CHECK:         %[[ENDS:.*]], %[[ROWS:.*]], %[[POSITIONS:.*]] = blockscale.sort_routes %[[SLOTS]], %[[GROUPS]]
// CHECK:         %[[SORTED:.*]] = blockscale.grouped_matmul %[[X]], %[[Y]], %[[ENDS]], %[[ZEROS]] rows(%[[ROWS]] : tensor<10xi32>) {legal_groups}
// CHECK:         %[[ONE:.*]] = arith.constant 1.0
// CHECK:         %[[ONES:.*]] = tensor.splat %[[ONE]] : tensor<10x1xf32>
// CHECK:         %[[D:.*]] = blockscale.combine_rows %[[SORTED]], %[[POSITIONS]], %[[ONES]]
// CHECK-NEXT:    return %[[D]]
func.func @rows(%x: tensor<10x64xbf16>, %ids: tensor<10xi32>, %y: tensor<4x64x24xbf16>) -> tensor<10x24xf32> {
  %zeros = arith.constant dense<0.0> : tensor<10x24xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, n, k) -> (i, k)>, affine_map<(i, n, k) -> (i)>, affine_map<(i, n, k) -> (i, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %ids : tensor<10x64xbf16>, tensor<10xi32>) outs(%zeros : tensor<10x24xf32>) {
  ^bb0(%a: bf16, %id: i32, %c: f32):
    %g = arith.index_cast %id : i32 to index
    %n = linalg.index 1 : index
    %k = linalg.index 2 : index
    %b = tensor.extract %y[%g, %k, %n] : tensor<4x64x24xbf16>
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    %p = arith.mulf %af, %bf : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<10x24xf32>
  return %d : tensor<10x24xf32>
}

// Dynamic rows, another order of loops and operands, numbers of i64, and y as G x N x K, dequantized in front.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:.*]]: tensor<?x64xf16>, %[[IDS:.*]]: tensor<?xi64>, %[[CODES:.*]]: tensor<4x24x64xf4E2M1FN>, %[[SCALES:.*]]: tensor<4x24x2xf8E8M0FNU>)
// CHECK-DAG:     %[[Y:.*]] = blockscale.dequantize %[[CODES]], %[[SCALES]]
// CHECK-DAG:     %[[SLOTS:.*]] = tensor.expand_shape %[[IDS]] {{\[\[}}0, 1]] output_shape [%{{.*}}, 1] : tensor<?xi64> into tensor<?x1xi64>
// CHECK:         %[[ENDS:.*]], %[[ROWS:.*]], %[[POSITIONS:.*]] = blockscale.sort_routes %[[SLOTS]], %{{.*}}
// CHECK:         %[[YT:.*]] = linalg.transpose ins(%[[Y]] : tensor<4x24x64xf16>) {{.*}} permutation = [0, 2, 1]
// CHECK:         %[[SORTED:.*]] = blockscale.grouped_matmul %[[X]], %[[YT]], %[[ENDS]], %{{.*}} rows(%[[ROWS]] : tensor<?xi32>) {blockscale.path = #blockscale.path<dequant_mma>, legal_groups}
// CHECK:         %[[ONES:.*]] = tensor.splat %{{.*}}[%{{.*}}] : tensor<?x1xf32>
// CHECK:         %[[D:.*]] = blockscale.combine_rows %[[SORTED]], %[[POSITIONS]], %[[ONES]]
// CHECK-NEXT:    return %[[D]]
func.func @dynamic(%x: tensor<?x64xf16>, %ids: tensor<?xi64>, %codes: tensor<4x24x64xf4E2M1FN>, %scales: tensor<4x24x2xf8E8M0FNU>)
    -> tensor<?x24xf32> {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %y = blockscale.dequantize %codes, %scales : tensor<4x24x64xf4E2M1FN>, tensor<4x24x2xf8E8M0FNU> to tensor<4x24x64xf16>
  %t = tensor.dim %x, %c0 : tensor<?x64xf16>
  %e = tensor.empty(%t) : tensor<?x24xf32>
  %zeros = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(k, n, i) -> (i)>, affine_map<(k, n, i) -> (i, k)>, affine_map<(k, n, i) -> (i, n)>],
                       iterator_types = ["reduction", "parallel", "parallel"], blockscale.path = #blockscale.path<dequant_mma>}
       ins(%ids, %x : tensor<?xi64>, tensor<?x64xf16>) outs(%zeros : tensor<?x24xf32>) {
  ^bb0(%id: i64, %a: f16, %c: f32):
    %g = arith.index_castui %id : i64 to index
    %k = linalg.index 0 : index
    %n = linalg.index 1 : index
    %b = tensor.extract %y[%g, %n, %k] : tensor<4x24x64xf16>
    %bf = arith.extf %b : f16 to f32
    %af = arith.extf %a : f16 to f32
    %p = arith.mulf %bf, %af : f32
    %s = arith.addf %p, %c : f32
    linalg.yield %s : f32
  } -> tensor<?x24xf32>
  return %d : tensor<?x24xf32>
}

// Each token has slots, and one row of x for all of them.
// CHECK-LABEL: func.func @tokens(
// CHECK-SAME:    %[[X:.*]]: tensor<?x64xbf16>, %[[IDS:.*]]: tensor<?x2xi32>, %[[Y:.*]]: tensor<4x64x24xbf16>)
// CHECK:         %[[ENDS:.*]], %[[ROWS:.*]], %[[POSITIONS:.*]] = blockscale.sort_routes %[[IDS]], %{{.*}} : tensor<?x2xi32> to tensor<4xi32>, tensor<?xi32>, tensor<?x2xi32>
// CHECK:         %[[SORTED:.*]] = blockscale.grouped_matmul %[[X]], %[[Y]], %[[ENDS]], %{{.*}} rows(%[[ROWS]] : tensor<?xi32>)
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %[[POSITIONS]] {{\[\[}}0, 1]]
// CHECK:         %[[SLOTS:.*]] = tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1]]
// CHECK:         %[[ALL:.*]] = blockscale.combine_rows %[[SORTED]], %[[SLOTS]], %{{.*}} to tensor<?x24xf32>
// CHECK:         %[[D:.*]] = tensor.expand_shape %[[ALL]] {{\[\[}}0, 1], [2]] output_shape [%{{.*}}, 2, 24]
// CHECK-NEXT:    return %[[D]]
func.func @tokens(%x: tensor<?x64xbf16>, %ids: tensor<?x2xi32>, %y: tensor<4x64x24xbf16>) -> tensor<?x2x24xf32> {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%t) : tensor<?x2x24xf32>
  %zeros = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x2x24xf32>) -> tensor<?x2x24xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(s, j, n, k) -> (s, k)>, affine_map<(s, j, n, k) -> (s, j)>,
                                        affine_map<(s, j, n, k) -> (s, j, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %ids : tensor<?x64xbf16>, tensor<?x2xi32>) outs(%zeros : tensor<?x2x24xf32>) {
  ^bb0(%a: bf16, %id: i32, %c: f32):
    %g = arith.index_cast %id : i32 to index
    %n = linalg.index 2 : index
    %k = linalg.index 3 : index
    %b = tensor.extract %y[%g, %k, %n] : tensor<4x64x24xbf16>
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    %p = arith.mulf %af, %bf : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x2x24xf32>
  return %d : tensor<?x2x24xf32>
}

// Each slot has a row of x.
// CHECK-LABEL: func.func @slots(
// CHECK-SAME:    %[[X:.*]]: tensor<5x2x64xbf16>, %[[IDS:.*]]: tensor<5x2xi32>, %[[Y:.*]]: tensor<4x64x24xbf16>)
// CHECK-DAG:     %[[FLAT_IDS:.*]] = tensor.collapse_shape %[[IDS]] {{\[\[}}0, 1]] : tensor<5x2xi32> into tensor<10xi32>
// CHECK-DAG:     %[[SLOTS:.*]] = tensor.expand_shape %[[FLAT_IDS]] {{\[\[}}0, 1]] output_shape [10, 1]
// CHECK:         %[[ENDS:.*]], %[[ROWS:.*]], %[[POSITIONS:.*]] = blockscale.sort_routes %[[SLOTS]], %{{.*}} : tensor<10x1xi32>
// CHECK:         %[[FLAT_X:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] : tensor<5x2x64xbf16> into tensor<10x64xbf16>
// CHECK:         %[[SORTED:.*]] = blockscale.grouped_matmul %[[FLAT_X]], %[[Y]], %[[ENDS]], %{{.*}} rows(%[[ROWS]] : tensor<10xi32>)
// CHECK:         %[[ALL:.*]] = blockscale.combine_rows %[[SORTED]], %[[POSITIONS]], %{{.*}} to tensor<10x24xf32>
// CHECK:         %[[D:.*]] = tensor.expand_shape %[[ALL]] {{\[\[}}0, 1], [2]] output_shape [5, 2, 24]
// CHECK-NEXT:    return %[[D]]
func.func @slots(%x: tensor<5x2x64xbf16>, %ids: tensor<5x2xi32>, %y: tensor<4x64x24xbf16>) -> tensor<5x2x24xf32> {
  %zeros = arith.constant dense<0.0> : tensor<5x2x24xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(s, j, n, k) -> (s, j, k)>, affine_map<(s, j, n, k) -> (s, j)>,
                                        affine_map<(s, j, n, k) -> (s, j, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %ids : tensor<5x2x64xbf16>, tensor<5x2xi32>) outs(%zeros : tensor<5x2x24xf32>) {
  ^bb0(%a: bf16, %id: i32, %c: f32):
    %g = arith.index_cast %id : i32 to index
    %n = linalg.index 2 : index
    %k = linalg.index 3 : index
    %b = tensor.extract %y[%g, %k, %n] : tensor<4x64x24xbf16>
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    %p = arith.mulf %af, %bf : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<5x2x24xf32>
  return %d : tensor<5x2x24xf32>
}

// Block-scaled operands: y, as G x N x K, and its scales are read at the number of the row. The index of a block is a
// division.
// CHECK-LABEL: func.func @scaled(
// CHECK-SAME:    %[[X:.*]]: tensor<10x64xf8E4M3FN>, %[[XS:.*]]: tensor<10x2xf8E8M0FNU>, %[[IDS:.*]]: tensor<10xi32>, %[[Y:.*]]: tensor<4x24x64xf4E2M1FN>, %[[YS:.*]]: tensor<4x2x24xf8E8M0FNU>)
// CHECK:         %[[ENDS:.*]], %[[ROWS:.*]], %[[POSITIONS:.*]] = blockscale.sort_routes
// CHECK:         %[[YT:.*]] = linalg.transpose ins(%[[Y]] : tensor<4x24x64xf4E2M1FN>) {{.*}} permutation = [0, 2, 1]
// CHECK:         %[[SORTED:.*]] = blockscale.grouped_mma_scaled %[[X]], %[[XS]], %[[YT]], %[[YS]], %[[ENDS]], %{{.*}} rows(%[[ROWS]] : tensor<10xi32>) {block_size = 32 : i64, legal_groups}
// CHECK:         %[[D:.*]] = blockscale.combine_rows %[[SORTED]], %[[POSITIONS]], %{{.*}}
// CHECK-NEXT:    return %[[D]]
func.func @scaled(%x: tensor<10x64xf8E4M3FN>, %xs: tensor<10x2xf8E8M0FNU>, %ids: tensor<10xi32>, %y: tensor<4x24x64xf4E2M1FN>,
                  %ys: tensor<4x2x24xf8E8M0FNU>) -> tensor<10x24xf32> {
  %zeros = arith.constant dense<0.0> : tensor<10x24xf32>
  %c32 = arith.constant 32 : index
  %d = linalg.generic {indexing_maps = [affine_map<(i, n, k) -> (i, k)>, affine_map<(i, n, k) -> (i, k floordiv 32)>,
                                        affine_map<(i, n, k) -> (i)>, affine_map<(i, n, k) -> (i, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %xs, %ids : tensor<10x64xf8E4M3FN>, tensor<10x2xf8E8M0FNU>, tensor<10xi32>) outs(%zeros : tensor<10x24xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %id: i32, %c: f32):
    %g = arith.index_cast %id : i32 to index
    %n = linalg.index 1 : index
    %k = linalg.index 2 : index
    %block = arith.divui %k, %c32 : index
    %b = tensor.extract %y[%g, %n, %k] : tensor<4x24x64xf4E2M1FN>
    %sb = tensor.extract %ys[%g, %block, %n] : tensor<4x2x24xf8E8M0FNU>
    %af = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %bf = arith.scaling_extf %b, %sb : f4E2M1FN, f8E8M0FNU to f32
    %p = arith.mulf %af, %bf : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<10x24xf32>
  return %d : tensor<10x24xf32>
}

// Blocks and elements of a block as two loops, dynamic rows, and a scale for the whole tensor, which multiplies behind.
// CHECK-LABEL: func.func @tensor_scale(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4x16xf4E2M1FN>, %[[XS:.*]]: tensor<?x4xf8E4M3FN>, %[[IDS:.*]]: tensor<?xi32>, %[[Y:.*]]: tensor<4x64x24xf4E2M1FN>, %[[YS:.*]]: tensor<4x4x24xf8E4M3FN>, %[[ALL:.*]]: f32)
// CHECK:         %[[FLAT_X:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2]]
// CHECK:         %[[SORTED:.*]] = blockscale.grouped_mma_scaled %[[FLAT_X]], %[[XS]], %[[Y]], %[[YS]], %{{.*}} rows(%{{.*}} : tensor<?xi32>) {block_size = 16 : i64, legal_groups}
// CHECK:         %[[PUT_BACK:.*]] = blockscale.combine_rows %[[SORTED]],
// CHECK:         %[[D:.*]] = linalg.generic {{.*}} ins(%[[PUT_BACK]], %{{.*}} :
// CHECK:           arith.mulf %{{.*}}, %[[ALL]]
// CHECK:         return %[[D]]
func.func @tensor_scale(%x: tensor<?x4x16xf4E2M1FN>, %xs: tensor<?x4xf8E4M3FN>, %ids: tensor<?xi32>, %y: tensor<4x64x24xf4E2M1FN>,
                        %ys: tensor<4x4x24xf8E4M3FN>, %all: f32) -> tensor<?x24xf32> {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %t = tensor.dim %xs, %c0 : tensor<?x4xf8E4M3FN>
  %e = tensor.empty(%t) : tensor<?x24xf32>
  %zeros = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, n, b, k) -> (i, b, k)>, affine_map<(i, n, b, k) -> (i, b)>,
                                        affine_map<(i, n, b, k) -> (i)>, affine_map<(i, n, b, k) -> (i, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
       ins(%x, %xs, %ids : tensor<?x4x16xf4E2M1FN>, tensor<?x4xf8E4M3FN>, tensor<?xi32>) outs(%zeros : tensor<?x24xf32>) {
  ^bb0(%a: f4E2M1FN, %sa: f8E4M3FN, %id: i32, %c: f32):
    %g = arith.index_cast %id : i32 to index
    %n = linalg.index 1 : index
    %block = linalg.index 2 : index
    %in_block = linalg.index 3 : index
    %k = affine.apply affine_map<(b, k) -> (b * 16 + k)>(%block, %in_block)
    %b = tensor.extract %y[%g, %k, %n] : tensor<4x64x24xf4E2M1FN>
    %sb = tensor.extract %ys[%g, %block, %n] : tensor<4x4x24xf8E4M3FN>
    %0 = arith.extf %a : f4E2M1FN to f32
    %1 = arith.extf %sa : f8E4M3FN to f32
    %2 = math.absf %1 : f32
    %3 = arith.mulf %0, %2 : f32
    %4 = arith.extf %b : f4E2M1FN to f32
    %5 = arith.extf %sb : f8E4M3FN to f32
    %6 = math.absf %5 : f32
    %7 = arith.mulf %4, %6 : f32
    %8 = arith.mulf %7, %all : f32
    %p = arith.mulf %3, %8 : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x24xf32>
  return %d : tensor<?x24xf32>
}
