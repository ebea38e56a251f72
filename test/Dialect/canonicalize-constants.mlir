// Swizzles of constants. Bytes are moved, not floats: 0xFF is NaN, 0x00 is
// 2^-127.

// RUN: blockscale-opt %s --canonicalize --split-input-file | FileCheck %s
// RUN: blockscale-opt %s --canonicalize --split-input-file | blockscale-opt --split-input-file --canonicalize | FileCheck %s

// Row 1 has outer index 1 in the atom, at byte 16; padding is 0x00.
// CHECK-LABEL: func @swizzle(
// CHECK-NEXT:    %[[T:.*]] = arith.constant dense<"0x7FFF00000000000000000000000000000081{{0*}}"> : tensor<1x1x32x16xf8E8M0FNU>
// CHECK-NEXT:    return %[[T]]
func.func @swizzle() -> tensor<1x1x32x16xf8E8M0FNU> {
  %s = arith.constant dense<[[1.0, 0xFF], [0x00, 4.0]]> : tensor<2x2xf8E8M0FNU>
  %t = blockscale.swizzle_scales %s
       : tensor<2x2xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  return %t : tensor<1x1x32x16xf8E8M0FNU>
}

// Batch 1 has its own atom.
// CHECK-LABEL: func @swizzle_batch(
// CHECK-NEXT:    %[[T:.*]] = arith.constant dense<"0x38{{0*}}40{{0*}}"> : vector<2x1x1x32x16xf8E4M3FN>
// CHECK-NEXT:    return %[[T]]
func.func @swizzle_batch() -> vector<2x1x1x32x16xf8E4M3FN> {
  %s = arith.constant dense<[[[1.0]], [[2.0]]]> : vector<2x1x1xf8E4M3FN>
  %t = blockscale.swizzle_scales %s
       : vector<2x1x1xf8E4M3FN> to vector<2x1x1x32x16xf8E4M3FN>
  return %t : vector<2x1x1x32x16xf8E4M3FN>
}

// CHECK-LABEL: func @swizzle_splat_of_whole_atoms(
// CHECK-NEXT:    %[[T:.*]] = arith.constant dense<2.000000e+00> : tensor<65536x4096x32x16xf8E8M0FNU>
// CHECK-NEXT:    return %[[T]]
func.func @swizzle_splat_of_whole_atoms()
    -> tensor<65536x4096x32x16xf8E8M0FNU> {
  %s = arith.constant dense<2.0> : tensor<8388608x16384xf8E8M0FNU>
  %t = blockscale.swizzle_scales %s
       : tensor<8388608x16384xf8E8M0FNU> to tensor<65536x4096x32x16xf8E8M0FNU>
  return %t : tensor<65536x4096x32x16xf8E8M0FNU>
}

// With padding it is not a splat, and is folded only if it is small.
// CHECK-LABEL: func @swizzle_splat_with_padding(
// CHECK-NEXT:    %[[T:.*]] = arith.constant dense<"0x80808000808080008080800080808000{{.*}}"> : tensor<1x1x32x16xf8E8M0FNU>
// CHECK-NEXT:    return %[[T]]
func.func @swizzle_splat_with_padding() -> tensor<1x1x32x16xf8E8M0FNU> {
  %s = arith.constant dense<2.0> : tensor<128x3xf8E8M0FNU>
  %t = blockscale.swizzle_scales %s
       : tensor<128x3xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  return %t : tensor<1x1x32x16xf8E8M0FNU>
}

// CHECK-LABEL: func @swizzle_large_splat_with_padding(
// CHECK:         %[[T:.*]] = blockscale.swizzle_scales
// CHECK-NEXT:    return %[[T]]
func.func @swizzle_large_splat_with_padding() -> tensor<1x129x32x16xf8E8M0FNU> {
  %s = arith.constant dense<2.0> : tensor<128x513xf8E8M0FNU>
  %t = blockscale.swizzle_scales %s
       : tensor<128x513xf8E8M0FNU> to tensor<1x129x32x16xf8E8M0FNU>
  return %t : tensor<1x129x32x16xf8E8M0FNU>
}

