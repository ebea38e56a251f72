// Operands dequantized to bf16, which has all bits of an element and its scale, and
// NVFP4 with a scale of type f32 for the whole tensor.

// RUN: blockscale-opt %s --blockscale-raise -verify-diagnostics | FileCheck %s

#id = affine_map<(m, k) -> (m, k)>
#xb = affine_map<(m, k) -> (m, k floordiv 32)>
#yb = affine_map<(k, n) -> (k floordiv 32, n)>
#x16 = affine_map<(m, k) -> (m, k floordiv 16)>
#y16 = affine_map<(k, n) -> (k floordiv 16, n)>

//===----------------------------------------------------------------------===//
// bf16
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @bf16_matmul
// CHECK-SAME:    %[[X:.*]]: tensor<16x64xf8E4M3FN>, %[[SX:.*]]: tensor<16x2xf8E8M0FNU>, %[[Y:.*]]: tensor<64x8xf8E5M2>, %[[SY:.*]]: tensor<2x8xf8E8M0FNU>, %[[ACC:.*]]: tensor<16x8xf32>
// CHECK:         blockscale.mma_scaled %[[X]], %[[SX]], %[[Y]], %[[SY]], %[[ACC]]
func.func @bf16_matmul(%x: tensor<16x64xf8E4M3FN>, %sx: tensor<16x2xf8E8M0FNU>, %y: tensor<64x8xf8E5M2>, %sy: tensor<2x8xf8E8M0FNU>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %ex = tensor.empty() : tensor<16x64xbf16>
  %ey = tensor.empty() : tensor<64x8xbf16>
  %xd = linalg.generic {indexing_maps = [#id, #xb, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sx : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>) outs(%ex : tensor<16x64xbf16>) {
  ^bb0(%a: f8E4M3FN, %s: f8E8M0FNU, %o: bf16):
    %v = arith.scaling_extf %a, %s : f8E4M3FN, f8E8M0FNU to bf16
    linalg.yield %v : bf16
  } -> tensor<16x64xbf16>
  // Multiplied in bf16, and in f32 and then rounded, is the same.
  %yd = linalg.generic {indexing_maps = [#id, #yb, #id], iterator_types = ["parallel", "parallel"]}
        ins(%y, %sy : tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>) outs(%ey : tensor<64x8xbf16>) {
  ^bb0(%a: f8E5M2, %s: f8E8M0FNU, %o: bf16):
    %aw = arith.extf %a : f8E5M2 to f32
    %sw = arith.extf %s : f8E8M0FNU to f32
    %p = arith.mulf %aw, %sw : f32
    %v = arith.truncf %p : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<64x8xbf16>
  %d = linalg.matmul ins(%xd, %yd : tensor<16x64xbf16>, tensor<64x8xbf16>) outs(%acc : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @bf16_vector
// CHECK:         blockscale.mma_scaled
func.func @bf16_vector(%x: vector<16x32xf8E4M3FN>, %sx: vector<16x1xf8E8M0FNU>, %y: vector<32x8xf8E5M2>, %sy: vector<1x8xf8E8M0FNU>, %acc: vector<16x8xf32>) -> vector<16x8xf32> {
  %xw = arith.extf %x : vector<16x32xf8E4M3FN> to vector<16x32xbf16>
  %sxw = arith.extf %sx : vector<16x1xf8E8M0FNU> to vector<16x1xbf16>
  %sxb = vector.broadcast %sxw : vector<16x1xbf16> to vector<16x32xbf16>
  %xd = arith.mulf %xw, %sxb : vector<16x32xbf16>
  %yw = arith.extf %y : vector<32x8xf8E5M2> to vector<32x8xbf16>
  %syw = arith.extf %sy : vector<1x8xf8E8M0FNU> to vector<1x8xbf16>
  %syb = vector.broadcast %syw : vector<1x8xbf16> to vector<32x8xbf16>
  %yd = arith.mulf %yw, %syb : vector<32x8xbf16>
  %d = vector.contract {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       %xd, %yd, %acc : vector<16x32xbf16>, vector<32x8xbf16> into vector<16x8xf32>
  return %d : vector<16x8xf32>
}

//===----------------------------------------------------------------------===//
// NVFP4
//===----------------------------------------------------------------------===//

// One scale is a scalar, the other the element of a tensor; sizes are dynamic.

// CHECK-LABEL: func.func @tensor_scales
// CHECK-SAME:    %[[X:.*]]: tensor<?x64xf4E2M1FN>, %[[SX:.*]]: tensor<?x4xf8E4M3FN>, %[[GX:.*]]: f32, %[[Y:.*]]: tensor<64x8xf4E2M1FN>, %[[SY:.*]]: tensor<4x8xf8E4M3FN>, %[[GY:.*]]: tensor<1xf32>, %[[ACC:.*]]: tensor<?x8xf32>
// CHECK:         %[[ZERO:.*]] = linalg.fill
// CHECK:         %[[D:.*]] = blockscale.mma_scaled %[[X]], %[[SX]], %[[Y]], %[[SY]], %[[ZERO]]
// CHECK:         %[[R:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[D]], %[[ACC]], %[[GY]]
// CHECK-NEXT:    ^bb0(%[[PRODUCT:.*]]: f32, %[[C:.*]]: f32, %[[G:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[ONCE:.*]] = arith.mulf %[[PRODUCT]], %[[GX]]
// CHECK-NEXT:      %[[TWICE:.*]] = arith.mulf %[[ONCE]], %[[G]]
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[C]], %[[TWICE]]
// CHECK-NEXT:      linalg.yield %[[SUM]]
// CHECK:         return %[[R]]
func.func @tensor_scales(%x: tensor<?x64xf4E2M1FN>, %sx: tensor<?x4xf8E4M3FN>, %gx: f32, %y: tensor<64x8xf4E2M1FN>, %sy: tensor<4x8xf8E4M3FN>, %gy: tensor<1xf32>, %acc: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf4E2M1FN>
  %ex = tensor.empty(%m) : tensor<?x64xf32>
  %ey = tensor.empty() : tensor<64x8xf32>
  %xd = linalg.generic {indexing_maps = [#id, #x16, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sx : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) outs(%ex : tensor<?x64xf32>) {
  ^bb0(%a: f4E2M1FN, %s: f8E4M3FN, %o: f32):
    %aw = arith.extf %a : f4E2M1FN to f32
    %abs = math.absf %s : f8E4M3FN
    %sw = arith.extf %abs : f8E4M3FN to f32
    %sg = arith.mulf %sw, %gx : f32
    %v = arith.mulf %aw, %sg : f32
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %yd = linalg.generic {indexing_maps = [#id, #y16, affine_map<(k, n) -> (0)>, #id], iterator_types = ["parallel", "parallel"]}
        ins(%y, %sy, %gy : tensor<64x8xf4E2M1FN>, tensor<4x8xf8E4M3FN>, tensor<1xf32>) outs(%ey : tensor<64x8xf32>) {
  ^bb0(%a: f4E2M1FN, %s: f8E4M3FN, %g: f32, %o: f32):
    %aw = arith.extf %a : f4E2M1FN to f32
    %abs = math.absf %s : f8E4M3FN
    %sw = arith.extf %abs : f8E4M3FN to f32
    %sg = arith.mulf %sw, %g : f32
    %v = arith.mulf %aw, %sg : f32
    linalg.yield %v : f32
  } -> tensor<64x8xf32>
  %d = linalg.matmul ins(%xd, %yd : tensor<?x64xf32>, tensor<64x8xf32>) outs(%acc : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %d : tensor<?x8xf32>
}

// A constant, in the body of the contraction; and a splat.

// CHECK-LABEL: func.func @constant_scales
// CHECK-SAME:    %[[G:[^:]*]]: f32, %{{[^:]*}}: tensor<16x8xf32>)
// CHECK:         %[[D:.*]] = blockscale.mma_scaled
// CHECK:         %[[HALF:.*]] = arith.constant 5.0
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[D]], %{{.*}} : tensor<16x8xf32>, tensor<16x8xf32>)
// CHECK-DAG:       arith.mulf %{{.*}}, %[[HALF]]
// CHECK-DAG:       arith.mulf %{{.*}}, %[[G]]
func.func @constant_scales(%x: tensor<16x64xf4E2M1FN>, %sx: tensor<16x4xf8E4M3FN>, %y: tensor<64x8xf4E2M1FN>, %g: f32, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %gs = tensor.splat %g : tensor<64x8xf32>
  %yw = arith.extf %y : tensor<64x8xf4E2M1FN> to tensor<64x8xf32>
  %yg = arith.mulf %yw, %gs : tensor<64x8xf32>
  %d = linalg.generic {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                          affine_map<(m, n, k) -> (m, k floordiv 16)>,
                          affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %sx, %yg : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>, tensor<64x8xf32>)
       outs(%acc : tensor<16x8xf32>) {
  ^bb0(%a: f4E2M1FN, %s: f8E4M3FN, %b: f32, %c: f32):
    %half = arith.constant 0.5 : f32
    %aw = arith.extf %a : f4E2M1FN to f32
    %abs = math.absf %s : f8E4M3FN
    %sw = arith.extf %abs : f8E4M3FN to f32
    %p = arith.mulf %aw, %sw : f32
    %q = arith.mulf %p, %half : f32
    %t = arith.mulf %q, %b : f32
    %r = arith.addf %c, %t : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @vector_scale
// CHECK-SAME:    %[[G:[^:]*]]: vector<1xf32>, %[[ACC:[^:]*]]: vector<16x8xf32>)
// CHECK:         %[[D:.*]] = blockscale.mma_scaled
// CHECK:         %[[E:.*]] = vector.extract %[[G]][0]
// CHECK:         %[[B:.*]] = vector.broadcast %[[E]]
// CHECK:         %[[P:.*]] = arith.mulf %[[D]], %[[B]]
// CHECK:         arith.addf %[[ACC]], %[[P]]
func.func @vector_scale(%x: vector<16x16xf4E2M1FN>, %sx: vector<16x1xf8E4M3FN>, %y: vector<16x8xf4E2M1FN>, %g: vector<1xf32>, %acc: vector<16x8xf32>) -> vector<16x8xf32> {
  %xw = arith.extf %x : vector<16x16xf4E2M1FN> to vector<16x16xf32>
  %sxw = arith.extf %sx : vector<16x1xf8E4M3FN> to vector<16x1xf32>
  %abs = math.absf %sxw : vector<16x1xf32>
  %gb = vector.broadcast %g : vector<1xf32> to vector<16x1xf32>
  %sg = arith.mulf %abs, %gb : vector<16x1xf32>
  %sxb = vector.broadcast %sg : vector<16x1xf32> to vector<16x16xf32>
  %xd = arith.mulf %xw, %sxb : vector<16x16xf32>
  %yd = arith.extf %y : vector<16x8xf4E2M1FN> to vector<16x8xf32>
  %d = vector.contract {
         indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                          affine_map<(m, n, k) -> (m, n)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
       %xd, %yd, %acc : vector<16x16xf32>, vector<16x8xf32> into vector<16x8xf32>
  return %d : vector<16x8xf32>
}
