// Remarks about scales that cannot be swizzled, with what would be needed.

// RUN: blockscale-opt %s --blockscale-swizzle-scale-operands=change-signature --split-input-file --allow-unregistered-dialect -verify-diagnostics -o /dev/null

//===----------------------------------------------------------------------===//
// Slices that cut an atom
//===----------------------------------------------------------------------===//

func.func @rows_64(%x: tensor<64x128xf8E4M3FN>, %y: tensor<128x8xf8E5M2>,
                   %acc: tensor<64x8xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %x_scale = "test.scales"() : () -> tensor<256x4xf8E8M0FNU>
  %y_scale = "test.scales"() : () -> tensor<4x8xf8E8M0FNU>
  scf.for %m = %c0 to %c256 step %c64 {
    // One remark, for two ops that share the slice.
    // expected-remark@+1 {{the slice cuts an atom of scales, which stay as they are: expected the offset of rows to be a multiple of 128, got one that is not known}}
    %tile = tensor.extract_slice %x_scale[%m, 0] [64, 4] [1, 1]
            : tensor<256x4xf8E8M0FNU> to tensor<64x4xf8E8M0FNU>
    %d = blockscale.mma_scaled %x, %tile, %y, %y_scale, %acc
         : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
           tensor<128x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<64x8xf32>
    %e = blockscale.mma_scaled %x, %tile, %y, %y_scale, %d
         : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
           tensor<128x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<64x8xf32>
    "test.use"(%e) : (tensor<64x8xf32>) -> ()
  }
  return
}

// -----

// Steps of whole atoms, from the middle of one.
func.func @from_64(%x: tensor<64x128xf8E4M3FN>, %y: tensor<128x8xf8E5M2>,
                   %acc: tensor<64x8xf32>) {
  %x_scale = "test.scales"() : () -> tensor<256x4xf8E8M0FNU>
  %y_scale = "test.scales"() : () -> tensor<4x8xf8E8M0FNU>
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  scf.for %m = %c64 to %c256 step %c128 {
    // expected-remark@+1 {{expected the offset of rows to be a multiple of 128, got one that is not known}}
    %tile = tensor.extract_slice %x_scale[%m, 0] [64, 4] [1, 1]
            : tensor<256x4xf8E8M0FNU> to tensor<64x4xf8E8M0FNU>
    %d = blockscale.mma_scaled %x, %tile, %y, %y_scale, %acc
         : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
           tensor<128x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<64x8xf32>
    "test.use"(%d) : (tensor<64x8xf32>) -> ()
  }
  return
}

// -----

// Rows are the last dimension of y's scales.
func.func @y_of_constant_and_unswizzled(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %t: tensor<1x1x32x16xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %y_scale = arith.constant dense<
    "0x7F7F7F7F7F7F7F7F80808080808080808181818181818181"> : tensor<3x8xf8E8M0FNU>
  // expected-remark@+1 {{expected the offset of blocks along K to be a multiple of 4, got 1}}
  %0 = tensor.extract_slice %y_scale[1, 0] [2, 8] [1, 1]
       : tensor<3x8xf8E8M0FNU> to tensor<2x8xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %0, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  %s = blockscale.unswizzle_scales %t
       : tensor<1x1x32x16xf8E8M0FNU> to tensor<16x4xf8E8M0FNU>
  %init = tensor.empty() : tensor<4x16xf8E8M0FNU>
  %transposed = linalg.transpose ins(%s : tensor<16x4xf8E8M0FNU>)
                outs(%init : tensor<4x16xf8E8M0FNU>) permutation = [1, 0]
  // expected-remark@+1 {{expected the offset of rows to be a multiple of 128, got 8}}
  %1 = tensor.extract_slice %transposed[0, 8] [2, 8] [1, 1]
       : tensor<4x16xf8E8M0FNU> to tensor<2x8xf8E8M0FNU>
  %e = blockscale.mma_scaled %x, %x_scale, %y, %1, %d
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %e : tensor<16x8xf32>
}

// -----

