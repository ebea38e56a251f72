// Each form of a block-scaled product that is recognised. The results are
// executed in test/Execution/cpu/test_raise.py.

// RUN: blockscale-opt %s --blockscale-raise -split-input-file -verify-diagnostics | FileCheck %s
// RUN: blockscale-opt %s --blockscale-raise -split-input-file | blockscale-opt --blockscale-raise -split-input-file | FileCheck %s

// The example of the pass' description: dequantized in the body, blocks by floordiv.

// CHECK-LABEL: func @product(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<16x64xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<64x8xf4E2M1FN>, %[[Y_SCALE:[a-z0-9]+]]: tensor<2x8xf8E8M0FNU>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<16x8xf32>)
// CHECK-NEXT:    %[[D:.*]] = blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]], %[[ACC]] : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
// CHECK-NEXT:    return %[[D]]
func.func @product(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>,
                   %y: tensor<64x8xf4E2M1FN>, %sy: tensor<2x8xf8E8M0FNU>,
                   %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 32)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (k floordiv 32, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy
           : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
             tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f4E2M1FN, %sb: f8E8M0FNU, %c: f32):
    %0 = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %b, %sb : f4E2M1FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// Two loops along K, blocks as dimensions of the arguments, y and its scales
// stored by rows of N: reshapes and transposes of elements are inserted.

// CHECK-LABEL: func @blocks(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<16x2x32xf4E2M1FN>, %[[Y:[a-z0-9]+]]: tensor<8x2x32xf4E2M1FN>,
// CHECK-SAME:    %[[X_SCALE:[a-z0-9]+]]: tensor<16x2xf8E8M0FNU>, %[[Y_SCALE:[a-z0-9]+]]: tensor<8x2xf8E8M0FNU>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<16x8xf32>)
// CHECK-DAG:     %[[X_MK:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2]]
// CHECK-DAG:     %[[Y_NK:.*]] = tensor.collapse_shape %[[Y]] {{\[\[}}0], [1, 2]]
// CHECK-DAG:     %[[Y_KN:.*]] = linalg.transpose ins(%[[Y_NK]] : tensor<8x64xf4E2M1FN>) {{.*}} permutation = [1, 0]
// CHECK-DAG:     %[[Y_SCALE_KN:.*]] = linalg.transpose ins(%[[Y_SCALE]] : tensor<8x2xf8E8M0FNU>) {{.*}} permutation = [1, 0]
// CHECK:         blockscale.mma_scaled %[[X_MK]], %[[X_SCALE]], %[[Y_KN]], %[[Y_SCALE_KN]], %[[ACC]]
func.func @blocks(%x: tensor<16x2x32xf4E2M1FN>, %y: tensor<8x2x32xf4E2M1FN>,
                  %sx: tensor<16x2xf8E8M0FNU>, %sy: tensor<8x2xf8E8M0FNU>,
                  %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, s, i) -> (m, s, i)>,
                          affine_map<(m, n, s, i) -> (n, s, i)>,
                          affine_map<(m, n, s, i) -> (m, s)>,
                          affine_map<(m, n, s, i) -> (n, s)>,
                          affine_map<(m, n, s, i) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
       ins(%x, %y, %sx, %sy
           : tensor<16x2x32xf4E2M1FN>, tensor<8x2x32xf4E2M1FN>,
             tensor<16x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f4E2M1FN, %b: f4E2M1FN, %sa: f8E8M0FNU, %sb: f8E8M0FNU, %c: f32):
    %0 = arith.scaling_extf %a, %sa : f4E2M1FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %b, %sb : f4E2M1FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %2, %c : f32
    linalg.yield %3 : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// Whole tensors, dequantized before a linalg.matmul. The scales of x are broadcast
// and collapsed, those of y are spread by a linalg.generic and multiplied.

