// The type of swizzle_scales' result follows from its source; in generic form
// a wrong one can be written, and is refused.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @swizzle_scales_right(
// CHECK:         blockscale.swizzle_scales %{{.*}} : tensor<300x?xf8E8M0FNU> to tensor<3x?x32x16xf8E8M0FNU>
func.func @swizzle_scales_right(%s: tensor<300x?xf8E8M0FNU>) {
  %t = "blockscale.swizzle_scales"(%s)
       : (tensor<300x?xf8E8M0FNU>) -> tensor<3x?x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s1_element_type(%s: tensor<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected source and result to have one element type, got 'tensor<300x9xf8E8M0FNU>' and 'tensor<3x3x32x16xf8E4M3FN>'}}
  %t = "blockscale.swizzle_scales"(%s)
       : (tensor<300x9xf8E8M0FNU>) -> tensor<3x3x32x16xf8E4M3FN>
  return
}

// -----

func.func @swizzle_scales_s2_row_major(%s: tensor<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 4 or 5, got 'tensor<300x9xf8E8M0FNU>'}}
  %t = "blockscale.swizzle_scales"(%s)
       : (tensor<300x9xf8E8M0FNU>) -> tensor<300x9xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_atoms(%s: vector<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 3x3x32x16, the 32x4x4 layout of 'vector<300x9xf8E8M0FNU>', got 'vector<3x4x32x16xf8E8M0FNU>'}}
  %t = "blockscale.swizzle_scales"(%s)
       : (vector<300x9xf8E8M0FNU>) -> vector<3x4x32x16xf8E8M0FNU>
  return
}
