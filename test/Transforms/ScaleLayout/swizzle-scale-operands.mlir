// Swizzles that are inserted for constants, and where none are. Loops, slices
// and arguments have files of their own.

// RUN: blockscale-opt %s --blockscale-swizzle-scale-operands | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-swizzle-scale-operands | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100f --blockscale-swizzle-scale-operands | FileCheck %s
// RUN: blockscale-opt %s --blockscale-swizzle-scale-operands --canonicalize --cse | FileCheck %s

// Chips that compute without an instruction.
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-swizzle-scale-operands | FileCheck %s --check-prefix=NONE
// RUN: blockscale-opt %s --blockscale-attach-target=target=cpu --blockscale-swizzle-scale-operands | FileCheck %s --check-prefix=NONE
// NONE-NOT: unswizzle_scales %cst

// RUN: not blockscale-opt %s --blockscale-attach-target=target=sm_120 --blockscale-swizzle-scale-operands 2>&1 | FileCheck %s --check-prefix=LETTER
// LETTER: error: unknown target 'sm_120': block-scaled instructions need the letter, expected sm_120a or sm_120f
// RUN: not blockscale-opt %s --blockscale-attach-target=target=zx80 --blockscale-swizzle-scale-operands 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unknown target 'zx80', expected one of cpu sm_80

