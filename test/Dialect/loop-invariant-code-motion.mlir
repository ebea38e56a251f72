// An op with dynamic sizes may fail at run time, so it must not run in a loop
// that has no iteration. With static sizes it cannot fail.

// RUN: blockscale-opt %s --loop-invariant-code-motion --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func @mma_scaled_static(
// CHECK:         %[[D:.*]] = blockscale.mma_scaled
// CHECK:         scf.for
// CHECK:           "test.use"(%[[D]])
func.func @mma_scaled_static(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>, %from: index, %to: index, %step: index) {
  scf.for %i = %from to %to step %step {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
           tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
    "test.use"(%d) : (tensor<16x8xf32>) -> ()
  }
  return
}

// CHECK-LABEL: func @mma_scaled_vector(
// CHECK:         blockscale.mma_scaled
// CHECK:         scf.for
func.func @mma_scaled_vector(
    %x: vector<16x64xf8E4M3FN>, %x_scale: vector<16x2xf8E8M0FNU>,
    %y: vector<64x8xf8E5M2>, %y_scale: vector<2x8xf8E8M0FNU>,
    %acc: vector<16x8xf32>, %from: index, %to: index, %step: index) {
  scf.for %i = %from to %to step %step {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : vector<16x64xf8E4M3FN>, vector<16x2xf8E8M0FNU>,
           vector<64x8xf8E5M2>, vector<2x8xf8E8M0FNU>, vector<16x8xf32>
    "test.use"(%d) : (vector<16x8xf32>) -> ()
  }
  return
}

// CHECK-LABEL: func @mma_scaled_dynamic_n_of_y_scale(
// CHECK:         scf.for
// CHECK:           blockscale.mma_scaled
func.func @mma_scaled_dynamic_n_of_y_scale(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x?xf8E8M0FNU>,
    %acc: tensor<16x8xf32>, %from: index, %to: index, %step: index) {
  scf.for %i = %from to %to step %step {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
           tensor<64x8xf8E5M2>, tensor<2x?xf8E8M0FNU>, tensor<16x8xf32>
    "test.use"(%d) : (tensor<16x8xf32>) -> ()
  }
  return
}

// A swizzle takes any sizes.
// CHECK-LABEL: func @swizzle_scales_dynamic(
// CHECK:         blockscale.swizzle_scales
// CHECK:         scf.for
func.func @swizzle_scales_dynamic(%s: tensor<?x9xf8E8M0FNU>, %from: index,
                                  %to: index, %step: index) {
  scf.for %i = %from to %to step %step {
    %t = blockscale.swizzle_scales %s
         : tensor<?x9xf8E8M0FNU> to tensor<?x3x32x16xf8E8M0FNU>
    "test.use"(%t) : (tensor<?x3x32x16xf8E8M0FNU>) -> ()
  }
  return
}

// CHECK-LABEL: func @unswizzle_scales_static(
// CHECK:         blockscale.unswizzle_scales
// CHECK:         scf.for
func.func @unswizzle_scales_static(%t: tensor<3x3x32x16xf8E8M0FNU>,
                                   %from: index, %to: index, %step: index) {
  scf.for %i = %from to %to step %step {
    %s = blockscale.unswizzle_scales %t
         : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
    "test.use"(%s) : (tensor<300x9xf8E8M0FNU>) -> ()
  }
  return
}

// CHECK-LABEL: func @unswizzle_scales_dynamic_result(
// CHECK:         scf.for
// CHECK:           blockscale.unswizzle_scales
func.func @unswizzle_scales_dynamic_result(%t: tensor<3x3x32x16xf8E8M0FNU>,
                                           %m: index, %from: index, %to: index,
                                           %step: index) {
  scf.for %i = %from to %to step %step {
    %s = blockscale.unswizzle_scales %t sizes(%m)
         : tensor<3x3x32x16xf8E8M0FNU> to tensor<?x9xf8E8M0FNU>
    "test.use"(%s) : (tensor<?x9xf8E8M0FNU>) -> ()
  }
  return
}

// CHECK-LABEL: func @unswizzle_scales_dynamic_source(
// CHECK:         scf.for
// CHECK:           blockscale.unswizzle_scales
func.func @unswizzle_scales_dynamic_source(%t: tensor<?x3x32x16xf8E8M0FNU>,
                                           %from: index, %to: index,
                                           %step: index) {
  scf.for %i = %from to %to step %step {
    %s = blockscale.unswizzle_scales %t
         : tensor<?x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
    "test.use"(%s) : (tensor<300x9xf8E8M0FNU>) -> ()
  }
  return
}
