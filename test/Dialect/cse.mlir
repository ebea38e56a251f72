// The ops have no side effects, so equal ones are one.

// RUN: blockscale-opt %s --cse | FileCheck %s

// CHECK-LABEL: func @mma_scaled_twice(
// CHECK:         %[[D:.*]] = blockscale.mma_scaled
// CHECK-NOT:     blockscale.mma_scaled
// CHECK:         return %[[D]], %[[D]]
func.func @mma_scaled_twice(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %0 = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  %1 = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %0, %1 : tensor<16x8xf32>, tensor<16x8xf32>
}

// Only the accumulators differ.
// CHECK-LABEL: func @mma_scaled_of_two_accumulators(
// CHECK:         %[[FIRST:.*]] = blockscale.mma_scaled
// CHECK:         %[[SECOND:.*]] = blockscale.mma_scaled
// CHECK:         return %[[FIRST]], %[[SECOND]]
func.func @mma_scaled_of_two_accumulators(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc_0: tensor<16x8xf32>, %acc_1: tensor<16x8xf32>)
    -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %0 = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc_0
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  %1 = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc_1
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %0, %1 : tensor<16x8xf32>, tensor<16x8xf32>
}

// CHECK-LABEL: func @swizzles_twice(
// CHECK:         %[[SWIZZLED:.*]] = blockscale.swizzle_scales
// CHECK-NOT:     blockscale.swizzle_scales
// CHECK:         %[[SCALES:.*]] = blockscale.unswizzle_scales
// CHECK-NOT:     blockscale.unswizzle_scales
// CHECK:         return %[[SWIZZLED]], %[[SWIZZLED]], %[[SCALES]], %[[SCALES]]
func.func @swizzles_twice(%s: tensor<300x9xf8E8M0FNU>,
                          %t: tensor<?x3x32x16xf8E8M0FNU>, %m: index)
    -> (tensor<3x3x32x16xf8E8M0FNU>, tensor<3x3x32x16xf8E8M0FNU>,
        tensor<?x9xf8E8M0FNU>, tensor<?x9xf8E8M0FNU>) {
  %0 = blockscale.swizzle_scales %s
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  %1 = blockscale.swizzle_scales %s
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  %2 = blockscale.unswizzle_scales %t sizes(%m)
       : tensor<?x3x32x16xf8E8M0FNU> to tensor<?x9xf8E8M0FNU>
  %3 = blockscale.unswizzle_scales %t sizes(%m)
       : tensor<?x3x32x16xf8E8M0FNU> to tensor<?x9xf8E8M0FNU>
  return %0, %1, %2, %3
      : tensor<3x3x32x16xf8E8M0FNU>, tensor<3x3x32x16xf8E8M0FNU>,
        tensor<?x9xf8E8M0FNU>, tensor<?x9xf8E8M0FNU>
}