// CHECK-LABEL: func @matmul(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<16x64xf8E5M2>, %[[X_SCALE:[a-z0-9]+]]: tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<64x8xf6E2M3FN>, %[[Y_SCALE:[a-z0-9]+]]: tensor<2x8xf8E8M0FNU>)
// CHECK:         %[[INIT:.*]] = linalg.fill
// CHECK-NEXT:    %[[D:.*]] = blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]], %[[INIT]]
// CHECK-NEXT:    return %[[D]]
func.func @matmul(%x: tensor<16x64xf8E5M2>, %sx: tensor<16x2xf8E8M0FNU>,
                  %y: tensor<64x8xf6E2M3FN>, %sy: tensor<2x8xf8E8M0FNU>)
    -> tensor<16x8xf32> {
  %e0 = tensor.empty() : tensor<16x2x32xf8E8M0FNU>
  %b = linalg.broadcast ins(%sx : tensor<16x2xf8E8M0FNU>)
       outs(%e0 : tensor<16x2x32xf8E8M0FNU>) dimensions = [2]
  %bx = tensor.collapse_shape %b [[0], [1, 2]]
        : tensor<16x2x32xf8E8M0FNU> into tensor<16x64xf8E8M0FNU>
  %fx = arith.scaling_extf %x, %bx
        : tensor<16x64xf8E5M2>, tensor<16x64xf8E8M0FNU> to tensor<16x64xf32>
  %e1 = tensor.empty() : tensor<64x8xf8E8M0FNU>
  %by = linalg.generic {
          indexing_maps = [affine_map<(k, n) -> (k floordiv 32, n)>,
                           affine_map<(k, n) -> (k, n)>],
          iterator_types = ["parallel", "parallel"]}
        ins(%sy : tensor<2x8xf8E8M0FNU>) outs(%e1 : tensor<64x8xf8E8M0FNU>) {
  ^bb0(%s: f8E8M0FNU, %out: f8E8M0FNU):
    linalg.yield %s : f8E8M0FNU
  } -> tensor<64x8xf8E8M0FNU>
  %ys = arith.extf %by : tensor<64x8xf8E8M0FNU> to tensor<64x8xf32>
  %ye = arith.extf %y : tensor<64x8xf6E2M3FN> to tensor<64x8xf32>
  %fy = arith.mulf %ys, %ye : tensor<64x8xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x8xf32>)
          -> tensor<16x8xf32>
  %d = linalg.matmul ins(%fx, %fy : tensor<16x64xf32>, tensor<64x8xf32>)
       outs(%init : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// Elements expanded to blocks, dequantized there and collapsed again; the right
// operand of the contraction has the rows of acc, so it is x.

// CHECK-LABEL: func @expanded(
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<8x64xf4E2M1FN>, %[[Y_SCALE:[a-z0-9]+]]: tensor<8x4xf8E8M0FNU>,
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<64x16xf4E2M1FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<4x16xf8E8M0FNU>,
// CHECK-DAG:     %[[X_MK:.*]] = linalg.transpose ins(%[[X]] : tensor<64x16xf4E2M1FN>)
// CHECK-DAG:     %[[X_SCALE_MK:.*]] = linalg.transpose ins(%[[X_SCALE]] : tensor<4x16xf8E8M0FNU>)
// CHECK-DAG:     %[[Y_KN:.*]] = linalg.transpose ins(%[[Y]] : tensor<8x64xf4E2M1FN>)
// CHECK-DAG:     %[[Y_SCALE_KN:.*]] = linalg.transpose ins(%[[Y_SCALE]] : tensor<8x4xf8E8M0FNU>)
// CHECK:         blockscale.mma_scaled %[[X_MK]], %[[X_SCALE_MK]], %[[Y_KN]], %[[Y_SCALE_KN]]
func.func @expanded(%y: tensor<8x64xf4E2M1FN>, %sy: tensor<8x4xf8E8M0FNU>,
                    %x: tensor<64x16xf4E2M1FN>, %sx: tensor<4x16xf8E8M0FNU>,
                    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %y3 = tensor.expand_shape %y [[0], [1, 2]] output_shape [8, 4, 16]
        : tensor<8x64xf4E2M1FN> into tensor<8x4x16xf4E2M1FN>
  %e0 = tensor.empty() : tensor<8x4x16xf8E8M0FNU>
  %by = linalg.broadcast ins(%sy : tensor<8x4xf8E8M0FNU>)
        outs(%e0 : tensor<8x4x16xf8E8M0FNU>) dimensions = [2]
  %fy3 = arith.scaling_extf %y3, %by
         : tensor<8x4x16xf4E2M1FN>, tensor<8x4x16xf8E8M0FNU>
           to tensor<8x4x16xf32>
  %fy = tensor.collapse_shape %fy3 [[0], [1, 2]]
        : tensor<8x4x16xf32> into tensor<8x64xf32>
  %e1 = tensor.empty() : tensor<4x16x16xf8E8M0FNU>
  %bx = linalg.broadcast ins(%sx : tensor<4x16xf8E8M0FNU>)
        outs(%e1 : tensor<4x16x16xf8E8M0FNU>) dimensions = [1]
  %cx = tensor.collapse_shape %bx [[0, 1], [2]]
        : tensor<4x16x16xf8E8M0FNU> into tensor<64x16xf8E8M0FNU>
  %fx = arith.scaling_extf %x, %cx
        : tensor<64x16xf4E2M1FN>, tensor<64x16xf8E8M0FNU> to tensor<64x16xf32>
  %d = linalg.contract
         indexing_maps = [affine_map<(m, n, k) -> (n, k)>,
                          affine_map<(m, n, k) -> (k, m)>,
                          affine_map<(m, n, k) -> (m, n)>]
       ins(%fy, %fx : tensor<8x64xf32>, tensor<64x16xf32>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// Vectors. A new dimension comes in front, or a size of 1 is stretched.

// CHECK-LABEL: func @vector(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: vector<16x64xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: vector<16x2xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: vector<8x64xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: vector<8x2xf8E8M0FNU>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: vector<16x8xf32>)
// CHECK-NEXT:    %[[Y_KN:.*]] = vector.transpose %[[Y]], [1, 0]
// CHECK-NEXT:    %[[Y_SCALE_KN:.*]] = vector.transpose %[[Y_SCALE]], [1, 0]
// CHECK-NEXT:    blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y_KN]], %[[Y_SCALE_KN]], %[[ACC]]
func.func @vector(%x: vector<16x64xf8E4M3FN>, %sx: vector<16x2xf8E8M0FNU>,
                  %y: vector<8x64xf8E5M2>, %sy: vector<8x2xf8E8M0FNU>,
                  %acc: vector<16x8xf32>) -> vector<16x8xf32> {
  %bx = vector.broadcast %sx
        : vector<16x2xf8E8M0FNU> to vector<32x16x2xf8E8M0FNU>
  %tx = vector.transpose %bx, [1, 2, 0]
        : vector<32x16x2xf8E8M0FNU> to vector<16x2x32xf8E8M0FNU>
  %cx = vector.shape_cast %tx
        : vector<16x2x32xf8E8M0FNU> to vector<16x64xf8E8M0FNU>
  %fx = arith.scaling_extf %x, %cx
        : vector<16x64xf8E4M3FN>, vector<16x64xf8E8M0FNU> to vector<16x64xf32>
  %uy = vector.shape_cast %sy : vector<8x2xf8E8M0FNU> to vector<8x2x1xf8E8M0FNU>
  %by = vector.broadcast %uy
        : vector<8x2x1xf8E8M0FNU> to vector<8x2x32xf8E8M0FNU>
  %cy = vector.shape_cast %by
        : vector<8x2x32xf8E8M0FNU> to vector<8x64xf8E8M0FNU>
  %fy = arith.scaling_extf %y, %cy
        : vector<8x64xf8E5M2>, vector<8x64xf8E8M0FNU> to vector<8x64xf32>
  %d = vector.contract {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (n, k)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"],
         kind = #vector.kind<add>}
       %fx, %fy, %acc : vector<16x64xf32>, vector<8x64xf32> into vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// -----

// A batch in x only. y is without scales: they are 1. Its extension is part of
// the contraction.

// CHECK-LABEL: func @batch(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x16x64xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<3x16x2xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<64x8xf6E3M2FN>, %[[ACC:[a-z0-9]+]]: tensor<3x16x8xf32>)
// CHECK:         %[[Y_SCALE:.*]] = arith.constant dense<1.000000e+00> : tensor<2x8xf8E8M0FNU>
// CHECK:         blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]], %[[ACC]]
func.func @batch(%x: tensor<3x16x64xf8E4M3FN>, %sx: tensor<3x16x2xf8E8M0FNU>,
                 %y: tensor<64x8xf6E3M2FN>, %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  %e = tensor.empty() : tensor<3x16x2x32xf8E8M0FNU>
  %b = linalg.broadcast ins(%sx : tensor<3x16x2xf8E8M0FNU>)
       outs(%e : tensor<3x16x2x32xf8E8M0FNU>) dimensions = [3]
  %bx = tensor.collapse_shape %b [[0], [1], [2, 3]]
        : tensor<3x16x2x32xf8E8M0FNU> into tensor<3x16x64xf8E8M0FNU>
  %fx = arith.scaling_extf %x, %bx
        : tensor<3x16x64xf8E4M3FN>, tensor<3x16x64xf8E8M0FNU>
          to tensor<3x16x64xf32>
  %d = linalg.contract
         indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                          affine_map<(b, m, n, k) -> (k, n)>,
                          affine_map<(b, m, n, k) -> (b, m, n)>]
       ins(%fx, %y : tensor<3x16x64xf32>, tensor<64x8xf6E3M2FN>)
       outs(%acc : tensor<3x16x8xf32>) -> tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// -----

// NVFP4: the sign of scales is ignored by math.absf, by a mask, or is not there.

// CHECK-LABEL: func @nvfp4_absf(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<16x64xf4E2M1FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<16x4xf8E4M3FN>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<64x4xf4E2M1FN>,
// CHECK:         %[[Y_SCALE:.*]] = arith.constant dense<{{.*}}> : tensor<4x4xf8E4M3FN>
// CHECK:         blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]],
func.func @nvfp4_absf(%x: tensor<16x64xf4E2M1FN>, %sx: tensor<16x4xf8E4M3FN>,
                      %y: tensor<64x4xf4E2M1FN>, %acc: tensor<16x4xf32>)
    -> tensor<16x4xf32> {
  // With a NaN that has a sign, and -0.
  %sy = arith.constant dense<"0x00010203040506070809FF80383A3C3E"> : tensor<4x4xf8E4M3FN>
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 16)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (k floordiv 16, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy
           : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>,
             tensor<64x4xf4E2M1FN>, tensor<4x4xf8E4M3FN>)
       outs(%acc : tensor<16x4xf32>) {
  ^bb0(%a: f4E2M1FN, %sa: f8E4M3FN, %b: f4E2M1FN, %sb: f8E4M3FN, %c: f32):
    %0 = arith.extf %a : f4E2M1FN to f32
    %1 = arith.extf %b : f4E2M1FN to f32
    %2 = arith.extf %sa : f8E4M3FN to f32
    %3 = math.absf %2 : f32
    %4 = arith.extf %sb : f8E4M3FN to f32
    %5 = arith.mulf %0, %1 : f32
    %6 = arith.mulf %3, %4 : f32
    %7 = arith.mulf %5, %6 : f32
    %8 = arith.addf %c, %7 : f32
    linalg.yield %8 : f32
  } -> tensor<16x4xf32>
  return %d : tensor<16x4xf32>
}

// CHECK-LABEL: func @nvfp4_mask(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: vector<16x16xf4E2M1FN>, %[[X_BYTES:[a-z0-9]+]]: vector<16x1xi8>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: vector<16x8xf4E2M1FN>, %[[Y_SCALE:[a-z0-9]+]]: vector<1x8xf8E4M3FN>,
// CHECK:         %[[X_MASKED:.*]] = arith.andi %[[X_BYTES]],
// CHECK:         %[[X_SCALE:.*]] = arith.bitcast %[[X_MASKED]]
// CHECK:         blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]],
func.func @nvfp4_mask(%x: vector<16x16xf4E2M1FN>, %cx: vector<16x1xi8>,
                      %y: vector<16x8xf4E2M1FN>, %sy: vector<1x8xf8E4M3FN>,
                      %acc: vector<16x8xf32>) -> vector<16x8xf32> {
  %mask_x = arith.constant dense<0x3F> : vector<16x1xi8>
  %mx = arith.andi %cx, %mask_x : vector<16x1xi8>
  %sx = arith.bitcast %mx : vector<16x1xi8> to vector<16x1xf8E4M3FN>
  %bx = vector.broadcast %sx : vector<16x1xf8E4M3FN> to vector<16x16xf8E4M3FN>
  %mask_y = arith.constant dense<0x7F> : vector<1x8xi8>
  %cy = arith.bitcast %sy : vector<1x8xf8E4M3FN> to vector<1x8xi8>
  %my = arith.andi %cy, %mask_y : vector<1x8xi8>
  %py = arith.bitcast %my : vector<1x8xi8> to vector<1x8xf8E4M3FN>
  %by = vector.broadcast %py : vector<1x8xf8E4M3FN> to vector<16x8xf8E4M3FN>
  %xe = arith.extf %x : vector<16x16xf4E2M1FN> to vector<16x16xf32>
  %xs = arith.extf %bx : vector<16x16xf8E4M3FN> to vector<16x16xf32>
  %fx = arith.mulf %xe, %xs : vector<16x16xf32>
  %ye = arith.extf %y : vector<16x8xf4E2M1FN> to vector<16x8xf32>
  %ys = arith.extf %by : vector<16x8xf8E4M3FN> to vector<16x8xf32>
  %fy = arith.mulf %ye, %ys : vector<16x8xf32>
  %d = vector.contract {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"],
         kind = #vector.kind<add>}
       %fx, %fy, %acc : vector<16x16xf32>, vector<16x8xf32> into vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// -----

// A constant is the scale of all of y; a transposed value that is there is used
// as it is.

// CHECK-LABEL: func @splat(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<16x64xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<8x64xf8E4M3FN>,
// CHECK:         %[[Y_KN:.*]] = linalg.transpose ins(%[[Y]]
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[Y_SCALE:.*]] = arith.constant dense<4.000000e+00> : tensor<2x8xf8E8M0FNU>
// CHECK:         blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y_KN]], %[[Y_SCALE]],
func.func @splat(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>,
                 %y: tensor<8x64xf8E4M3FN>, %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<64x8xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<8x64xf8E4M3FN>)
       outs(%e : tensor<64x8xf8E4M3FN>) permutation = [1, 0]
  %sy = arith.constant dense<4.0> : tensor<64x8xf8E8M0FNU>
  %fy = arith.scaling_extf %t, %sy
        : tensor<64x8xf8E4M3FN>, tensor<64x8xf8E8M0FNU> to tensor<64x8xf32>
  %e0 = tensor.empty() : tensor<16x2x32xf8E8M0FNU>
  %b = linalg.broadcast ins(%sx : tensor<16x2xf8E8M0FNU>)
       outs(%e0 : tensor<16x2x32xf8E8M0FNU>) dimensions = [2]
  %bx = tensor.collapse_shape %b [[0], [1, 2]]
        : tensor<16x2x32xf8E8M0FNU> into tensor<16x64xf8E8M0FNU>
  %fx = arith.scaling_extf %x, %bx
        : tensor<16x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU> to tensor<16x64xf32>
  %d = linalg.matmul ins(%fx, %fy : tensor<16x64xf32>, tensor<64x8xf32>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// Scales without a dimension for their only block, and one row of x.

// CHECK-LABEL: func @units(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<32xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<1xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<32x8xf8E4M3FN>, %[[Y_SCALE:[a-z0-9]+]]: tensor<8xf8E8M0FNU>,
// CHECK-DAG:     %[[X_MK:.*]] = tensor.expand_shape %[[X]] {{.*}} into tensor<1x32xf8E4M3FN>
// CHECK-DAG:     %[[X_SCALE_MK:.*]] = tensor.expand_shape %[[X_SCALE]] {{.*}} into tensor<1x1xf8E8M0FNU>
// CHECK-DAG:     %[[Y_SCALE_KN:.*]] = tensor.expand_shape %[[Y_SCALE]] {{.*}} into tensor<1x8xf8E8M0FNU>
// CHECK:         blockscale.mma_scaled %[[X_MK]], %[[X_SCALE_MK]], %[[Y]], %[[Y_SCALE_KN]],
func.func @units(%x: tensor<32xf8E4M3FN>, %sx: tensor<1xf8E8M0FNU>,
                 %y: tensor<32x8xf8E4M3FN>, %sy: tensor<8xf8E8M0FNU>,
                 %acc: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (k)>,
                          affine_map<(m, n, k) -> (0)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %y, %sy
           : tensor<32xf8E4M3FN>, tensor<1xf8E8M0FNU>,
             tensor<32x8xf8E4M3FN>, tensor<8xf8E8M0FNU>)
       outs(%acc : tensor<1x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f8E4M3FN, %sb: f8E8M0FNU, %c: f32):
    %0 = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %b, %sb : f8E4M3FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<1x8xf32>
  return %d : tensor<1x8xf32>
}

// -----

// K is the size of collapsed blocks of 32, whatever that is. The scales that y
// does not have get their size from it.

// CHECK-LABEL: func @dynamic(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<?x?xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<?x8xf8E5M2>,
// CHECK:         %[[K:.*]] = tensor.dim %[[Y]], %c0
// CHECK:         %[[B:.*]] = arith.constant 32 : index
// CHECK:         %[[K_S:.*]] = arith.divui %[[K]], %[[B]]
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[K_S]]) : tensor<?x8xf8E8M0FNU>
// CHECK:         %[[Y_SCALE:.*]] = linalg.fill ins(%{{.*}} : f8E8M0FNU) outs(%[[EMPTY]]
// CHECK:         blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]], %{{.*}} {block_size = 32 : i64}
func.func @dynamic(%x: tensor<?x?xf8E4M3FN>, %sx: tensor<?x?xf8E8M0FNU>,
                   %y: tensor<?x8xf8E5M2>, %acc: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %sx, %c0 : tensor<?x?xf8E8M0FNU>
  %s = tensor.dim %sx, %c1 : tensor<?x?xf8E8M0FNU>
  %e = tensor.empty(%m, %s) : tensor<?x?x32xf8E8M0FNU>
  %b = linalg.broadcast ins(%sx : tensor<?x?xf8E8M0FNU>)
       outs(%e : tensor<?x?x32xf8E8M0FNU>) dimensions = [2]
  %bx = tensor.collapse_shape %b [[0], [1, 2]]
        : tensor<?x?x32xf8E8M0FNU> into tensor<?x?xf8E8M0FNU>
  %fx = arith.scaling_extf %x, %bx
        : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU> to tensor<?x?xf32>
  %fy = arith.extf %y : tensor<?x8xf8E5M2> to tensor<?x8xf32>
  %d = linalg.matmul ins(%fx, %fy : tensor<?x?xf32>, tensor<?x8xf32>)
       outs(%acc : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %d : tensor<?x8xf32>
}

// -----

// Ops without scales are not matched, and nothing else changes.

// CHECK-LABEL: func @none(
// CHECK-NEXT:    arith.constant 1 : index
// CHECK-NEXT:    arith.constant 1 : index
// CHECK-NEXT:    arith.addi
// CHECK:         linalg.matmul
// CHECK:         linalg.reduce
func.func @none(%x: tensor<16x64xf8E4M3FN>, %y: tensor<64x8xf8E5M2>,
                %s: tensor<16x64xf8E8M0FNU>, %acc: tensor<16x8xf32>,
                %row: tensor<16xf32>)
    -> (tensor<16x8xf32>, tensor<16xf32>, index) {
  %one = arith.constant 1 : index
  %again = arith.constant 1 : index
  %two = arith.addi %one, %again : index
  %d = linalg.matmul ins(%x, %y : tensor<16x64xf8E4M3FN>, tensor<64x8xf8E5M2>)
       outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  %fx = arith.scaling_extf %x, %s
        : tensor<16x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU> to tensor<16x64xf32>
  %sum = linalg.reduce { arith.addf } ins(%fx : tensor<16x64xf32>)
         outs(%row : tensor<16xf32>) dimensions = [1]
  return %d, %sum, %two : tensor<16x8xf32>, tensor<16xf32>, index
}

// -----

// Reshapes on the way, to blocks of other sizes and back.

// CHECK-LABEL: func @reshaped(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: vector<16x64xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: vector<16x2xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: vector<64x8xf8E5M2>,
// CHECK-NEXT:    %[[Y_SCALE:.*]] = arith.constant dense<1.000000e+00> : vector<2x8xf8E8M0FNU>
// CHECK-NEXT:    blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]],
func.func @reshaped(%x: vector<16x64xf8E4M3FN>, %sx: vector<16x2xf8E8M0FNU>,
                    %y: vector<64x8xf8E5M2>, %acc: vector<16x8xf32>)
    -> vector<16x8xf32> {
  %bx = vector.broadcast %sx
        : vector<16x2xf8E8M0FNU> to vector<32x16x2xf8E8M0FNU>
  %tx = vector.transpose %bx, [1, 2, 0]
        : vector<32x16x2xf8E8M0FNU> to vector<16x2x32xf8E8M0FNU>
  %cx = vector.shape_cast %tx
        : vector<16x2x32xf8E8M0FNU> to vector<16x64xf8E8M0FNU>
  %fx = arith.scaling_extf %x, %cx
        : vector<16x64xf8E4M3FN>, vector<16x64xf8E8M0FNU> to vector<16x64xf32>
  %fx0 = vector.shape_cast %fx : vector<16x64xf32> to vector<16x4x16xf32>
  %fx1 = vector.transpose %fx0, [1, 0, 2]
         : vector<16x4x16xf32> to vector<4x16x16xf32>
  %fx2 = vector.transpose %fx1, [1, 0, 2]
         : vector<4x16x16xf32> to vector<16x4x16xf32>
  %fx3 = vector.shape_cast %fx2 : vector<16x4x16xf32> to vector<1024xf32>
  %fx4 = vector.shape_cast %fx3 : vector<1024xf32> to vector<16x64xf32>
  %fy = arith.extf %y : vector<64x8xf8E5M2> to vector<64x8xf32>
  %d = vector.contract {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"],
         kind = #vector.kind<add>}
       %fx4, %fy, %acc : vector<16x64xf32>, vector<64x8xf32> into vector<16x8xf32>
  return %d : vector<16x8xf32>
}
