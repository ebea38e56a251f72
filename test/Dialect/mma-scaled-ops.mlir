// Round trips of mma_scaled: custom form, and generic form in between. Every
// legal type combination is here once; no two operands have the same shape.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

//===----------------------------------------------------------------------===//
// (C9) The 27 legal type combinations
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @mma_scaled_c9_f8e4m3_f8e4m3_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f8e4m3_f8e4m3_block32(%x: tensor<16x64xf8E4M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf8E4M3FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f8e4m3_f8e5m2_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f8e4m3_f8e5m2_block32(%x: tensor<16x64xf8E4M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf8E5M2>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f8e4m3_f6e3m2_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f8e4m3_f6e3m2_block32(%x: tensor<16x64xf8E4M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf6E3M2FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f8e4m3_f6e2m3_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f8e4m3_f6e2m3_block32(%x: tensor<16x64xf8E4M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf6E2M3FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f8e4m3_f4e2m1_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f8e4m3_f4e2m1_block32(%x: tensor<16x64xf8E4M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf4E2M1FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f8e5m2_f8e4m3_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f8e5m2_f8e4m3_block32(%x: tensor<16x64xf8E5M2>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf8E4M3FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f8e5m2_f8e5m2_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f8e5m2_f8e5m2_block32(%x: tensor<16x64xf8E5M2>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf8E5M2>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f8e5m2_f6e3m2_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f8e5m2_f6e3m2_block32(%x: tensor<16x64xf8E5M2>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf6E3M2FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f8e5m2_f6e2m3_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f8e5m2_f6e2m3_block32(%x: tensor<16x64xf8E5M2>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf6E2M3FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f8e5m2_f4e2m1_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f8e5m2_f4e2m1_block32(%x: tensor<16x64xf8E5M2>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf4E2M1FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f6e3m2_f8e4m3_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf6E3M2FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f6e3m2_f8e4m3_block32(%x: tensor<16x64xf6E3M2FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf8E4M3FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf6E3M2FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f6e3m2_f8e5m2_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf6E3M2FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f6e3m2_f8e5m2_block32(%x: tensor<16x64xf6E3M2FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf8E5M2>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf6E3M2FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f6e3m2_f6e3m2_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf6E3M2FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f6e3m2_f6e3m2_block32(%x: tensor<16x64xf6E3M2FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf6E3M2FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf6E3M2FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f6e3m2_f6e2m3_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf6E3M2FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f6e3m2_f6e2m3_block32(%x: tensor<16x64xf6E3M2FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf6E2M3FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf6E3M2FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f6e3m2_f4e2m1_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf6E3M2FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f6e3m2_f4e2m1_block32(%x: tensor<16x64xf6E3M2FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf4E2M1FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf6E3M2FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f6e2m3_f8e4m3_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf6E2M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f6e2m3_f8e4m3_block32(%x: tensor<16x64xf6E2M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf8E4M3FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf6E2M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f6e2m3_f8e5m2_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf6E2M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f6e2m3_f8e5m2_block32(%x: tensor<16x64xf6E2M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf8E5M2>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf6E2M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f6e2m3_f6e3m2_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf6E2M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f6e2m3_f6e3m2_block32(%x: tensor<16x64xf6E2M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf6E3M2FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf6E2M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f6e2m3_f6e2m3_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf6E2M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f6e2m3_f6e2m3_block32(%x: tensor<16x64xf6E2M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf6E2M3FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf6E2M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f6e2m3_f4e2m1_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf6E2M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f6e2m3_f4e2m1_block32(%x: tensor<16x64xf6E2M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf4E2M1FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf6E2M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f4e2m1_f8e4m3_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f4e2m1_f8e4m3_block32(%x: tensor<16x64xf4E2M1FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf8E4M3FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f4e2m1_f8e5m2_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f4e2m1_f8e5m2_block32(%x: tensor<16x64xf4E2M1FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf8E5M2>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f4e2m1_f6e3m2_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f4e2m1_f6e3m2_block32(%x: tensor<16x64xf4E2M1FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf6E3M2FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f4e2m1_f6e2m3_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f4e2m1_f6e2m3_block32(%x: tensor<16x64xf4E2M1FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf6E2M3FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf6E2M3FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f4e2m1_f4e2m1_block32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f4e2m1_f4e2m1_block32(%x: tensor<16x64xf4E2M1FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<64x8xf4E2M1FN>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f4e2m1_f4e2m1_block16(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf4E2M1FN>, tensor<4x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c9_f4e2m1_f4e2m1_block16(%x: tensor<16x64xf4E2M1FN>,
                                               %x_scale: tensor<16x4xf8E8M0FNU>,
                                               %y: tensor<64x8xf4E2M1FN>,
                                               %y_scale: tensor<4x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E8M0FNU>,
         tensor<64x8xf4E2M1FN>, tensor<4x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_f4e2m1_f4e2m1_ue4m3_block16(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>,
// CHECK-SAME:      tensor<64x8xf4E2M1FN>, tensor<4x8xf8E4M3FN>, tensor<16x8xf32>
func.func @mma_scaled_c9_f4e2m1_f4e2m1_ue4m3_block16(%x: tensor<16x64xf4E2M1FN>,
                                                     %x_scale: tensor<16x4xf8E4M3FN>,
                                                     %y: tensor<64x8xf4E2M1FN>,
                                                     %y_scale: tensor<4x8xf8E4M3FN>,
                                                     %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>,
         tensor<64x8xf4E2M1FN>, tensor<4x8xf8E4M3FN>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

//===----------------------------------------------------------------------===//
// (C1) Vectors
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @mma_scaled_c1_vector(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : vector<16x64xf8E4M3FN>, vector<16x2xf8E8M0FNU>,
// CHECK-SAME:      vector<64x8xf6E3M2FN>, vector<2x8xf8E8M0FNU>, vector<16x8xf32>
func.func @mma_scaled_c1_vector(%x: vector<16x64xf8E4M3FN>,
                                %x_scale: vector<16x2xf8E8M0FNU>,
                                %y: vector<64x8xf6E3M2FN>,
                                %y_scale: vector<2x8xf8E8M0FNU>,
                                %acc: vector<16x8xf32>)
    -> vector<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : vector<16x64xf8E4M3FN>, vector<16x2xf8E8M0FNU>,
         vector<64x8xf6E3M2FN>, vector<2x8xf8E8M0FNU>,
         vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c1_vector_rank_3(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : vector<3x16x64xf4E2M1FN>, vector<3x16x4xf8E4M3FN>,
// CHECK-SAME:      vector<64x8xf4E2M1FN>, vector<4x8xf8E4M3FN>, vector<3x16x8xf32>
func.func @mma_scaled_c1_vector_rank_3(%x: vector<3x16x64xf4E2M1FN>,
                                       %x_scale: vector<3x16x4xf8E4M3FN>,
                                       %y: vector<64x8xf4E2M1FN>,
                                       %y_scale: vector<4x8xf8E4M3FN>,
                                       %acc: vector<3x16x8xf32>)
    -> vector<3x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : vector<3x16x64xf4E2M1FN>, vector<3x16x4xf8E4M3FN>,
         vector<64x8xf4E2M1FN>, vector<4x8xf8E4M3FN>,
         vector<3x16x8xf32>
  return %d : vector<3x16x8xf32>
}

//===----------------------------------------------------------------------===//
// (C2) and (C5) Ranks and batches
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @mma_scaled_c5_batch_equal(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<3x64x8xf6E3M2FN>, tensor<3x2x8xf8E8M0FNU>, tensor<3x16x8xf32>
func.func @mma_scaled_c5_batch_equal(%x: tensor<3x16x64xf8E4M3FN>,
                                     %x_scale: tensor<3x16x2xf8E8M0FNU>,
                                     %y: tensor<3x64x8xf6E3M2FN>,
                                     %y_scale: tensor<3x2x8xf8E8M0FNU>,
                                     %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>,
         tensor<3x64x8xf6E3M2FN>, tensor<3x2x8xf8E8M0FNU>,
         tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c5_batch_x_is_1(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<3x64x8xf6E3M2FN>, tensor<3x2x8xf8E8M0FNU>, tensor<3x16x8xf32>
func.func @mma_scaled_c5_batch_x_is_1(%x: tensor<1x16x64xf8E4M3FN>,
                                      %x_scale: tensor<1x16x2xf8E8M0FNU>,
                                      %y: tensor<3x64x8xf6E3M2FN>,
                                      %y_scale: tensor<3x2x8xf8E8M0FNU>,
                                      %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>,
         tensor<3x64x8xf6E3M2FN>, tensor<3x2x8xf8E8M0FNU>,
         tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c5_batch_y_is_1(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<1x64x8xf6E3M2FN>, tensor<1x2x8xf8E8M0FNU>, tensor<3x16x8xf32>
func.func @mma_scaled_c5_batch_y_is_1(%x: tensor<3x16x64xf8E4M3FN>,
                                      %x_scale: tensor<3x16x2xf8E8M0FNU>,
                                      %y: tensor<1x64x8xf6E3M2FN>,
                                      %y_scale: tensor<1x2x8xf8E8M0FNU>,
                                      %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>,
         tensor<1x64x8xf6E3M2FN>, tensor<1x2x8xf8E8M0FNU>,
         tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c5_batch_both_1(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<1x64x8xf6E3M2FN>, tensor<1x2x8xf8E8M0FNU>, tensor<1x16x8xf32>
func.func @mma_scaled_c5_batch_both_1(%x: tensor<1x16x64xf8E4M3FN>,
                                      %x_scale: tensor<1x16x2xf8E8M0FNU>,
                                      %y: tensor<1x64x8xf6E3M2FN>,
                                      %y_scale: tensor<1x2x8xf8E8M0FNU>,
                                      %acc: tensor<1x16x8xf32>)
    -> tensor<1x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>,
         tensor<1x64x8xf6E3M2FN>, tensor<1x2x8xf8E8M0FNU>,
         tensor<1x16x8xf32>
  return %d : tensor<1x16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c2_x_without_batch(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<3x64x8xf6E3M2FN>, tensor<3x2x8xf8E8M0FNU>, tensor<3x16x8xf32>
func.func @mma_scaled_c2_x_without_batch(%x: tensor<16x64xf8E4M3FN>,
                                         %x_scale: tensor<16x2xf8E8M0FNU>,
                                         %y: tensor<3x64x8xf6E3M2FN>,
                                         %y_scale: tensor<3x2x8xf8E8M0FNU>,
                                         %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<3x64x8xf6E3M2FN>, tensor<3x2x8xf8E8M0FNU>,
         tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c2_y_without_batch(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>, tensor<3x16x8xf32>
func.func @mma_scaled_c2_y_without_batch(%x: tensor<3x16x64xf8E4M3FN>,
                                         %x_scale: tensor<3x16x2xf8E8M0FNU>,
                                         %y: tensor<64x8xf6E3M2FN>,
                                         %y_scale: tensor<2x8xf8E8M0FNU>,
                                         %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>,
         tensor<64x8xf6E3M2FN>, tensor<2x8xf8E8M0FNU>,
         tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c2_x_without_batch_y_of_1(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<1x64x8xf6E3M2FN>, tensor<1x2x8xf8E8M0FNU>, tensor<1x16x8xf32>
func.func @mma_scaled_c2_x_without_batch_y_of_1(%x: tensor<16x64xf8E4M3FN>,
                                                %x_scale: tensor<16x2xf8E8M0FNU>,
                                                %y: tensor<1x64x8xf6E3M2FN>,
                                                %y_scale: tensor<1x2x8xf8E8M0FNU>,
                                                %acc: tensor<1x16x8xf32>)
    -> tensor<1x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<1x64x8xf6E3M2FN>, tensor<1x2x8xf8E8M0FNU>,
         tensor<1x16x8xf32>
  return %d : tensor<1x16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c5_batch_x_dynamic(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<?x16x64xf8E4M3FN>, tensor<?x16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<3x64x8xf6E3M2FN>, tensor<3x2x8xf8E8M0FNU>, tensor<3x16x8xf32>
func.func @mma_scaled_c5_batch_x_dynamic(%x: tensor<?x16x64xf8E4M3FN>,
                                         %x_scale: tensor<?x16x2xf8E8M0FNU>,
                                         %y: tensor<3x64x8xf6E3M2FN>,
                                         %y_scale: tensor<3x2x8xf8E8M0FNU>,
                                         %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<?x16x64xf8E4M3FN>, tensor<?x16x2xf8E8M0FNU>,
         tensor<3x64x8xf6E3M2FN>, tensor<3x2x8xf8E8M0FNU>,
         tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c5_batch_y_dynamic(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<?x64x8xf6E3M2FN>, tensor<?x2x8xf8E8M0FNU>, tensor<3x16x8xf32>
func.func @mma_scaled_c5_batch_y_dynamic(%x: tensor<3x16x64xf8E4M3FN>,
                                         %x_scale: tensor<3x16x2xf8E8M0FNU>,
                                         %y: tensor<?x64x8xf6E3M2FN>,
                                         %y_scale: tensor<?x2x8xf8E8M0FNU>,
                                         %acc: tensor<3x16x8xf32>)
    -> tensor<3x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>,
         tensor<?x64x8xf6E3M2FN>, tensor<?x2x8xf8E8M0FNU>,
         tensor<3x16x8xf32>
  return %d : tensor<3x16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c5_batch_of_acc_dynamic(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<1x64x8xf6E3M2FN>, tensor<1x2x8xf8E8M0FNU>, tensor<?x16x8xf32>
func.func @mma_scaled_c5_batch_of_acc_dynamic(%x: tensor<3x16x64xf8E4M3FN>,
                                              %x_scale: tensor<3x16x2xf8E8M0FNU>,
                                              %y: tensor<1x64x8xf6E3M2FN>,
                                              %y_scale: tensor<1x2x8xf8E8M0FNU>,
                                              %acc: tensor<?x16x8xf32>)
    -> tensor<?x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<3x16x64xf8E4M3FN>, tensor<3x16x2xf8E8M0FNU>,
         tensor<1x64x8xf6E3M2FN>, tensor<1x2x8xf8E8M0FNU>,
         tensor<?x16x8xf32>
  return %d : tensor<?x16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c5_batch_all_dynamic(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<?x16x64xf8E4M3FN>, tensor<?x16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<?x64x8xf6E3M2FN>, tensor<?x2x8xf8E8M0FNU>, tensor<?x16x8xf32>
func.func @mma_scaled_c5_batch_all_dynamic(%x: tensor<?x16x64xf8E4M3FN>,
                                           %x_scale: tensor<?x16x2xf8E8M0FNU>,
                                           %y: tensor<?x64x8xf6E3M2FN>,
                                           %y_scale: tensor<?x2x8xf8E8M0FNU>,
                                           %acc: tensor<?x16x8xf32>)
    -> tensor<?x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<?x16x64xf8E4M3FN>, tensor<?x16x2xf8E8M0FNU>,
         tensor<?x64x8xf6E3M2FN>, tensor<?x2x8xf8E8M0FNU>,
         tensor<?x16x8xf32>
  return %d : tensor<?x16x8xf32>
}

// One batch is 1 and the other unknown: acc may have any.

// CHECK-LABEL: func @mma_scaled_c5_batch_1_and_dynamic(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<?x64x8xf6E3M2FN>, tensor<?x2x8xf8E8M0FNU>, tensor<7x16x8xf32>
func.func @mma_scaled_c5_batch_1_and_dynamic(%x: tensor<1x16x64xf8E4M3FN>,
                                             %x_scale: tensor<1x16x2xf8E8M0FNU>,
                                             %y: tensor<?x64x8xf6E3M2FN>,
                                             %y_scale: tensor<?x2x8xf8E8M0FNU>,
                                             %acc: tensor<7x16x8xf32>)
    -> tensor<7x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>,
         tensor<?x64x8xf6E3M2FN>, tensor<?x2x8xf8E8M0FNU>,
         tensor<7x16x8xf32>
  return %d : tensor<7x16x8xf32>
}

//===----------------------------------------------------------------------===//
// (C7) Smallest sizes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @mma_scaled_c7_1x1x32(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<1x32xf8E5M2>, tensor<1x1xf8E8M0FNU>,
// CHECK-SAME:      tensor<32x1xf6E2M3FN>, tensor<1x1xf8E8M0FNU>, tensor<1x1xf32>
func.func @mma_scaled_c7_1x1x32(%x: tensor<1x32xf8E5M2>,
                                %x_scale: tensor<1x1xf8E8M0FNU>,
                                %y: tensor<32x1xf6E2M3FN>,
                                %y_scale: tensor<1x1xf8E8M0FNU>,
                                %acc: tensor<1x1xf32>)
    -> tensor<1x1xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<1x32xf8E5M2>, tensor<1x1xf8E8M0FNU>,
         tensor<32x1xf6E2M3FN>, tensor<1x1xf8E8M0FNU>,
         tensor<1x1xf32>
  return %d : tensor<1x1xf32>
}

// CHECK-LABEL: func @mma_scaled_c7_1x1x16(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : vector<1x16xf4E2M1FN>, vector<1x1xf8E4M3FN>,
// CHECK-SAME:      vector<16x1xf4E2M1FN>, vector<1x1xf8E4M3FN>, vector<1x1xf32>
func.func @mma_scaled_c7_1x1x16(%x: vector<1x16xf4E2M1FN>,
                                %x_scale: vector<1x1xf8E4M3FN>,
                                %y: vector<16x1xf4E2M1FN>,
                                %y_scale: vector<1x1xf8E4M3FN>,
                                %acc: vector<1x1xf32>)
    -> vector<1x1xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : vector<1x16xf4E2M1FN>, vector<1x1xf8E4M3FN>,
         vector<16x1xf4E2M1FN>, vector<1x1xf8E4M3FN>,
         vector<1x1xf32>
  return %d : vector<1x1xf32>
}

// CHECK-LABEL: func @mma_scaled_c9_odd_number_of_blocks(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<5x96xf8E5M2>, tensor<5x3xf8E8M0FNU>,
// CHECK-SAME:      tensor<96x7xf4E2M1FN>, tensor<3x7xf8E8M0FNU>, tensor<5x7xf32>
func.func @mma_scaled_c9_odd_number_of_blocks(%x: tensor<5x96xf8E5M2>,
                                              %x_scale: tensor<5x3xf8E8M0FNU>,
                                              %y: tensor<96x7xf4E2M1FN>,
                                              %y_scale: tensor<3x7xf8E8M0FNU>,
                                              %acc: tensor<5x7xf32>)
    -> tensor<5x7xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<5x96xf8E5M2>, tensor<5x3xf8E8M0FNU>,
         tensor<96x7xf4E2M1FN>, tensor<3x7xf8E8M0FNU>,
         tensor<5x7xf32>
  return %d : tensor<5x7xf32>
}

//===----------------------------------------------------------------------===//
// (C10) Dynamic sizes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @mma_scaled_c10_all_dynamic(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    {block_size = 32 : i64}
// CHECK-SAME:    : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>,
// CHECK-SAME:      tensor<?x?xf8E5M2>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf32>
func.func @mma_scaled_c10_all_dynamic(%x: tensor<?x?xf8E4M3FN>,
                                      %x_scale: tensor<?x?xf8E8M0FNU>,
                                      %y: tensor<?x?xf8E5M2>,
                                      %y_scale: tensor<?x?xf8E8M0FNU>,
                                      %acc: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 32 : i64}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>,
         tensor<?x?xf8E5M2>, tensor<?x?xf8E8M0FNU>,
         tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func @mma_scaled_c10_block16(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    {block_size = 16 : i64}
// CHECK-SAME:    : tensor<?x?xf4E2M1FN>, tensor<?x?xf8E8M0FNU>,
// CHECK-SAME:      tensor<?x?xf4E2M1FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf32>
func.func @mma_scaled_c10_block16(%x: tensor<?x?xf4E2M1FN>,
                                  %x_scale: tensor<?x?xf8E8M0FNU>,
                                  %y: tensor<?x?xf4E2M1FN>,
                                  %y_scale: tensor<?x?xf8E8M0FNU>,
                                  %acc: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 16 : i64}
       : tensor<?x?xf4E2M1FN>, tensor<?x?xf8E8M0FNU>,
         tensor<?x?xf4E2M1FN>, tensor<?x?xf8E8M0FNU>,
         tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func @mma_scaled_c10_static_k_dynamic_k_s(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    {block_size = 32 : i64}
// CHECK-SAME:    : tensor<16x64xf8E4M3FN>, tensor<16x?xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E5M2>, tensor<?x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c10_static_k_dynamic_k_s(%x: tensor<16x64xf8E4M3FN>,
                                               %x_scale: tensor<16x?xf8E8M0FNU>,
                                               %y: tensor<64x8xf8E5M2>,
                                               %y_scale: tensor<?x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 32 : i64}
       : tensor<16x64xf8E4M3FN>, tensor<16x?xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<?x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c10_dynamic_k_static_k_s(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    {block_size = 32 : i64}
// CHECK-SAME:    : tensor<16x?xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<?x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c10_dynamic_k_static_k_s(%x: tensor<16x?xf8E4M3FN>,
                                               %x_scale: tensor<16x2xf8E8M0FNU>,
                                               %y: tensor<?x8xf8E5M2>,
                                               %y_scale: tensor<2x8xf8E8M0FNU>,
                                               %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 32 : i64}
       : tensor<16x?xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<?x8xf8E5M2>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Both K and K_s are known, though each only from one operand.

// CHECK-LABEL: func @mma_scaled_c10_k_only_of_y_k_s_only_of_x(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x?xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E5M2>, tensor<?x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c10_k_only_of_y_k_s_only_of_x(%x: tensor<16x?xf8E4M3FN>,
                                                    %x_scale: tensor<16x2xf8E8M0FNU>,
                                                    %y: tensor<64x8xf8E5M2>,
                                                    %y_scale: tensor<?x8xf8E8M0FNU>,
                                                    %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x?xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<?x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c10_static_with_block_size(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    {block_size = 32 : i64}
// CHECK-SAME:    : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
func.func @mma_scaled_c10_static_with_block_size(%x: tensor<16x64xf8E4M3FN>,
                                                 %x_scale: tensor<16x2xf8E8M0FNU>,
                                                 %y: tensor<64x8xf8E5M2>,
                                                 %y_scale: tensor<2x8xf8E8M0FNU>,
                                                 %acc: tensor<16x8xf32>)
    -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 32 : i64}
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @mma_scaled_c3_c6_static_beside_dynamic(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:    : tensor<16x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>,
// CHECK-SAME:      tensor<64x?xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<?x?xf32>
func.func @mma_scaled_c3_c6_static_beside_dynamic(%x: tensor<16x64xf8E4M3FN>,
                                                  %x_scale: tensor<?x2xf8E8M0FNU>,
                                                  %y: tensor<64x?xf8E5M2>,
                                                  %y_scale: tensor<2x8xf8E8M0FNU>,
                                                  %acc: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>,
         tensor<64x?xf8E5M2>, tensor<2x8xf8E8M0FNU>,
         tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

//===----------------------------------------------------------------------===//
// Generic form
//===----------------------------------------------------------------------===//

// GENERIC-LABEL: sym_name = "mma_scaled_generic"
// GENERIC:         %{{.*}} = "blockscale.mma_scaled"
// GENERIC-SAME:      <{block_size = 32 : i64}> {my.note = "kept"}
// GENERIC-SAME:      : (tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
// GENERIC-SAME: tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>,
// GENERIC-SAME: tensor<16x8xf32>) -> tensor<16x8xf32>

// CHECK-LABEL: func @mma_scaled_generic(
// CHECK-SAME:    %[[X:.*]]: tensor<16x64xf8E4M3FN>, %[[X_SCALE:.*]]: tensor<16x2xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:.*]]: tensor<64x8xf8E5M2>, %[[Y_SCALE:.*]]: tensor<2x8xf8E8M0FNU>,
// CHECK-SAME:    %[[ACC:.*]]: tensor<16x8xf32>
// CHECK:         blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]], %[[ACC]]
// CHECK-SAME:      {block_size = 32 : i64, my.note = "kept"}
func.func @mma_scaled_generic(%x: tensor<16x64xf8E4M3FN>,
                              %x_scale: tensor<16x2xf8E8M0FNU>,
                              %y: tensor<64x8xf8E5M2>,
                              %y_scale: tensor<2x8xf8E8M0FNU>,
                              %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = "blockscale.mma_scaled"(%x, %x_scale, %y, %y_scale, %acc)
       <{block_size = 32 : i64}> {my.note = "kept"}
       : (tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
          tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