// Row 1 has outer index 1, row 32 the second word of outer index 0; 3 of the 4
// bytes of a word are padding. For y, the rows are N: two outer indices.
// CHECK-LABEL: func.func @constants(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<33x32xf8E4M3FN>, %[[Y:[a-z0-9]+]]: tensor<32x2xf8E5M2>, %[[ACC:[a-z0-9]+]]: tensor<33x2xf32>
// CHECK-DAG:     %[[X_SCALE_T:.*]] = arith.constant dense<"0x80000000FF00000000000000000000007F0000000000000000000000000000008100000000000000000000000000000081
// CHECK-DAG:     %[[Y_SCALE_T:.*]] = arith.constant dense<"0x7000000000000000000000000000000071{{0*}}"> : tensor<1x1x32x16xf8E8M0FNU>
// CHECK:         %[[X_SCALE:.*]] = blockscale.unswizzle_scales %[[X_SCALE_T]] : tensor<1x1x32x16xf8E8M0FNU> to tensor<33x1xf8E8M0FNU>
// CHECK:         %[[Y_SCALE_NK:.*]] = blockscale.unswizzle_scales %[[Y_SCALE_T]] : tensor<1x1x32x16xf8E8M0FNU> to tensor<2x1xf8E8M0FNU>
// CHECK:         %[[Y_SCALE:.*]] = linalg.transpose ins(%[[Y_SCALE_NK]] : tensor<2x1xf8E8M0FNU>) {{.*}} permutation = [1, 0]
// CHECK:         blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]], %[[ACC]]
func.func @constants(%x: tensor<33x32xf8E4M3FN>, %y: tensor<32x2xf8E5M2>,
                     %acc: tensor<33x2xf32>) -> tensor<33x2xf32> {
  %x_scale = arith.constant dense<[
    [2.0], [1.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0],
    [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0],
    [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [4.0], [0xFF]
  ]> : tensor<33x1xf8E8M0FNU>
  %y_scale = arith.constant dense<"0x7071"> : tensor<1x2xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<33x32xf8E4M3FN>, tensor<33x1xf8E8M0FNU>,
         tensor<32x2xf8E5M2>, tensor<1x2xf8E8M0FNU>, tensor<33x2xf32>
  return %d : tensor<33x2xf32>
}

// A splat has a splat's padding. Both ops share one constant, y another one.
// CHECK-LABEL: func.func @splats(
// CHECK-DAG:     %[[X_SCALE_T:.*]] = arith.constant dense<2.000000e+00> : tensor<1x1x32x16xf8E8M0FNU>
// CHECK-NOT:     arith.constant dense
// CHECK:         %[[A:.*]] = blockscale.unswizzle_scales %[[X_SCALE_T]] : tensor<1x1x32x16xf8E8M0FNU> to tensor<32x1xf8E8M0FNU>
// CHECK:         blockscale.mma_scaled %{{.*}}, %[[A]], %{{.*}}, %{{.*}}, %{{.*}} :
// CHECK:         return
func.func @splats(%x: tensor<32x32xf8E4M3FN>, %y: tensor<32x32xf8E5M2>,
                  %y_scale: tensor<1x32xf8E8M0FNU>, %acc: tensor<32x32xf32>)
    -> tensor<32x32xf32> {
  %scale = arith.constant dense<2.0> : tensor<32x1xf8E8M0FNU>
  %d0 = blockscale.mma_scaled %x, %scale, %y, %y_scale, %acc
        : tensor<32x32xf8E4M3FN>, tensor<32x1xf8E8M0FNU>,
          tensor<32x32xf8E5M2>, tensor<1x32xf8E8M0FNU>, tensor<32x32xf32>
  %d1 = blockscale.mma_scaled %x, %scale, %y, %y_scale, %d0
        : tensor<32x32xf8E4M3FN>, tensor<32x1xf8E8M0FNU>,
          tensor<32x32xf8E5M2>, tensor<1x32xf8E8M0FNU>, tensor<32x32xf32>
  return %d1 : tensor<32x32xf32>
}

// The slices of a constant are those of the swizzled one, in straight code too,
// and uses of the row-major constant keep it.
// CHECK-LABEL: func.func @slices_of_constant(
// CHECK-DAG:     %[[SCALES_T:.*]] = arith.constant dense<"0x{{[0-9A-F]+}}"> : tensor<1x2x32x16xf8E4M3FN>
// CHECK-DAG:     %[[SCALES:.*]] = arith.constant dense<{{\[\[}}1.0{{.*}}> : tensor<1x8xf8E4M3FN>
// CHECK:         %[[SLICE:.*]] = tensor.extract_slice %[[SCALES_T]][0, 1, 0, 0] [1, 1, 32, 16] [1, 1, 1, 1]
// CHECK:         %[[SLICE_K:.*]] = blockscale.unswizzle_scales %[[SLICE]] : tensor<1x1x32x16xf8E4M3FN> to tensor<1x4xf8E4M3FN>
// CHECK:         blockscale.mma_scaled %{{.*}}, %[[SLICE_K]],
// CHECK:         return %{{.*}}, %[[SCALES]]
func.func @slices_of_constant(%x: tensor<1x64xf4E2M1FN>,
                              %y: tensor<64x1xf4E2M1FN>,
                              %y_scale: tensor<4x1xf8E4M3FN>,
                              %acc: tensor<1x1xf32>)
    -> (tensor<1x1xf32>, tensor<1x8xf8E4M3FN>) {
  %scales = arith.constant dense<
    [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<1x8xf8E4M3FN>
  %slice = tensor.extract_slice %scales[0, 4] [1, 4] [1, 1]
           : tensor<1x8xf8E4M3FN> to tensor<1x4xf8E4M3FN>
  %d = blockscale.mma_scaled %x, %slice, %y, %y_scale, %acc
       : tensor<1x64xf4E2M1FN>, tensor<1x4xf8E4M3FN>,
         tensor<64x1xf4E2M1FN>, tensor<4x1xf8E4M3FN>, tensor<1x1xf32>
  return %d, %scales : tensor<1x1xf32>, tensor<1x8xf8E4M3FN>
}

// Scales that are swizzled already are in their final form.
// CHECK-LABEL: func.func @swizzled(
// CHECK-SAME:    %{{[a-z0-9]+}}: {{[^,]*}}, %[[X_SCALE_T:[a-z0-9]+]]:
// CHECK-NEXT:    %[[X_SCALE:.*]] = blockscale.unswizzle_scales %[[X_SCALE_T]]
// CHECK-NEXT:    blockscale.mma_scaled %{{.*}}, %[[X_SCALE]],
func.func @swizzled(%x: tensor<32x32xf8E4M3FN>,
                    %x_scale_t: tensor<1x1x32x16xf8E8M0FNU>,
                    %y: tensor<32x32xf8E5M2>, %y_scale: tensor<1x32xf8E8M0FNU>,
                    %acc: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %x_scale = blockscale.unswizzle_scales %x_scale_t
             : tensor<1x1x32x16xf8E8M0FNU> to tensor<32x1xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<32x32xf8E4M3FN>, tensor<32x1xf8E8M0FNU>,
         tensor<32x32xf8E5M2>, tensor<1x32xf8E8M0FNU>, tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}

//===----------------------------------------------------------------------===//
// Nothing to gain: a swizzle would be read once, and fold
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @arguments(
// CHECK-NEXT:    blockscale.mma_scaled
func.func @arguments(%x: tensor<32x32xf8E4M3FN>, %x_scale: tensor<32x1xf8E8M0FNU>,
                     %y: tensor<32x32xf8E5M2>, %y_scale: tensor<1x32xf8E8M0FNU>,
                     %acc: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<32x32xf8E4M3FN>, tensor<32x1xf8E8M0FNU>,
         tensor<32x32xf8E5M2>, tensor<1x32xf8E8M0FNU>, tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}

// CHECK-LABEL: func.func @slice_in_straight_code(
// CHECK-NEXT:    tensor.extract_slice
// CHECK-NEXT:    blockscale.mma_scaled
func.func @slice_in_straight_code(
    %x: tensor<32x32xf8E4M3FN>, %x_scales: tensor<160x1xf8E8M0FNU>,
    %y: tensor<32x32xf8E5M2>, %y_scale: tensor<1x32xf8E8M0FNU>,
    %acc: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %x_scale = tensor.extract_slice %x_scales[128, 0] [32, 1] [1, 1]
             : tensor<160x1xf8E8M0FNU> to tensor<32x1xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<32x32xf8E4M3FN>, tensor<32x1xf8E8M0FNU>,
         tensor<32x32xf8E5M2>, tensor<1x32xf8E8M0FNU>, tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}

// Whole scales in a loop, and scales that it carries.
// CHECK-LABEL: func.func @whole_in_loop(
// CHECK-NOT:     swizzle_scales
// CHECK:         scf.for
// CHECK-NEXT:      blockscale.mma_scaled
func.func @whole_in_loop(%x: tensor<32x32xf8E4M3FN>,
                         %x_scale: tensor<32x1xf8E8M0FNU>,
                         %other: tensor<32x1xf8E8M0FNU>,
                         %y: tensor<32x32xf8E5M2>,
                         %y_scale: tensor<1x32xf8E8M0FNU>,
                         %acc: tensor<32x32xf32>, %from: index, %to: index)
    -> tensor<32x32xf32> {
  %d:3 = scf.for %i = %from to %to step %to
      iter_args(%sum = %acc, %now = %x_scale, %next = %other)
      -> (tensor<32x32xf32>, tensor<32x1xf8E8M0FNU>, tensor<32x1xf8E8M0FNU>) {
    %s = blockscale.mma_scaled %x, %now, %y, %y_scale, %sum
         : tensor<32x32xf8E4M3FN>, tensor<32x1xf8E8M0FNU>,
           tensor<32x32xf8E5M2>, tensor<1x32xf8E8M0FNU>, tensor<32x32xf32>
    scf.yield %s, %next, %now : tensor<32x32xf32>, tensor<32x1xf8E8M0FNU>, tensor<32x1xf8E8M0FNU>
  }
  return %d#0 : tensor<32x32xf32>
}

// CHECK-LABEL: func.func @path_decompose(
// CHECK-NOT:     swizzle_scales
// CHECK:         blockscale.mma_scaled
func.func @path_decompose(%x: tensor<32x32xf8E4M3FN>, %y: tensor<32x32xf8E5M2>,
                          %y_scale: tensor<1x32xf8E8M0FNU>,
                          %acc: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %scale = arith.constant dense<2.0> : tensor<32x1xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %scale, %y, %y_scale, %acc
       {blockscale.path = #blockscale.path<decompose>}
       : tensor<32x32xf8E4M3FN>, tensor<32x1xf8E8M0FNU>,
         tensor<32x32xf8E5M2>, tensor<1x32xf8E8M0FNU>, tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}

// CHECK-LABEL: func.func @vectors(
// CHECK-NOT:     swizzle_scales
// CHECK:         blockscale.mma_scaled
func.func @vectors(%x: vector<32x32xf8E4M3FN>, %y: vector<32x32xf8E5M2>,
                   %y_scale: vector<1x32xf8E8M0FNU>, %acc: vector<32x32xf32>)
    -> vector<32x32xf32> {
  %scale = arith.constant dense<2.0> : vector<32x1xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %scale, %y, %y_scale, %acc
       : vector<32x32xf8E4M3FN>, vector<32x1xf8E8M0FNU>,
         vector<32x32xf8E5M2>, vector<1x32xf8E8M0FNU>, vector<32x32xf32>
  return %d : vector<32x32xf32>
}

// Constants in resource blobs.
// CHECK-LABEL: func.func @resource(
// CHECK-NOT:     swizzle_scales
// CHECK:         blockscale.mma_scaled
func.func @resource(%x: tensor<32x32xf8E4M3FN>, %y: tensor<32x32xf8E5M2>,
                    %y_scale: tensor<1x32xf8E8M0FNU>, %acc: tensor<32x32xf32>)
    -> tensor<32x32xf32> {
  %scale = arith.constant dense_resource<scales> : tensor<32x1xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %scale, %y, %y_scale, %acc
       : tensor<32x32xf8E4M3FN>, tensor<32x1xf8E8M0FNU>,
         tensor<32x32xf8E5M2>, tensor<1x32xf8E8M0FNU>, tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}
