// Products with coarse scales: of f32, for longer blocks, for rows, and for whole tensors. Test for the values: test_raise_coarse.py.

// RUN: blockscale-opt %s --blockscale-raise 2>&1 | FileCheck %s --implicit-check-not=remark: --implicit-check-not=reduction
// RUN: blockscale-opt %s --blockscale-raise | blockscale-opt -o %t

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#k64 = {
  indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 64)>,
                   #kn, affine_map<(m, n, k) -> (k floordiv 64, n)>, #mn],
  iterator_types = ["parallel", "parallel", "reduction"]}

//===--- Scales of f32 -----------------------------------------------------------------------------------------------===//

// 1 x 128 by 128 x 128, as checkpoints have it: y is N x K, M is dynamic, and the last blocks are partial.
// CHECK-LABEL: func.func @block128(
// CHECK-SAME:    %[[X:.*]]: tensor<?x320xf8E4M3FN>, %[[SX:.*]]: tensor<?x3xf32>, %[[Y:.*]]: tensor<192x320xf8E4M3FN>, %[[SY:.*]]: tensor<2x3xf32>, %[[ACC:.*]]: tensor<?x192xf32>)
// CHECK-DAG:     %[[YT:.*]] = linalg.transpose ins(%[[Y]]
// CHECK-DAG:     %[[SYT:.*]] = linalg.transpose ins(%[[SY]]
// CHECK:         %[[D:.*]] = blockscale.mma_scaled %[[X]], %[[SX]], %[[YT]], %[[SYT]], %[[ACC]] {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>, y_scale_block = #blockscale.scale_block<rows = 128, k = 128>}
// CHECK-NEXT:    return %[[D]]
func.func @block128(%x: tensor<?x320xf8E4M3FN>, %sx: tensor<?x3xf32>, %y: tensor<192x320xf8E4M3FN>, %sy: tensor<2x3xf32>, %acc: tensor<?x192xf32>) -> tensor<?x192xf32> {
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 128)>, #nk, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<?x320xf8E4M3FN>, tensor<?x3xf32>, tensor<192x320xf8E4M3FN>, tensor<2x3xf32>) outs(%acc : tensor<?x192xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x192xf32>
  return %d : tensor<?x192xf32>
}

// A row of x, and a column of y, has a scale: with and without a dimension of size 1.
// CHECK-LABEL: func.func @rows(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = all>, y_scale_block = #blockscale.scale_block<rows = 1, k = all>} : tensor<?x96xf8E4M3FN>, tensor<?x1xf32>, tensor<96x5xf8E5M2>, tensor<1x5xf32>
func.func @rows(%x: tensor<?x96xf8E4M3FN>, %sx: tensor<?x1xf32>, %y: tensor<96x5xf8E5M2>, %sy: tensor<5xf32>, %acc: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, 0)>, #kn, affine_map<(m, n, k) -> (n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<?x96xf8E4M3FN>, tensor<?x1xf32>, tensor<96x5xf8E5M2>, tensor<5xf32>) outs(%acc : tensor<?x5xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E5M2, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E5M2 to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x5xf32>
  return %d : tensor<?x5xf32>
}

// All rows share a scale of x for each 64 elements; 128 columns one of all K.
// CHECK-LABEL: func.func @all_rows(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = all, k = 64>, y_scale_block = #blockscale.scale_block<rows = 128, k = all>} : tensor<3x192xf8E4M3FN>, tensor<1x3xf32>, tensor<192x130xf8E4M3FN>, tensor<1x2xf32>
func.func @all_rows(%x: tensor<3x192xf8E4M3FN>, %sx: tensor<3xf32>, %y: tensor<192x130xf8E4M3FN>, %sy: tensor<2xf32>, %acc: tensor<3x130xf32>) -> tensor<3x130xf32> {
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (k floordiv 64)>, #kn, affine_map<(m, n, k) -> (n floordiv 128)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<3x192xf8E4M3FN>, tensor<3xf32>, tensor<192x130xf8E4M3FN>, tensor<2xf32>) outs(%acc : tensor<3x130xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<3x130xf32>
  return %d : tensor<3x130xf32>
}

