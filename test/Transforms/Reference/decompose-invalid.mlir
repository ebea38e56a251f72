// Sizes of unswizzle_scales that are constants but not static. The verifier
// leaves them to the check at run time; loops over them would not verify.

// RUN: blockscale-opt %s --blockscale-decompose --split-input-file -verify-diagnostics

func.func @unswizzle_scales_u2_m_257(%t: tensor<2x3x32x16xf8E8M0FNU>)
    -> tensor<?x9xf8E8M0FNU> {
  %m = arith.constant 257 : index
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected sizes that round up to the atoms of the source, 2 in dimension 0, got 257, which rounds up to 3}}
  %s = blockscale.unswizzle_scales %t sizes(%m)
       : tensor<2x3x32x16xf8E8M0FNU> to tensor<?x9xf8E8M0FNU>
  return %s : tensor<?x9xf8E8M0FNU>
}

// -----

func.func @unswizzle_scales_u2_k_s_8_of_a_batch(
    %t: tensor<4x2x3x32x16xf8E8M0FNU>) -> tensor<4x200x?xf8E8M0FNU> {
  %k = arith.constant 8 : index
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected sizes that round up to the atoms of the source, 3 in dimension 2, got 8, which rounds up to 2}}
  %s = blockscale.unswizzle_scales %t sizes(%k)
       : tensor<4x2x3x32x16xf8E8M0FNU> to tensor<4x200x?xf8E8M0FNU>
  return %s : tensor<4x200x?xf8E8M0FNU>
}

// -----

func.func @unswizzle_scales_u3_0(%t: tensor<?x3x32x16xf8E8M0FNU>)
    -> tensor<?x9xf8E8M0FNU> {
  %m = arith.constant 0 : index
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected all sizes to be at least 1, got 0}}
  %s = blockscale.unswizzle_scales %t sizes(%m)
       : tensor<?x3x32x16xf8E8M0FNU> to tensor<?x9xf8E8M0FNU>
  return %s : tensor<?x9xf8E8M0FNU>
}

// -----

func.func @unswizzle_scales_u3_negative(%t: tensor<?x3x32x16xf8E8M0FNU>)
    -> tensor<?x9xf8E8M0FNU> {
  %m = arith.constant -7 : index
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected all sizes to be at least 1, got -7}}
  %s = blockscale.unswizzle_scales %t sizes(%m)
       : tensor<?x3x32x16xf8E8M0FNU> to tensor<?x9xf8E8M0FNU>
  return %s : tensor<?x9xf8E8M0FNU>
}
