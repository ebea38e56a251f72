// Every constraint of swizzle_scales and unswizzle_scales, broken.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// (S1) Kinds and element types
//===----------------------------------------------------------------------===//

func.func @swizzle_scales_s1_tensor_to_vector(
    %source: tensor<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected source and result to be both tensors or both vectors, got 'tensor<300x9xf8E8M0FNU>' and 'vector<3x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x9xf8E8M0FNU> to vector<3x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s1_element_types(
    %source: tensor<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected source and result to have one element type, got 'tensor<300x9xf8E8M0FNU>' and 'tensor<3x3x32x16xf8E4M3FN>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E4M3FN>
  return
}

// -----

func.func @swizzle_scales_s1_source_with_encoding(
    %source: tensor<300x9xf8E8M0FNU, 1 : i64>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected tensors without encoding, got 'tensor<300x9xf8E8M0FNU, 1 : i64>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x9xf8E8M0FNU, 1 : i64> to tensor<3x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s1_result_with_encoding(
    %source: tensor<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected tensors without encoding, got 'tensor<3x3x32x16xf8E8M0FNU, 1 : i64>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU, 1 : i64>
  return
}

// -----

func.func @swizzle_scales_s1_f32(
    %source: tensor<300x9xf32>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected source to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3, got 'tensor<300x9xf32>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x9xf32> to tensor<3x3x32x16xf32>
  return
}

// -----

func.func @swizzle_scales_s1_i8(
    %source: tensor<300x9xi8>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected source to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3, got 'tensor<300x9xi8>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x9xi8> to tensor<3x3x32x16xi8>
  return
}

// -----

func.func @swizzle_scales_s1_unranked(
    %source: tensor<*xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected source to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3, got 'tensor<*xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<*xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s1_memref(
    %source: memref<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected source to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3, got 'memref<300x9xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : memref<300x9xf8E8M0FNU> to memref<3x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s1_scalable_vector(
    %source: vector<[4]x4xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected source to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3, got 'vector<[4]x4xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : vector<[4]x4xf8E8M0FNU> to vector<1x1x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s1_rank_1(
    %source: tensor<9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected source to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3, got 'tensor<9xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<9xf8E8M0FNU> to tensor<3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s1_rank_4(
    %source: tensor<2x2x300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected source to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3, got 'tensor<2x2x300x9xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<2x2x300x9xf8E8M0FNU> to tensor<2x2x3x3x32x16xf8E8M0FNU>
  return
}

// -----

//===----------------------------------------------------------------------===//
// (S2) Shapes
//===----------------------------------------------------------------------===//

func.func @swizzle_scales_s2_too_few_row_atoms(
    %source: tensor<257x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 3x3x32x16, the 32x4x4 layout of 'tensor<257x9xf8E8M0FNU>', got 'tensor<2x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<257x9xf8E8M0FNU> to tensor<2x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_too_many_row_atoms(
    %source: tensor<256x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 2x3x32x16, the 32x4x4 layout of 'tensor<256x9xf8E8M0FNU>', got 'tensor<3x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<256x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_too_few_block_atoms(
    %source: tensor<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 3x3x32x16, the 32x4x4 layout of 'tensor<300x9xf8E8M0FNU>', got 'tensor<3x2x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x9xf8E8M0FNU> to tensor<3x2x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_too_many_block_atoms(
    %source: tensor<300x8xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 3x2x32x16, the 32x4x4 layout of 'tensor<300x8xf8E8M0FNU>', got 'tensor<3x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x8xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_atoms_swapped(
    %source: tensor<300x5xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 3x2x32x16, the 32x4x4 layout of 'tensor<300x5xf8E8M0FNU>', got 'tensor<2x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x5xf8E8M0FNU> to tensor<2x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_atom_transposed(
    %source: tensor<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 3x3x32x16, the 32x4x4 layout of 'tensor<300x9xf8E8M0FNU>', got 'tensor<3x3x16x32xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x16x32xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_atom_dynamic(
    %source: tensor<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 3x3x32x16, the 32x4x4 layout of 'tensor<300x9xf8E8M0FNU>', got 'tensor<3x3x?x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x?x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_result_dynamic(
    %source: tensor<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 3x3x32x16, the 32x4x4 layout of 'tensor<300x9xf8E8M0FNU>', got 'tensor<?x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x9xf8E8M0FNU> to tensor<?x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_result_static(
    %source: tensor<?x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape ?x3x32x16, the 32x4x4 layout of 'tensor<?x9xf8E8M0FNU>', got 'tensor<3x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<?x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_result_with_batch(
    %source: tensor<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 3x3x32x16, the 32x4x4 layout of 'tensor<300x9xf8E8M0FNU>', got 'tensor<1x3x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x9xf8E8M0FNU> to tensor<1x3x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_result_without_batch(
    %source: tensor<1x300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 1x3x3x32x16, the 32x4x4 layout of 'tensor<1x300x9xf8E8M0FNU>', got 'tensor<3x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<1x300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_batch(
    %source: tensor<2x300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 2x3x3x32x16, the 32x4x4 layout of 'tensor<2x300x9xf8E8M0FNU>', got 'tensor<4x3x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<2x300x9xf8E8M0FNU> to tensor<4x3x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_vector(
    %source: vector<128x4xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to have shape 1x1x32x16, the 32x4x4 layout of 'vector<128x4xf8E8M0FNU>', got 'vector<2x1x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : vector<128x4xf8E8M0FNU> to vector<2x1x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s2_result_rank_3(
    %source: tensor<300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected the result to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 4 or 5, got 'tensor<9x32x16xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x9xf8E8M0FNU> to tensor<9x32x16xf8E8M0FNU>
  return
}