// The weights are repeated blocks: expanded, multiplied, collapsed and transposed. x has a scale for the tensor: an element of several.
// CHECK-LABEL: func.func @expanded(
// CHECK-SAME:    %[[X:.*]]: tensor<3x256xf8E4M3FN>, %[[SX:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<384x256xf8E4M3FN>, %[[SY:.*]]: tensor<3x2xf32>
// CHECK-DAG:     %[[ONE:.*]] = tensor.extract_slice %[[SX]][2] [1] [1] : tensor<4xf32> to tensor<f32>
// CHECK-DAG:     %[[XS:.*]] = tensor.expand_shape %[[ONE]] [] output_shape [1, 1]
// CHECK-DAG:     %[[YT:.*]] = linalg.transpose ins(%[[Y]]
// CHECK-DAG:     %[[SYT:.*]] = linalg.transpose ins(%[[SY]]
// CHECK:         blockscale.mma_scaled %[[X]], %[[XS]], %[[YT]], %[[SYT]], %{{.*}} {x_scale_block = #blockscale.scale_block<rows = all, k = all>, y_scale_block = #blockscale.scale_block<rows = 128, k = 128>}
func.func @expanded(%x: tensor<3x256xf8E4M3FN>, %sx: tensor<4xf32>, %y: tensor<384x256xf8E4M3FN>, %sy: tensor<3x2xf32>, %acc: tensor<3x384xf32>) -> tensor<3x384xf32> {
  %c2 = arith.constant 2 : index
  %s = tensor.extract %sx[%c2] : tensor<4xf32>
  %xw = arith.extf %x : tensor<3x256xf8E4M3FN> to tensor<3x256xf32>
  %ss = tensor.splat %s : tensor<3x256xf32>
  %a = arith.mulf %xw, %ss : tensor<3x256xf32>
  %e = tensor.expand_shape %y [[0, 1], [2, 3]] output_shape [3, 128, 2, 128] : tensor<384x256xf8E4M3FN> into tensor<3x128x2x128xf8E4M3FN>
  %ew = arith.extf %e : tensor<3x128x2x128xf8E4M3FN> to tensor<3x128x2x128xf32>
  %unit = tensor.expand_shape %sy [[0, 1], [2, 3]] output_shape [3, 1, 2, 1] : tensor<3x2xf32> into tensor<3x1x2x1xf32>
  %new = tensor.empty() : tensor<3x128x2x128xf32>
  %scaled = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, 0, c, 0)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%ew, %unit : tensor<3x128x2x128xf32>, tensor<3x1x2x1xf32>) outs(%new : tensor<3x128x2x128xf32>) {
  ^bb0(%v: f32, %f: f32, %o: f32):
    %p = arith.mulf %v, %f : f32
    linalg.yield %p : f32
  } -> tensor<3x128x2x128xf32>
  %b = tensor.collapse_shape %scaled [[0, 1], [2, 3]] : tensor<3x128x2x128xf32> into tensor<384x256xf32>
  %to = tensor.empty() : tensor<256x384xf32>
  %bt = linalg.transpose ins(%b : tensor<384x256xf32>) outs(%to : tensor<256x384xf32>) permutation = [1, 0]
  %d = linalg.matmul ins(%a, %bt : tensor<3x256xf32>, tensor<256x384xf32>) outs(%acc : tensor<3x384xf32>) -> tensor<3x384xf32>
  return %d : tensor<3x384xf32>
}

// Scales that are repeated, and cut to the size of the last block.
// CHECK-LABEL: func.func @cut(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = all, k = all>, y_scale_block = #blockscale.scale_block<rows = 128, k = all>} : {{.*}}, tensor<96x130xf8E4M3FN>, tensor<1x2xf32>
func.func @cut(%x: tensor<3x96xf8E4M3FN>, %y: tensor<96x130xf8E4M3FN>, %sy: tensor<2xf32>, %acc: tensor<3x130xf32>) -> tensor<3x130xf32> {
  %e = tensor.empty() : tensor<96x2x128xf32>
  %blocks = linalg.broadcast ins(%sy : tensor<2xf32>) outs(%e : tensor<96x2x128xf32>) dimensions = [0, 2]
  %all = tensor.collapse_shape %blocks [[0], [1, 2]] : tensor<96x2x128xf32> into tensor<96x256xf32>
  %sb = tensor.extract_slice %all[0, 0] [96, 130] [1, 1] : tensor<96x256xf32> to tensor<96x130xf32>
  %a = arith.extf %x : tensor<3x96xf8E4M3FN> to tensor<3x96xf32>
  %yw = arith.extf %y : tensor<96x130xf8E4M3FN> to tensor<96x130xf32>
  %b = arith.mulf %yw, %sb : tensor<96x130xf32>
  %d = linalg.matmul ins(%a, %b : tensor<3x96xf32>, tensor<96x130xf32>) outs(%acc : tensor<3x130xf32>) -> tensor<3x130xf32>
  return %d : tensor<3x130xf32>
}