// -----

// And back: the unswizzle of a swizzled constant.
// CHECK-LABEL: func @unswizzle(
// CHECK-NEXT:    %[[S:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 0xFF], [5.{{[0-9]+}}e-39, 4.000000e+00]]> : tensor<2x2xf8E8M0FNU>
// CHECK-NEXT:    return %[[S]]
func.func @unswizzle() -> tensor<2x2xf8E8M0FNU> {
  %s = arith.constant dense<[[1.0, 0xFF], [0x00, 4.0]]> : tensor<2x2xf8E8M0FNU>
  %t = blockscale.swizzle_scales %s
       : tensor<2x2xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  %r = blockscale.unswizzle_scales %t
       : tensor<1x1x32x16xf8E8M0FNU> to tensor<2x2xf8E8M0FNU>
  return %r : tensor<2x2xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle_splat(
// CHECK-NEXT:    %[[S:.*]] = arith.constant dense<2.000000e+00> : vector<2x3x5xf8E4M3FN>
// CHECK-NEXT:    return %[[S]]
func.func @unswizzle_splat() -> vector<2x3x5xf8E4M3FN> {
  %t = arith.constant dense<2.0> : vector<2x1x2x32x16xf8E4M3FN>
  %s = blockscale.unswizzle_scales %t
       : vector<2x1x2x32x16xf8E4M3FN> to vector<2x3x5xf8E4M3FN>
  return %s : vector<2x3x5xf8E4M3FN>
}

// mma_scaled reads a swizzled constant directly, also through a transpose.
// CHECK-LABEL: func @unswizzle_for_mma_scaled(
// CHECK-DAG:     %[[T:.*]] = arith.constant dense<2.000000e+00> : tensor<1x1x32x16xf8E8M0FNU>
// CHECK-NOT:     arith.constant dense
// CHECK-DAG:     blockscale.unswizzle_scales %[[T]] : {{.*}} to tensor<16x1xf8E8M0FNU>
// CHECK-DAG:     blockscale.unswizzle_scales %[[T]] : {{.*}} to tensor<8x1xf8E8M0FNU>
// CHECK:         blockscale.mma_scaled
func.func @unswizzle_for_mma_scaled(
    %x: tensor<16x32xf8E4M3FN>, %y: tensor<32x8xf8E5M2>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %t = arith.constant dense<2.0> : tensor<1x1x32x16xf8E8M0FNU>
  %x_scale = blockscale.unswizzle_scales %t
             : tensor<1x1x32x16xf8E8M0FNU> to tensor<16x1xf8E8M0FNU>
  %y_scale_nk = blockscale.unswizzle_scales %t
                : tensor<1x1x32x16xf8E8M0FNU> to tensor<8x1xf8E8M0FNU>
  %init = tensor.empty() : tensor<1x8xf8E8M0FNU>
  %y_scale = linalg.transpose ins(%y_scale_nk : tensor<8x1xf8E8M0FNU>)
             outs(%init : tensor<1x8xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// On vectors the constant is folded.
// CHECK-LABEL: func @unswizzle_for_mma_scaled_vector(
// CHECK:         %[[S:.*]] = arith.constant dense<2.000000e+00> : vector<16x1xf8E8M0FNU>
// CHECK-NEXT:    blockscale.mma_scaled %{{.*}}, %[[S]],
func.func @unswizzle_for_mma_scaled_vector(
    %x: vector<16x32xf8E4M3FN>, %y: vector<32x8xf8E5M2>,
    %y_scale: vector<1x8xf8E8M0FNU>, %acc: vector<16x8xf32>)
    -> vector<16x8xf32> {
  %t = arith.constant dense<2.0> : vector<1x1x32x16xf8E8M0FNU>
  %x_scale = blockscale.unswizzle_scales %t
             : vector<1x1x32x16xf8E8M0FNU> to vector<16x1xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
         vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
  return %d : vector<16x8xf32>
}