func.func @strides_and_wrong_programs(
    %x: tensor<16x64xf8E4M3FN>, %y: tensor<64x8xf8E5M2>,
    %y_scale: tensor<2x8xf8E8M0FNU>, %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %s = arith.constant dense<
    "0x7F7F7F7F7F7F7F7F80808080808080807F7F7F7F7F7F7F7F80808080808080807F7F7F7F7F7F7F7F80808080808080807F7F7F7F7F7F7F7F8080808080808080"> : tensor<16x4xf8E8M0FNU>
  // expected-remark@+1 {{expected strides of 1}}
  %0 = tensor.extract_slice %s[0, 0] [16, 2] [1, 2]
       : tensor<16x4xf8E8M0FNU> to tensor<16x2xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %0, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  %negative = arith.constant -128 : index
  // expected-remark@+1 {{expected offsets and sizes in the source}}
  %1 = tensor.extract_slice %s[%negative, 0] [16, 2] [1, 1]
       : tensor<16x4xf8E8M0FNU> to tensor<16x2xf8E8M0FNU>
  %e = blockscale.mma_scaled %x, %1, %y, %y_scale, %d
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %e : tensor<16x8xf32>
}

// -----

// A swizzle of the user, which cannot leave the loop: its padding is 0x00.
func.func @swizzle_in_loop(%s: tensor<256x4xf8E8M0FNU>, %from: index,
                           %to: index) {
  %c128 = arith.constant 128 : index
  %c0 = arith.constant 0 : index
  scf.for %m = %c0 to %to step %c128 {
    // expected-remark@+1 {{expected the size of rows to be a multiple of 128 or to reach the end of the source, got 100}}
    %tile = tensor.extract_slice %s[%m, 0] [100, 4] [1, 1]
            : tensor<256x4xf8E8M0FNU> to tensor<100x4xf8E8M0FNU>
    %t = blockscale.swizzle_scales %tile
         : tensor<100x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
    "test.use"(%t) : (tensor<1x1x32x16xf8E8M0FNU>) -> ()
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// Arguments that stay
//===----------------------------------------------------------------------===//

// expected-remark@+2 {{argument 1 stays row-major: it is used not only as scales}}
// expected-remark@+1 {{argument 3 stays row-major: expected static sizes, as atoms do not tell where scales end}}
func.func @other_use_and_dynamic(
    %x: tensor<16x32xf8E4M3FN>, %x_scale: tensor<16x1xf8E8M0FNU>,
    %y: tensor<32x?xf8E5M2>, %y_scale: tensor<1x?xf8E8M0FNU>,
    %acc: tensor<16x?xf32>) -> (tensor<16x?xf32>, tensor<16x1xf8E8M0FNU>) {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x?xf8E5M2>, tensor<1x?xf8E8M0FNU>, tensor<16x?xf32>
  // expected-note@+1 {{see here}}
  return %d, %x_scale : tensor<16x?xf32>, tensor<16x1xf8E8M0FNU>
}

// -----

// The elements of x are not scales, even where they have the type.
// expected-remark@+1 {{argument 0 stays row-major: it is used not only as scales}}
func.func @scales_and_elements(%s: tensor<64x64xf8E4M3FN>,
                               %x: tensor<64x1024xf4E2M1FN>,
                               %y: tensor<1024x8xf4E2M1FN>,
                               %y_scale: tensor<8x64xf8E4M3FN>,
                               %z: tensor<64x8xf8E5M2>,
                               %acc: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %init = tensor.empty() : tensor<64x8xf8E4M3FN>
  %transposed = linalg.transpose ins(%y_scale : tensor<8x64xf8E4M3FN>)
                outs(%init : tensor<64x8xf8E4M3FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %s, %y, %transposed, %acc
       : tensor<64x1024xf4E2M1FN>, tensor<64x64xf8E4M3FN>,
         tensor<1024x8xf4E2M1FN>, tensor<64x8xf8E4M3FN>, tensor<64x8xf32>
  %x_scale = arith.constant dense<2.0> : tensor<64x2xf8E8M0FNU>
  %z_scale = arith.constant dense<2.0> : tensor<2x8xf8E8M0FNU>
  // expected-note@+1 {{see here}}
  %e = blockscale.mma_scaled %s, %x_scale, %z, %z_scale, %d
       : tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<64x8xf32>
  return %e : tensor<64x8xf32>
}

// -----

// expected-remark@+1 {{argument 1 stays row-major: rows are its first dimension and its last one}}
func.func @both_orders(%x: tensor<2x64xf8E4M3FN>, %s: tensor<2x2xf8E8M0FNU>,
                       %y: tensor<64x2xf8E5M2>, %acc: tensor<2x2xf32>)
    -> tensor<2x2xf32> {
  %d = blockscale.mma_scaled %x, %s, %y, %s, %acc
       : tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU>,
         tensor<64x2xf8E5M2>, tensor<2x2xf8E8M0FNU>, tensor<2x2xf32>
  return %d : tensor<2x2xf32>
}

// -----

// expected-remark@+2 {{argument 1 stays row-major: a slice cuts an atom: expected the offset of blocks along K to be a multiple of 4, got 2}}
// expected-remark@+1 {{argument 3 stays row-major: it has a buffer layout of its own}}
func.func @slice_and_layout(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x4xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>,
    %y_scale: tensor<2x8xf8E8M0FNU>
        {bufferization.buffer_layout = affine_map<(d0, d1) -> (d0, d1)>},
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-note@+1 {{see here}}
  %s = tensor.extract_slice %x_scale[0, 2] [16, 2] [1, 1]
       : tensor<16x4xf8E8M0FNU> to tensor<16x2xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %s, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// The callee changes if it has no uses other than calls; recursion is not
// followed.

// expected-remark@+1 {{argument 0 stays row-major: what refers to the function is no call}}
func.func private @referred_to(
    %x_scale: tensor<16x1xf8E8M0FNU>, %x: tensor<16x32xf8E4M3FN>,
    %y: tensor<32x8xf8E5M2>, %acc: tensor<16x8xf32>) {
  %y_scale = arith.constant dense<2.0> : tensor<1x8xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return
}

// Its argument goes to a function that stays, so there is nothing to say.
func.func @takes_address(
    %x_scale: tensor<16x1xf8E8M0FNU>, %x: tensor<16x32xf8E4M3FN>,
    %y: tensor<32x8xf8E5M2>, %acc: tensor<16x8xf32>) {
  // expected-note@+1 {{see here}}
  %f = constant @referred_to
       : (tensor<16x1xf8E8M0FNU>, tensor<16x32xf8E4M3FN>,
          tensor<32x8xf8E5M2>, tensor<16x8xf32>) -> ()
  call_indirect %f(%x_scale, %x, %y, %acc)
      : (tensor<16x1xf8E8M0FNU>, tensor<16x32xf8E4M3FN>,
         tensor<32x8xf8E5M2>, tensor<16x8xf32>) -> ()
  return
}

// expected-remark@+1 {{argument 0 stays row-major: it is used not only as scales}}
func.func @recursive(%x_scale: tensor<16x1xf8E8M0FNU>,
                     %x: tensor<16x32xf8E4M3FN>, %y: tensor<32x8xf8E5M2>,
                     %acc: tensor<16x8xf32>) {
  %y_scale = arith.constant dense<2.0> : tensor<1x8xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  // expected-note@+1 {{see here}}
  call @recursive(%x_scale, %x, %y, %d)
      : (tensor<16x1xf8E8M0FNU>, tensor<16x32xf8E4M3FN>,
         tensor<32x8xf8E5M2>, tensor<16x8xf32>) -> ()
  return
}

// -----

// expected-remark@+1 {{signatures stay: there is an op of no known dialect with a region, which may call anything}}
module {
  "unknown.region"() ({
    "unknown.use"() {callee = @f} : () -> ()
  }) : () -> ()
  func.func @f(%x_scale: tensor<16x1xf8E8M0FNU>, %x: tensor<16x32xf8E4M3FN>,
               %y: tensor<32x8xf8E5M2>, %acc: tensor<16x8xf32>) {
    %y_scale = arith.constant dense<2.0> : tensor<1x8xf8E8M0FNU>
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
           tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
    return
  }
}