// Elements of which a part is read are cut in front.
// CHECK-LABEL: func.func @cut_elements(
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[0, 0] [130, 96]
// CHECK: %[[Y:.*]] = linalg.transpose ins(%[[PART]]
// CHECK: blockscale.mma_scaled %{{.*}}, %{{.*}}, %[[Y]], %{{.*}}, %{{.*}} {x_scale_block = #blockscale.scale_block<rows = all, k = all>, y_scale_block = #blockscale.scale_block<rows = 128, k = all>}
func.func @cut_elements(%x: tensor<3x96xf8E4M3FN>, %y: tensor<2x128x96xf8E4M3FN>, %sy: tensor<2xf32>, %acc: tensor<3x130xf32>) -> tensor<3x130xf32> {
  %flat = tensor.collapse_shape %y [[0, 1], [2]] : tensor<2x128x96xf8E4M3FN> into tensor<256x96xf8E4M3FN>
  %part = tensor.extract_slice %flat[0, 0] [130, 96] [1, 1] : tensor<256x96xf8E4M3FN> to tensor<130x96xf8E4M3FN>
  %d = linalg.generic {indexing_maps = [#mk, #nk, affine_map<(m, n, k) -> (n floordiv 128)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %part, %sy : tensor<3x96xf8E4M3FN>, tensor<130x96xf8E4M3FN>, tensor<2xf32>) outs(%acc : tensor<3x130xf32>) {
  ^bb0(%a: f8E4M3FN, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %bw, %sb : f32
    %p = arith.mulf %aw, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<3x130xf32>
  return %d : tensor<3x130xf32>
}

// Weights that are stored in blocks, N / 128 x 128 x K / 128 x 128, and K in two loops.
// CHECK-LABEL: func.func @stored_blocks(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>, y_scale_block = #blockscale.scale_block<rows = 128, k = 128>} : tensor<3x256xf8E4M3FN>, tensor<3x2xf32>, tensor<256x384xf8E4M3FN>, tensor<2x3xf32>
func.func @stored_blocks(%x: tensor<3x2x128xf8E4M3FN>, %sx: tensor<3x2xf32>, %y: tensor<3x128x2x128xf8E4M3FN>, %sy: tensor<3x2xf32>, %acc: tensor<3x384xf32>) -> tensor<3x384xf32> {
  %yn = tensor.collapse_shape %y [[0, 1], [2], [3]] : tensor<3x128x2x128xf8E4M3FN> into tensor<384x2x128xf8E4M3FN>
  %d = linalg.generic {indexing_maps = [affine_map<(m, n, s, i) -> (m, s, i)>, affine_map<(m, n, s, i) -> (m, s)>, affine_map<(m, n, s, i) -> (n, s, i)>,
                                        affine_map<(m, n, s, i) -> (n floordiv 128, s)>, affine_map<(m, n, s, i) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
       ins(%x, %sx, %yn, %sy : tensor<3x2x128xf8E4M3FN>, tensor<3x2xf32>, tensor<384x2x128xf8E4M3FN>, tensor<3x2xf32>) outs(%acc : tensor<3x384xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<3x384xf32>
  return %d : tensor<3x384xf32>
}

// A constant for x, and a number of f32 for y.
// CHECK-LABEL: func.func @numbers(
// CHECK: blockscale.mma_scaled %{{.*}}, %cst, %{{.*}}, %splat, %{{.*}} {x_scale_block = #blockscale.scale_block<rows = all, k = all>, y_scale_block = #blockscale.scale_block<rows = all, k = all>}
func.func @numbers(%x: tensor<3x96xf8E4M3FN>, %y: tensor<96x5xf8E5M2>, %sy: f32, %acc: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %half = arith.constant dense<0.5> : tensor<3x96xf32>
  %xw = arith.extf %x : tensor<3x96xf8E4M3FN> to tensor<3x96xf32>
  %a = arith.mulf %half, %xw : tensor<3x96xf32>
  %yw = arith.extf %y : tensor<96x5xf8E5M2> to tensor<96x5xf32>
  %ss = tensor.splat %sy : tensor<96x5xf32>
  %b = arith.mulf %ss, %yw : tensor<96x5xf32>
  %d = linalg.matmul ins(%a, %b : tensor<3x96xf32>, tensor<96x5xf32>) outs(%acc : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %d : tensor<3x5xf32>
}

// The program computes the scales: they are read where it stores them. The batch is dynamic.
// CHECK-LABEL: func.func @computed(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x3x256xf8E4M3FN>, %[[LARGEST:[^:]*]]: tensor<?x3xf32>
// CHECK:         %[[SX:[^ ]*]] = arith.divf %[[LARGEST]]
// CHECK:         %[[SX3:[^ ]*]] = tensor.expand_shape %[[SX]] {{.*}} : tensor<?x3xf32> into tensor<?x3x1xf32>
// CHECK:         blockscale.mma_scaled %[[X]], %[[SX3]], %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = all>, y_scale_block = #blockscale.scale_block<rows = 1, k = 128>}
func.func @computed(%x: tensor<?x3x256xf8E4M3FN>, %largest: tensor<?x3xf32>, %448: tensor<?x3xf32>, %y: tensor<256x5xf8E4M3FN>, %sy: tensor<2x5xf32>, %acc: tensor<?x3x5xf32>) -> tensor<?x3x5xf32> {
  %sx = arith.divf %largest, %448 : tensor<?x3xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, m)>, affine_map<(b, m, n, k) -> (k, n)>,
                                        affine_map<(b, m, n, k) -> (k floordiv 128, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<?x3x256xf8E4M3FN>, tensor<?x3xf32>, tensor<256x5xf8E4M3FN>, tensor<2x5xf32>) outs(%acc : tensor<?x3x5xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E4M3FN, %sb: f32, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bw = arith.extf %b : f8E4M3FN to f32
    %bs = arith.mulf %sb, %bw : f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x3x5xf32>
  return %d : tensor<?x3x5xf32>
}

// y has no scale.
// CHECK-LABEL: func.func @f32_scale(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = 32>, y_scale_block = #blockscale.scale_block<rows = all, k = all>} : {{.*}}, tensor<16x2xf32>, {{.*}}, tensor<1x1xf32>
func.func @f32_scale(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf32>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf32>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f8E5M2, %c: f32):
    %xw = arith.extf %a : f8E4M3FN to f32
    %yw = arith.extf %b : f8E5M2 to f32
    %p = arith.mulf %xw, %yw : f32
    %q = arith.mulf %p, %sa : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

//===--- Scales of 8 bits --------------------------------------------------------------------------------------------===//

// The one block of 64 is all of K.
// CHECK-LABEL: func.func @block_64(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = all>, y_scale_block = #blockscale.scale_block<rows = 1, k = all>} : {{.*}}, tensor<16x1xf8E8M0FNU>, {{.*}}, tensor<1x8xf8E8M0FNU>
func.func @block_64(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %sy: tensor<1x8xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.generic #k64
       ins(%x, %sx, %y, %sy : tensor<16x64xf8E4M3FN>, tensor<16x1xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<1x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %sb: f8E8M0FNU, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %sbw = arith.extf %sb : f8E8M0FNU to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @split_64(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = 64>, y_scale_block = #blockscale.scale_block<rows = all, k = all>} : tensor<16x128xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<1x1xf32>
func.func @split_64(%x: tensor<16x2x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<2x64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, s, i) -> (m, s, i)>,
                          affine_map<(m, n, s, i) -> (m, s)>,
                          affine_map<(m, n, s, i) -> (s, i, n)>,
                          affine_map<(m, n, s, i) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
       ins(%x, %sx, %y : tensor<16x2x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<2x64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %r = arith.addf %c, %p2 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @block_of_row(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = all>, y_scale_block = #blockscale.scale_block<rows = all, k = all>}
func.func @block_of_row(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %r = arith.addf %c, %p2 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// All rows share the scales.
// CHECK-LABEL: func.func @along_neither(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = all, k = 32>, y_scale_block = #blockscale.scale_block<rows = all, k = all>} : {{.*}}, tensor<1x2xf8E8M0FNU>
func.func @along_neither(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<2xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f8E5M2 to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %r = arith.addf %c, %p2 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Each operand has a block of its own.
// CHECK-LABEL: func.func @block_of_two_sizes(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = 16>, y_scale_block = #blockscale.scale_block<rows = 1, k = 32>}
func.func @block_of_two_sizes(%x: tensor<16x64xf4E2M1FN>, %sx: tensor<16x4xf8E8M0FNU>, %y: tensor<64x8xf4E2M1FN>, %sy: tensor<2x8xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 16)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (k floordiv 32, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E8M0FNU>, tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f4E2M1FN, %sa: f8E8M0FNU, %b: f4E2M1FN, %sb: f8E8M0FNU, %c: f32):
    %aw = arith.extf %a : f4E2M1FN to f32
    %saw = arith.extf %sa : f8E8M0FNU to f32
    %bw = arith.extf %b : f4E2M1FN to f32
    %sbw = arith.extf %sb : f8E8M0FNU to f32
    %p1 = arith.mulf %aw, %saw : f32
    %p2 = arith.mulf %p1, %bw : f32
    %p3 = arith.mulf %p2, %sbw : f32
    %r = arith.addf %c, %p3 : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @two_block_sizes(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = 16>, y_scale_block = #blockscale.scale_block<rows = 1, k = 32>}
func.func @two_block_sizes(%x: tensor<16x64xf4E2M1FN>, %sx: tensor<16x4xf8E8M0FNU>, %y: tensor<8x64xf4E2M1FN>, %sy: tensor<8x2xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %a = blockscale.dequantize %x, %sx : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E8M0FNU> to tensor<16x64xf32>
  %b = blockscale.dequantize %y, %sy : tensor<8x64xf4E2M1FN>, tensor<8x2xf8E8M0FNU> to tensor<8x64xf32>
  %d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<16x64xf32>, tensor<8x64xf32>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Constants are scales of the whole tensor for any K.
// CHECK-LABEL: func.func @dynamic_splat(
// CHECK: blockscale.mma_scaled %{{.*}}, %cst, %{{.*}}, %cst_0, %{{.*}} {x_scale_block = #blockscale.scale_block<rows = all, k = all>, y_scale_block = #blockscale.scale_block<rows = all, k = all>}
func.func @dynamic_splat(%x: tensor<16x?xf8E4M3FN>, %y: tensor<?x8xf8E5M2>,
                         %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %s = arith.constant 2.0 : f8E8M0FNU
  %d = linalg.generic {
         indexing_maps = [#mk, #kn, #mn],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %y : tensor<16x?xf8E4M3FN>, tensor<?x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %b: f8E5M2, %c: f32):
    %xw = arith.scaling_extf %a, %s : f8E4M3FN, f8E8M0FNU to f32
    %yw = arith.scaling_extf %b, %s : f8E5M2, f8E8M0FNU to f32
    %q = arith.mulf %xw, %yw : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// The scale of the whole tensor is that of y, which has no other.
// CHECK-LABEL: func.func @tensor_scale_e8m0(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = 32>, y_scale_block = #blockscale.scale_block<rows = all, k = all>} : {{.*}}, tensor<1x1xf32>
func.func @tensor_scale_e8m0(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %g: f32, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E5M2, %c: f32):
    %xw = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %yw = arith.extf %b : f8E5M2 to f32
    %p = arith.mulf %xw, %yw : f32
    %q = arith.mulf %p, %g : f32
    %r = arith.addf %c, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// MXFP4 weights beside activations with a scale for each row.
// CHECK-LABEL: func.func @mxfp4_weights(
// CHECK: blockscale.mma_scaled %{{.*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>, y_scale_block = #blockscale.scale_block<rows = 1, k = 32>} : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<256x5xf4E2M1FN>, tensor<8x5xf8E8M0FNU>
func.func @mxfp4_weights(%x: tensor<?x256xf8E4M3FN>, %sx: tensor<?x2xf32>, %y: tensor<5x256xf4E2M1FN>, %sy: tensor<5x8xf8E8M0FNU>, %acc: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %d = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (m, k floordiv 128)>, #nk, affine_map<(m, n, k) -> (n, k floordiv 32)>, #mn],
                       iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<5x256xf4E2M1FN>, tensor<5x8xf8E8M0FNU>) outs(%acc : tensor<?x5xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f32, %b: f4E2M1FN, %sb: f8E8M0FNU, %c: f32):
    %aw = arith.extf %a : f8E4M3FN to f32
    %as = arith.mulf %aw, %sa : f32
    %bs = arith.scaling_extf %b, %sb : f4E2M1FN, f8E8M0FNU to f32
    %p = arith.mulf %as, %bs : f32
    %r = arith.addf %c, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x5xf32>
  return %d : tensor<?x5xf32>
}