// -----

//===----------------------------------------------------------------------===//
// (S3) Sizes of at least 1
//===----------------------------------------------------------------------===//

func.func @swizzle_scales_s3_m_0(
    %source: tensor<0x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected all sizes to be at least 1, got 'tensor<0x9xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<0x9xf8E8M0FNU> to tensor<0x3x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s3_k_s_0(
    %source: tensor<300x0xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected all sizes to be at least 1, got 'tensor<300x0xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<300x0xf8E8M0FNU> to tensor<3x0x32x16xf8E8M0FNU>
  return
}

// -----

func.func @swizzle_scales_s3_batch_0(
    %source: tensor<0x300x9xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.swizzle_scales' op expected all sizes to be at least 1, got 'tensor<0x300x9xf8E8M0FNU>'}}
  %r = blockscale.swizzle_scales %source
       : tensor<0x300x9xf8E8M0FNU> to tensor<0x3x3x32x16xf8E8M0FNU>
  return
}

// -----

//===----------------------------------------------------------------------===//
// (U1) Kinds and element types
//===----------------------------------------------------------------------===//

func.func @unswizzle_scales_u1_vector_to_tensor(
    %source: vector<3x3x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected source and result to be both tensors or both vectors, got 'vector<3x3x32x16xf8E8M0FNU>' and 'tensor<300x9xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : vector<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u1_element_types(
    %source: tensor<3x3x32x16xf8E4M3FN>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected source and result to have one element type, got 'tensor<3x3x32x16xf8E4M3FN>' and 'tensor<300x9xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<3x3x32x16xf8E4M3FN> to tensor<300x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u1_source_with_encoding(
    %source: tensor<3x3x32x16xf8E8M0FNU, 1 : i64>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected tensors without encoding, got 'tensor<3x3x32x16xf8E8M0FNU, 1 : i64>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<3x3x32x16xf8E8M0FNU, 1 : i64> to tensor<300x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u1_result_with_encoding(
    %source: tensor<3x3x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected tensors without encoding, got 'tensor<300x9xf8E8M0FNU, 1 : i64>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU, 1 : i64>
  return
}

// -----

func.func @unswizzle_scales_u1_f32(
    %source: tensor<3x3x32x16xf32>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected source to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 4 or 5, got 'tensor<3x3x32x16xf32>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<3x3x32x16xf32> to tensor<300x9xf32>
  return
}

// -----

func.func @unswizzle_scales_u1_unranked(
    %source: tensor<*xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected source to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 4 or 5, got 'tensor<*xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<*xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u1_unranked_result(
    %source: tensor<3x3x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected the result to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 2 or 3, got 'tensor<*xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<*xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u1_scalable_vector(
    %source: vector<1x1x32x[16]xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected source to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 4 or 5, got 'vector<1x1x32x[16]xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : vector<1x1x32x[16]xf8E8M0FNU> to vector<128x4xf8E8M0FNU>
  return
}

// -----

//===----------------------------------------------------------------------===//
// (U2) Shapes
//===----------------------------------------------------------------------===//

