// Folds of the swizzle ops, constant sizes, and casts around mma_scaled.

// RUN: blockscale-opt %s --canonicalize | FileCheck %s

//===----------------------------------------------------------------------===//
// unswizzle(swizzle(s))
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @unswizzle_of_swizzle(
// CHECK-SAME:    %[[SCALES:.*]]: tensor<300x9xf8E8M0FNU>)
// CHECK-NEXT:    return %[[SCALES]]
func.func @unswizzle_of_swizzle(%s: tensor<300x9xf8E8M0FNU>)
    -> tensor<300x9xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  %r = blockscale.unswizzle_scales %t
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return %r : tensor<300x9xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_of_swizzle_vector(
// CHECK-SAME:    %[[SCALES:.*]]: vector<2x3x9xf8E4M3FN>)
// CHECK-NEXT:    return %[[SCALES]]
func.func @unswizzle_of_swizzle_vector(%s: vector<2x3x9xf8E4M3FN>)
    -> vector<2x3x9xf8E4M3FN> {
  %t = blockscale.swizzle_scales %s
       : vector<2x3x9xf8E4M3FN> to vector<2x1x3x32x16xf8E4M3FN>
  %r = blockscale.unswizzle_scales %t
       : vector<2x1x3x32x16xf8E4M3FN> to vector<2x3x9xf8E4M3FN>
  return %r : vector<2x3x9xf8E4M3FN>
}

// The same atoms hold scales of several shapes.
// CHECK-LABEL: func @unswizzle_of_swizzle_other_shape(
// CHECK:         blockscale.swizzle_scales
// CHECK:         %[[SCALES:.*]] = blockscale.unswizzle_scales
// CHECK:         return %[[SCALES]]
func.func @unswizzle_of_swizzle_other_shape(%s: tensor<300x9xf8E8M0FNU>)
    -> tensor<299x9xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  %r = blockscale.unswizzle_scales %t
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<299x9xf8E8M0FNU>
  return %r : tensor<299x9xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_of_swizzle_dynamic_equal(
// CHECK-SAME:    %[[SCALES:.*]]: tensor<?x?xf8E8M0FNU>)
// CHECK-NEXT:    return %[[SCALES]]
func.func @unswizzle_of_swizzle_dynamic_equal(%s: tensor<?x?xf8E8M0FNU>)
    -> tensor<?x?xf8E8M0FNU> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %s, %c0 : tensor<?x?xf8E8M0FNU>
  %k = tensor.dim %s, %c1 : tensor<?x?xf8E8M0FNU>
  %t = blockscale.swizzle_scales %s
       : tensor<?x?xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %r = blockscale.unswizzle_scales %t sizes(%m, %k)
       : tensor<?x?x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return %r : tensor<?x?xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_of_swizzle_dynamic_equal_to_static(
// CHECK-SAME:    %[[SCALES:.*]]: tensor<300x9xf8E8M0FNU>)
// CHECK-NEXT:    %[[CAST:.*]] = tensor.cast %[[SCALES]] : tensor<300x9xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
// CHECK-NEXT:    return %[[CAST]]
func.func @unswizzle_of_swizzle_dynamic_equal_to_static(
    %s: tensor<300x9xf8E8M0FNU>) -> tensor<?x?xf8E8M0FNU> {
  %m = arith.constant 300 : index
  %k = arith.constant 9 : index
  %t = blockscale.swizzle_scales %s
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  %r = blockscale.unswizzle_scales %t sizes(%m, %k)
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return %r : tensor<?x?xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_of_swizzle_dynamic_swapped(
// CHECK:         %[[SCALES:.*]] = blockscale.unswizzle_scales
// CHECK:         return %[[SCALES]]
func.func @unswizzle_of_swizzle_dynamic_swapped(%s: tensor<?x?xf8E8M0FNU>)
    -> tensor<?x?xf8E8M0FNU> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %s, %c0 : tensor<?x?xf8E8M0FNU>
  %k = tensor.dim %s, %c1 : tensor<?x?xf8E8M0FNU>
  %t = blockscale.swizzle_scales %s
       : tensor<?x?xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  %r = blockscale.unswizzle_scales %t sizes(%k, %m)
       : tensor<?x?x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return %r : tensor<?x?xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_of_swizzle_dynamic_unknown(
// CHECK:         %[[SCALES:.*]] = blockscale.unswizzle_scales
// CHECK:         return %[[SCALES]]
func.func @unswizzle_of_swizzle_dynamic_unknown(%s: tensor<?x9xf8E8M0FNU>,
                                                %m: index)
    -> tensor<?x9xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s
       : tensor<?x9xf8E8M0FNU> to tensor<?x3x32x16xf8E8M0FNU>
  %r = blockscale.unswizzle_scales %t sizes(%m)
       : tensor<?x3x32x16xf8E8M0FNU> to tensor<?x9xf8E8M0FNU>
  return %r : tensor<?x9xf8E8M0FNU>
}

// The source may have 384 rows, of which 300 are read.
// CHECK-LABEL: func @unswizzle_of_swizzle_static_of_dynamic(
// CHECK:         %[[SCALES:.*]] = blockscale.unswizzle_scales
// CHECK:         return %[[SCALES]]
func.func @unswizzle_of_swizzle_static_of_dynamic(%s: tensor<?x9xf8E8M0FNU>)
    -> tensor<300x9xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s
       : tensor<?x9xf8E8M0FNU> to tensor<?x3x32x16xf8E8M0FNU>
  %r = blockscale.unswizzle_scales %t
       : tensor<?x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return %r : tensor<300x9xf8E8M0FNU>
}

//===----------------------------------------------------------------------===//
// swizzle(unswizzle(t))
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @swizzle_of_unswizzle_whole_atoms(
// CHECK-SAME:    %[[SWIZZLED:.*]]: tensor<1x2x32x16xf8E8M0FNU>)
// CHECK-NEXT:    return %[[SWIZZLED]]
func.func @swizzle_of_unswizzle_whole_atoms(%t: tensor<1x2x32x16xf8E8M0FNU>)
    -> tensor<1x2x32x16xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t
       : tensor<1x2x32x16xf8E8M0FNU> to tensor<128x8xf8E8M0FNU>
  %r = blockscale.swizzle_scales %s
       : tensor<128x8xf8E8M0FNU> to tensor<1x2x32x16xf8E8M0FNU>
  return %r : tensor<1x2x32x16xf8E8M0FNU>
}

// A batch has no padding.
// CHECK-LABEL: func @swizzle_of_unswizzle_batch_of_3(
// CHECK-SAME:    %[[SWIZZLED:.*]]: vector<3x2x1x32x16xf8E4M3FN>)
// CHECK-NEXT:    return %[[SWIZZLED]]
func.func @swizzle_of_unswizzle_batch_of_3(%t: vector<3x2x1x32x16xf8E4M3FN>)
    -> vector<3x2x1x32x16xf8E4M3FN> {
  %s = blockscale.unswizzle_scales %t
       : vector<3x2x1x32x16xf8E4M3FN> to vector<3x256x4xf8E4M3FN>
  %r = blockscale.swizzle_scales %s
       : vector<3x256x4xf8E4M3FN> to vector<3x2x1x32x16xf8E4M3FN>
  return %r : vector<3x2x1x32x16xf8E4M3FN>
}

// CHECK-LABEL: func @swizzle_of_unswizzle_m_127(
// CHECK:         %[[SWIZZLED:.*]] = blockscale.swizzle_scales
// CHECK:         return %[[SWIZZLED]]
func.func @swizzle_of_unswizzle_m_127(%t: tensor<1x2x32x16xf8E8M0FNU>)
    -> tensor<1x2x32x16xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t
       : tensor<1x2x32x16xf8E8M0FNU> to tensor<127x8xf8E8M0FNU>
  %r = blockscale.swizzle_scales %s
       : tensor<127x8xf8E8M0FNU> to tensor<1x2x32x16xf8E8M0FNU>
  return %r : tensor<1x2x32x16xf8E8M0FNU>
}

// CHECK-LABEL: func @swizzle_of_unswizzle_k_s_7(
// CHECK:         %[[SWIZZLED:.*]] = blockscale.swizzle_scales
// CHECK:         return %[[SWIZZLED]]
func.func @swizzle_of_unswizzle_k_s_7(%t: tensor<1x2x32x16xf8E8M0FNU>)
    -> tensor<1x2x32x16xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t
       : tensor<1x2x32x16xf8E8M0FNU> to tensor<128x7xf8E8M0FNU>
  %r = blockscale.swizzle_scales %s
       : tensor<128x7xf8E8M0FNU> to tensor<1x2x32x16xf8E8M0FNU>
  return %r : tensor<1x2x32x16xf8E8M0FNU>
}

// CHECK-LABEL: func @swizzle_of_unswizzle_dynamic(
// CHECK:         %[[SWIZZLED:.*]] = blockscale.swizzle_scales
// CHECK:         return %[[SWIZZLED]]
func.func @swizzle_of_unswizzle_dynamic(%t: tensor<?x2x32x16xf8E8M0FNU>,
                                        %m: index)
    -> tensor<?x2x32x16xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t sizes(%m)
       : tensor<?x2x32x16xf8E8M0FNU> to tensor<?x8xf8E8M0FNU>
  %r = blockscale.swizzle_scales %s
       : tensor<?x8xf8E8M0FNU> to tensor<?x2x32x16xf8E8M0FNU>
  return %r : tensor<?x2x32x16xf8E8M0FNU>
}

//===----------------------------------------------------------------------===//
// Constants in sizes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @unswizzle_constant_m(
// CHECK-SAME:    %[[SWIZZLED:.*]]: tensor<3x3x32x16xf8E8M0FNU>, %[[K_S:.*]]: index)
// CHECK:         %[[STATIC:.*]] = blockscale.unswizzle_scales %[[SWIZZLED]] sizes(%[[K_S]])
// CHECK-SAME:      : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x?xf8E8M0FNU>
// CHECK:         tensor.cast %[[STATIC]] : tensor<300x?xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
func.func @unswizzle_constant_m(%t: tensor<3x3x32x16xf8E8M0FNU>, %k: index)
    -> tensor<?x?xf8E8M0FNU> {
  %m = arith.constant 300 : index
  %s = blockscale.unswizzle_scales %t sizes(%m, %k)
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return %s : tensor<?x?xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_constant_m_and_k_s(
// CHECK-SAME:    %[[SWIZZLED:.*]]: tensor<?x3x3x32x16xf8E8M0FNU>, %[[BATCH:.*]]: index)
// CHECK:         blockscale.unswizzle_scales %[[SWIZZLED]] sizes(%[[BATCH]])
// CHECK-SAME:      : tensor<?x3x3x32x16xf8E8M0FNU> to tensor<?x300x9xf8E8M0FNU>
func.func @unswizzle_constant_m_and_k_s(%t: tensor<?x3x3x32x16xf8E8M0FNU>,
                                        %b: index) -> tensor<?x?x?xf8E8M0FNU> {
  %m = arith.constant 300 : index
  %k = arith.constant 9 : index
  %s = blockscale.unswizzle_scales %t sizes(%b, %m, %k)
       : tensor<?x3x3x32x16xf8E8M0FNU> to tensor<?x?x?xf8E8M0FNU>
  return %s : tensor<?x?x?xf8E8M0FNU>
}

// Wrong sizes stay, for the check at run time: (U2) 256 rows are 2 atoms.
// CHECK-LABEL: func @unswizzle_constant_u2_other_atoms(
// CHECK:         %[[M:.*]] = arith.constant 256
// CHECK:         blockscale.unswizzle_scales %{{.*}} sizes(%[[M]], %{{.*}})
// CHECK-SAME:      to tensor<?x?xf8E8M0FNU>
func.func @unswizzle_constant_u2_other_atoms(%t: tensor<3x3x32x16xf8E8M0FNU>,
                                             %k: index)
    -> tensor<?x?xf8E8M0FNU> {
  %m = arith.constant 256 : index
  %s = blockscale.unswizzle_scales %t sizes(%m, %k)
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return %s : tensor<?x?xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_constant_u2_largest_index(
// CHECK:         blockscale.unswizzle_scales %{{.*}} sizes(%{{.*}}, %{{.*}})
// CHECK-SAME:      to tensor<?x?xf8E8M0FNU>
func.func @unswizzle_constant_u2_largest_index(%t: tensor<3x3x32x16xf8E8M0FNU>,
                                               %k: index)
    -> tensor<?x?xf8E8M0FNU> {
  %m = arith.constant 9223372036854775807 : index
  %s = blockscale.unswizzle_scales %t sizes(%m, %k)
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return %s : tensor<?x?xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_constant_u3_0_and_negative(
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[NEGATIVE:.*]] = arith.constant -5 : index
// CHECK:         blockscale.unswizzle_scales %{{.*}} sizes(%[[ZERO]], %[[NEGATIVE]])
// CHECK-SAME:      to tensor<?x?xf8E8M0FNU>
func.func @unswizzle_constant_u3_0_and_negative(%t: tensor<?x?x32x16xf8E8M0FNU>)
    -> tensor<?x?xf8E8M0FNU> {
  %m = arith.constant 0 : index
  %k = arith.constant -5 : index
  %s = blockscale.unswizzle_scales %t sizes(%m, %k)
       : tensor<?x?x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return %s : tensor<?x?xf8E8M0FNU>
}

//===----------------------------------------------------------------------===//
// mma_scaled
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @mma_scaled_cast_of_all_operands(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<16x64xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<64x8xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<2x8xf8E8M0FNU>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<16x8xf32>
// CHECK-NEXT:    %[[STATIC:.*]] = blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]], %[[ACC]] {block_size = 32 : i64}
// CHECK-SAME:      : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
// CHECK-NEXT:    %[[CAST:.*]] = tensor.cast %[[STATIC]] : tensor<16x8xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %[[CAST]]
func.func @mma_scaled_cast_of_all_operands(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<?x?xf32> {
  %0 = tensor.cast %x : tensor<16x64xf8E4M3FN> to tensor<?x?xf8E4M3FN>
  %1 = tensor.cast %x_scale : tensor<16x2xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  %2 = tensor.cast %y : tensor<64x8xf8E5M2> to tensor<?x?xf8E5M2>
  %3 = tensor.cast %y_scale : tensor<2x8xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  %4 = tensor.cast %acc : tensor<16x8xf32> to tensor<?x?xf32>
  %d = blockscale.mma_scaled %0, %1, %2, %3, %4 {block_size = 32}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf8E5M2>,
         tensor<?x?xf8E8M0FNU>, tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func @mma_scaled_cast_of_y(
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<64x8xf8E5M2>,
// CHECK-NEXT:    %[[D:.*]] = blockscale.mma_scaled %{{.*}}, %{{.*}}, %[[Y]], %{{.*}}, %{{.*}} {block_size = 32 : i64}
// CHECK-SAME:      : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<64x8xf8E5M2>,
// CHECK-NEXT:    return %[[D]] : tensor<?x?xf32>
func.func @mma_scaled_cast_of_y(
    %x: tensor<?x?xf8E4M3FN>, %x_scale: tensor<?x?xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<?x?xf8E8M0FNU>,
    %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tensor.cast %y : tensor<64x8xf8E5M2> to tensor<?x?xf8E5M2>
  %d = blockscale.mma_scaled %x, %x_scale, %0, %y_scale, %acc {block_size = 32}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf8E5M2>,
         tensor<?x?xf8E8M0FNU>, tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// A cast that does not lose static sizes is not folded.
// CHECK-LABEL: func @mma_scaled_cast_to_static(
// CHECK-NEXT:    %[[CAST:.*]] = tensor.cast %{{.*}} : tensor<?x?xf32> to tensor<16x8xf32>
// CHECK-NEXT:    blockscale.mma_scaled %{{.*}}, %[[CAST]] :
func.func @mma_scaled_cast_to_static(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<?x?xf32>) -> tensor<16x8xf32> {
  %0 = tensor.cast %acc : tensor<?x?xf32> to tensor<16x8xf32>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %0
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_nothing_to_do(
// CHECK-NEXT:    %[[D:.*]] = blockscale.mma_scaled
// CHECK-NEXT:    return %[[D]]
func.func @mma_scaled_nothing_to_do(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_unused(
// CHECK-NEXT:    return
func.func @mma_scaled_unused(
    %x: tensor<16x?xf8E4M3FN>, %x_scale: tensor<16x?xf8E8M0FNU>,
    %y: tensor<?x8xf8E5M2>, %y_scale: tensor<?x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 32}
       : tensor<16x?xf8E4M3FN>, tensor<16x?xf8E8M0FNU>, tensor<?x8xf8E5M2>,
         tensor<?x8xf8E8M0FNU>, tensor<16x8xf32>
  return
}

// CHECK-LABEL: func @swizzles_unused(
// CHECK-NEXT:    return
func.func @swizzles_unused(%s: tensor<?x9xf8E8M0FNU>,
                           %t: tensor<?x3x32x16xf8E8M0FNU>, %m: index) {
  %0 = blockscale.swizzle_scales %s
       : tensor<?x9xf8E8M0FNU> to tensor<?x3x32x16xf8E8M0FNU>
  %1 = blockscale.unswizzle_scales %t sizes(%m)
       : tensor<?x3x32x16xf8E8M0FNU> to tensor<?x9xf8E8M0FNU>
  return
}