func.func @unswizzle_scales_u2_m_too_large(
    %source: tensor<2x3x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected the source to have shape 3x3x32x16, the 32x4x4 layout of 'tensor<257x9xf8E8M0FNU>', got 'tensor<2x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<2x3x32x16xf8E8M0FNU> to tensor<257x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u2_m_too_small(
    %source: tensor<3x3x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected the source to have shape 2x3x32x16, the 32x4x4 layout of 'tensor<256x9xf8E8M0FNU>', got 'tensor<3x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<256x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u2_k_s_too_large(
    %source: tensor<3x2x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected the source to have shape 3x3x32x16, the 32x4x4 layout of 'tensor<300x9xf8E8M0FNU>', got 'tensor<3x2x32x16xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<3x2x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u2_k_s_too_small(
    %source: tensor<3x3x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected the source to have shape 3x2x32x16, the 32x4x4 layout of 'tensor<300x8xf8E8M0FNU>', got 'tensor<3x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x8xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u2_atom(
    %source: tensor<3x3x16x32xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected the source to have shape 3x3x32x16, the 32x4x4 layout of 'tensor<300x9xf8E8M0FNU>', got 'tensor<3x3x16x32xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<3x3x16x32xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u2_atom_dynamic(
    %source: tensor<3x3x32x?xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected the source to have shape 3x3x32x16, the 32x4x4 layout of 'tensor<300x9xf8E8M0FNU>', got 'tensor<3x3x32x?xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<3x3x32x?xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u2_flat_source(
    %source: tensor<3x3x512xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected source to be a ranked tensor or a fixed-size vector of f8E8M0FNU or f8E4M3FN, of rank 4 or 5, got 'tensor<3x3x512xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<3x3x512xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u2_batch(
    %source: tensor<4x3x3x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected the source to have shape 2x3x3x32x16, the 32x4x4 layout of 'tensor<2x300x9xf8E8M0FNU>', got 'tensor<4x3x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<4x3x3x32x16xf8E8M0FNU> to tensor<2x300x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u2_result_without_batch(
    %source: tensor<1x3x3x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected the source to have shape 3x3x32x16, the 32x4x4 layout of 'tensor<300x9xf8E8M0FNU>', got 'tensor<1x3x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<1x3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return
}

// -----

//===----------------------------------------------------------------------===//
// (U3) Sizes of at least 1
//===----------------------------------------------------------------------===//

func.func @unswizzle_scales_u3_m_0(
    %source: tensor<0x3x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected all sizes to be at least 1, got 'tensor<0x9xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<0x3x32x16xf8E8M0FNU> to tensor<0x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u3_k_s_0(
    %source: tensor<3x0x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected all sizes to be at least 1, got 'tensor<300x0xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source
       : tensor<3x0x32x16xf8E8M0FNU> to tensor<300x0xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u3_atoms_0(
    %source: tensor<0x3x32x16xf8E8M0FNU>, %n: index) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected all sizes to be at least 1, got 'tensor<0x3x32x16xf8E8M0FNU>'}}
  %r = blockscale.unswizzle_scales %source sizes(%n)
       : tensor<0x3x32x16xf8E8M0FNU> to tensor<?x9xf8E8M0FNU>
  return
}

// -----

//===----------------------------------------------------------------------===//
// (U4) One operand in sizes for each dynamic size
//===----------------------------------------------------------------------===//

func.func @unswizzle_scales_u4_none(
    %source: tensor<?x?x32x16xf8E8M0FNU>) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected 2 sizes, one for each dynamic size of 'tensor<?x?xf8E8M0FNU>', got 0}}
  %r = blockscale.unswizzle_scales %source
       : tensor<?x?x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u4_too_few(
    %source: tensor<?x?x32x16xf8E8M0FNU>, %n: index) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected 2 sizes, one for each dynamic size of 'tensor<?x?xf8E8M0FNU>', got 1}}
  %r = blockscale.unswizzle_scales %source sizes(%n)
       : tensor<?x?x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u4_too_many(
    %source: tensor<?x?x32x16xf8E8M0FNU>, %n: index) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected 1 sizes, one for each dynamic size of 'tensor<?x9xf8E8M0FNU>', got 2}}
  %r = blockscale.unswizzle_scales %source sizes(%n, %n)
       : tensor<?x?x32x16xf8E8M0FNU> to tensor<?x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u4_static(
    %source: tensor<3x3x32x16xf8E8M0FNU>, %n: index) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected 0 sizes, one for each dynamic size of 'tensor<300x9xf8E8M0FNU>', got 2}}
  %r = blockscale.unswizzle_scales %source sizes(%n, %n)
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return
}

// -----

func.func @unswizzle_scales_u4_vector(
    %source: vector<3x3x32x16xf8E8M0FNU>, %n: index) {
  // expected-error@+1 {{'blockscale.unswizzle_scales' op expected 0 sizes, one for each dynamic size of 'vector<300x9xf8E8M0FNU>', got 1}}
  %r = blockscale.unswizzle_scales %source sizes(%n)
       : vector<3x3x32x16xf8E8M0FNU> to vector<300x9xf8E8M0FNU>
  return
}
