// Swizzles that the user wrote, through slices that keep atoms whole and
// through transposes; pairs that cancel.

// RUN: blockscale-opt %s --blockscale-swizzle-scale-operands --cse --split-input-file --allow-unregistered-dialect | FileCheck %s

//===----------------------------------------------------------------------===//
// swizzle(slice(s))
//===----------------------------------------------------------------------===//

// Rows 128 to the end of 300, blocks 4 to 8 of 9.
// CHECK-LABEL: func.func @swizzle_of_slice(
// CHECK-SAME:    %[[S:.*]]: tensor<300x9xf8E8M0FNU>)
// CHECK-NEXT:    %[[T:.*]] = blockscale.swizzle_scales %[[S]] : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
// CHECK-NEXT:    %[[SLICE:.*]] = tensor.extract_slice %[[T]][1, 1, 0, 0] [2, 1, 32, 16] [1, 1, 1, 1] : tensor<3x3x32x16xf8E8M0FNU> to tensor<2x1x32x16xf8E8M0FNU>
// CHECK-NEXT:    return %[[SLICE]]
func.func @swizzle_of_slice(%s: tensor<300x9xf8E8M0FNU>)
    -> tensor<2x1x32x16xf8E8M0FNU> {
  %slice = tensor.extract_slice %s[128, 4] [172, 4] [1, 1]
           : tensor<300x9xf8E8M0FNU> to tensor<172x4xf8E8M0FNU>
  %t = blockscale.swizzle_scales %slice
       : tensor<172x4xf8E8M0FNU> to tensor<2x1x32x16xf8E8M0FNU>
  return %t : tensor<2x1x32x16xf8E8M0FNU>
}

// Of K_s x N: 8 blocks from 4 on, 128 rows from 256 on.
// CHECK-LABEL: func.func @swizzle_of_transposed_slices(
// CHECK-SAME:    %[[S:.*]]: tensor<2x16x512xf8E4M3FN>)
// CHECK:         %[[TRANSPOSED:.*]] = linalg.transpose ins(%[[S]] : {{.*}}) outs(%{{.*}} : tensor<2x512x16xf8E4M3FN>) permutation = [0, 2, 1]
// CHECK-NEXT:    %[[T:.*]] = blockscale.swizzle_scales %[[TRANSPOSED]] : tensor<2x512x16xf8E4M3FN> to tensor<2x4x4x32x16xf8E4M3FN>
// CHECK-NEXT:    %[[BLOCKS:.*]] = tensor.extract_slice %[[T]][1, 0, 1, 0, 0] [1, 4, 2, 32, 16] [1, 1, 1, 1, 1] : {{.*}} to tensor<4x2x32x16xf8E4M3FN>
// CHECK-NEXT:    %[[ROWS:.*]] = tensor.extract_slice %[[BLOCKS]][2, 0, 0, 0] [1, 2, 32, 16] [1, 1, 1, 1] : {{.*}} to tensor<1x2x32x16xf8E4M3FN>
// CHECK-NEXT:    return %[[ROWS]]
func.func @swizzle_of_transposed_slices(%s: tensor<2x16x512xf8E4M3FN>)
    -> tensor<1x2x32x16xf8E4M3FN> {
  %blocks = tensor.extract_slice %s[1, 4, 0] [1, 8, 512] [1, 1, 1]
            : tensor<2x16x512xf8E4M3FN> to tensor<8x512xf8E4M3FN>
  %init = tensor.empty() : tensor<512x8xf8E4M3FN>
  %transposed = linalg.transpose ins(%blocks : tensor<8x512xf8E4M3FN>)
                outs(%init : tensor<512x8xf8E4M3FN>) permutation = [1, 0]
  %rows = tensor.extract_slice %transposed[256, 0] [128, 8] [1, 1]
          : tensor<512x8xf8E4M3FN> to tensor<128x8xf8E4M3FN>
  %t = blockscale.swizzle_scales %rows
       : tensor<128x8xf8E4M3FN> to tensor<1x2x32x16xf8E4M3FN>
  return %t : tensor<1x2x32x16xf8E4M3FN>
}

// -----

// Offsets that are known to be multiples, in each way.

// CHECK-DAG:   #[[$ROWS:.*]] = affine_map<(d0) -> (d0 floordiv 128)>
// CHECK-DAG:   #[[$BLOCKS:.*]] = affine_map<(d0) -> (d0 floordiv 4)>
// CHECK-LABEL: func.func @offsets(
// CHECK-SAME:    %[[S:[a-z0-9]+]]: tensor<1024x64xf8E8M0FNU>, %[[I:[a-z0-9]+]]: index
// CHECK:         %[[T:.*]] = blockscale.swizzle_scales %[[S]]
// CHECK-NEXT:    scf.for %[[IV:.*]] =
// CHECK:           tensor.extract_slice %[[T]][%[[I]], 0, 0, 0] [1, 1, 32, 16]
// CHECK:           %[[SUM:.*]] = arith.addi
// CHECK:           %[[ATOM:.*]] = affine.apply #[[$ROWS]](%[[SUM]])
// CHECK:           tensor.extract_slice %[[T]][%[[ATOM]], 0, 0, 0] [1, 1, 32, 16]
// CHECK:           %[[QUOTIENT:.*]] = arith.divui %[[IV]], %{{.*}} : index
// CHECK:           %[[ATOM:.*]] = affine.apply #[[$BLOCKS]](%[[QUOTIENT]])
// CHECK:           tensor.extract_slice %[[T]][0, %[[ATOM]], 0, 0] [1, 1, 32, 16]
// CHECK-NOT:       {{ blockscale.swizzle_scales}}
func.func @offsets(%s: tensor<1024x64xf8E8M0FNU>, %i: index, %to: index) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  scf.for %iv = %c128 to %to step %c256 {
    %product = affine.apply affine_map<(i) -> (i * 128)>(%i)
    %0 = tensor.extract_slice %s[%product, 0] [128, 4] [1, 1]
         : tensor<1024x64xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
    %t0 = blockscale.swizzle_scales %0
          : tensor<128x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
    "test.use"(%t0) : (tensor<1x1x32x16xf8E8M0FNU>) -> ()

    %multiple = arith.muli %i, %c256 : index
    %shifted = arith.shli %multiple, %c1 : index
    %minimum = arith.minsi %shifted, %c256 : index
    %sum = arith.addi %minimum, %iv : index
    %1 = tensor.extract_slice %s[%sum, 0] [128, 4] [1, 1]
         : tensor<1024x64xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
    %t1 = blockscale.swizzle_scales %1
          : tensor<128x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
    "test.use"(%t1) : (tensor<1x1x32x16xf8E8M0FNU>) -> ()

    // Blocks of 32 elements, from an offset of elements.
    %quotient = arith.divui %iv, %c32 : index
    %2 = tensor.extract_slice %s[0, %quotient] [128, 4] [1, 1]
         : tensor<1024x64xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
    %t2 = blockscale.swizzle_scales %2
          : tensor<128x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
    "test.use"(%t2) : (tensor<1x1x32x16xf8E8M0FNU>) -> ()
  }
  return
}

// -----

// Slices that end inside an atom have padding, which is not 0x00 in a slice of
// the swizzled scales: these stay, and so do those whose end is not known.
// CHECK-LABEL: func.func @swizzle_of_slice_with_padding(
// CHECK-COUNT-5: blockscale.swizzle_scales %extracted_slice
// CHECK:         return
func.func @swizzle_of_slice_with_padding(%s: tensor<300x9xf8E8M0FNU>,
                                         %rows: index) {
  %0 = tensor.extract_slice %s[128, 4] [100, 4] [1, 1]
       : tensor<300x9xf8E8M0FNU> to tensor<100x4xf8E8M0FNU>
  %t0 = blockscale.swizzle_scales %0
        : tensor<100x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  "test.use"(%t0) : (tensor<1x1x32x16xf8E8M0FNU>) -> ()
  %1 = tensor.extract_slice %s[128, 4] [128, 3] [1, 1]
       : tensor<300x9xf8E8M0FNU> to tensor<128x3xf8E8M0FNU>
  %t1 = blockscale.swizzle_scales %1
        : tensor<128x3xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  "test.use"(%t1) : (tensor<1x1x32x16xf8E8M0FNU>) -> ()
  %2 = tensor.extract_slice %s[256, 0] [%rows, 8] [1, 1]
       : tensor<300x9xf8E8M0FNU> to tensor<?x8xf8E8M0FNU>
  %t2 = blockscale.swizzle_scales %2
        : tensor<?x8xf8E8M0FNU> to tensor<?x2x32x16xf8E8M0FNU>
  "test.use"(%t2) : (tensor<?x2x32x16xf8E8M0FNU>) -> ()
  // Offsets, strides.
  %3 = tensor.extract_slice %s[64, 0] [128, 8] [1, 1]
       : tensor<300x9xf8E8M0FNU> to tensor<128x8xf8E8M0FNU>
  %t3 = blockscale.swizzle_scales %3
        : tensor<128x8xf8E8M0FNU> to tensor<1x2x32x16xf8E8M0FNU>
  "test.use"(%t3) : (tensor<1x2x32x16xf8E8M0FNU>) -> ()
  %4 = tensor.extract_slice %s[0, 0] [128, 4] [1, 2]
       : tensor<300x9xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
  %t4 = blockscale.swizzle_scales %4
        : tensor<128x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  "test.use"(%t4) : (tensor<1x1x32x16xf8E8M0FNU>) -> ()
  return
}

// A loop that makes the scales would swizzle all of them for a slice.
// CHECK-LABEL: func.func @source_made_in_loop(
// CHECK:         scf.for
// CHECK:           %[[SCALES:.*]] = "test.scales"
// CHECK:           %[[SLICE:.*]] = tensor.extract_slice %[[SCALES]]
// CHECK:           blockscale.swizzle_scales %[[SLICE]]
func.func @source_made_in_loop(%from: index, %to: index) {
  scf.for %i = %from to %to step %to {
    %scales = "test.scales"() : () -> tensor<512x4xf8E8M0FNU>
    %slice = tensor.extract_slice %scales[128, 0] [128, 4] [1, 1]
             : tensor<512x4xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
    %t = blockscale.swizzle_scales %slice
         : tensor<128x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
    "test.use"(%t) : (tensor<1x1x32x16xf8E8M0FNU>) -> ()
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// slice(unswizzle(t))
//===----------------------------------------------------------------------===//

// An unswizzle does not see padding, so that the slice may end anywhere.
// CHECK-LABEL: func.func @slice_of_unswizzle(
// CHECK-SAME:    %[[T:.*]]: tensor<3x3x32x16xf8E8M0FNU>)
// CHECK-NEXT:    %[[SLICE:.*]] = tensor.extract_slice %[[T]][1, 1, 0, 0] [1, 2, 32, 16] [1, 1, 1, 1] : tensor<3x3x32x16xf8E8M0FNU> to tensor<1x2x32x16xf8E8M0FNU>
// CHECK-NEXT:    %[[S:.*]] = blockscale.unswizzle_scales %[[SLICE]] : tensor<1x2x32x16xf8E8M0FNU> to tensor<100x5xf8E8M0FNU>
// CHECK-NEXT:    return %[[S]]
func.func @slice_of_unswizzle(%t: tensor<3x3x32x16xf8E8M0FNU>)
    -> tensor<100x5xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  %slice = tensor.extract_slice %s[128, 4] [100, 5] [1, 1]
           : tensor<300x9xf8E8M0FNU> to tensor<100x5xf8E8M0FNU>
  return %slice : tensor<100x5xf8E8M0FNU>
}

// -----

// As scales of y: blocks come first, and the batch is dropped. Sizes and
// offsets are not known.
// CHECK:       #[[$ATOMS:.*]] = affine_map<()[s0] -> (s0 ceildiv 4)>
// CHECK-LABEL: func.func @slice_of_transposed_unswizzle(
// CHECK-SAME:    %[[T:[a-z0-9]+]]: tensor<2x?x3x32x16xf8E8M0FNU>, %[[N:[a-z0-9]+]]: index, %[[I:[a-z0-9]+]]: index, %[[SIZE:[a-z0-9]+]]: index)
// CHECK-DAG:     %[[ATOMS:.*]] = affine.apply #[[$ATOMS]]()[%[[SIZE]]]
// CHECK-DAG:     %[[SLICE:.*]] = tensor.extract_slice %[[T]][1, %[[I]], 0, 0, 0] [1, 1, %[[ATOMS]], 32, 16] [1, 1, 1, 1, 1] : {{.*}} to tensor<1x?x32x16xf8E8M0FNU>
// CHECK:         %[[S:.*]] = blockscale.unswizzle_scales %[[SLICE]] sizes(%[[SIZE]]) : tensor<1x?x32x16xf8E8M0FNU> to tensor<128x?xf8E8M0FNU>
// CHECK:         %[[INIT:.*]] = tensor.empty(%[[SIZE]]) : tensor<?x128xf8E8M0FNU>
// CHECK:         linalg.transpose ins(%[[S]] : tensor<128x?xf8E8M0FNU>) outs(%[[INIT]] : tensor<?x128xf8E8M0FNU>)
func.func @slice_of_transposed_unswizzle(%t: tensor<2x?x3x32x16xf8E8M0FNU>,
                                         %n: index, %i: index, %size: index)
    -> tensor<?x128xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t sizes(%n)
       : tensor<2x?x3x32x16xf8E8M0FNU> to tensor<2x?x9xf8E8M0FNU>
  %init = tensor.empty(%n) : tensor<2x9x?xf8E8M0FNU>
  %transposed = linalg.transpose ins(%s : tensor<2x?x9xf8E8M0FNU>)
                outs(%init : tensor<2x9x?xf8E8M0FNU>) permutation = [0, 2, 1]
  %offset = affine.apply affine_map<(i) -> (i * 128)>(%i)
  %slice = tensor.extract_slice %transposed[1, 0, %offset] [1, %size, 128]
           [1, 1, 1] : tensor<2x9x?xf8E8M0FNU> to tensor<?x128xf8E8M0FNU>
  return %slice : tensor<?x128xf8E8M0FNU>
}

// A dimension of the matrix is dropped; the batch and rows are swapped.
// CHECK-LABEL: func.func @other_slices_of_unswizzle(
// CHECK:         %[[S:.*]] = blockscale.unswizzle_scales
// CHECK:         tensor.extract_slice %[[S]]
// CHECK:         %[[MOVED:.*]] = linalg.transpose
// CHECK:         tensor.extract_slice %[[MOVED]]
func.func @other_slices_of_unswizzle(%t: tensor<128x1x1x32x16xf8E8M0FNU>)
    -> (tensor<128x4xf8E8M0FNU>, tensor<128x4xf8E8M0FNU>) {
  %s = blockscale.unswizzle_scales %t
       : tensor<128x1x1x32x16xf8E8M0FNU> to tensor<128x128x4xf8E8M0FNU>
  %row = tensor.extract_slice %s[0, 0, 0] [128, 1, 4] [1, 1, 1]
         : tensor<128x128x4xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
  %init = tensor.empty() : tensor<128x128x4xf8E8M0FNU>
  %moved = linalg.transpose ins(%s : tensor<128x128x4xf8E8M0FNU>)
           outs(%init : tensor<128x128x4xf8E8M0FNU>) permutation = [1, 0, 2]
  %slice = tensor.extract_slice %moved[0, 0, 0] [1, 128, 4] [1, 1, 1]
           : tensor<128x128x4xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
  return %row, %slice : tensor<128x4xf8E8M0FNU>, tensor<128x4xf8E8M0FNU>
}

// Wrong only when it runs: there are 384 rows at most.
// CHECK-LABEL: func.func @slice_beyond_atoms(
// CHECK:         %[[S:.*]] = blockscale.unswizzle_scales
// CHECK:         tensor.extract_slice %[[S]]
func.func @slice_beyond_atoms(%t: tensor<3x1x32x16xf8E8M0FNU>, %m: index)
    -> tensor<128x4xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t sizes(%m)
       : tensor<3x1x32x16xf8E8M0FNU> to tensor<?x4xf8E8M0FNU>
  %slice = tensor.extract_slice %s[384, 0] [128, 4] [1, 1]
           : tensor<?x4xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
  return %slice : tensor<128x4xf8E8M0FNU>
}

// -----

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @cancel_through_slice_and_transposes(
// CHECK-SAME:    %[[T:.*]]: tensor<4x4x32x16xf8E8M0FNU>)
// CHECK-NEXT:    %[[SLICE:.*]] = tensor.extract_slice %[[T]][2, 1, 0, 0] [2, 2, 32, 16] [1, 1, 1, 1]
// CHECK-NEXT:    return %[[SLICE]]
func.func @cancel_through_slice_and_transposes(
    %t: tensor<4x4x32x16xf8E8M0FNU>) -> tensor<2x2x32x16xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t
       : tensor<4x4x32x16xf8E8M0FNU> to tensor<512x16xf8E8M0FNU>
  %init0 = tensor.empty() : tensor<16x512xf8E8M0FNU>
  %0 = linalg.transpose ins(%s : tensor<512x16xf8E8M0FNU>)
       outs(%init0 : tensor<16x512xf8E8M0FNU>) permutation = [1, 0]
  %1 = tensor.extract_slice %0[4, 256] [8, 256] [1, 1]
       : tensor<16x512xf8E8M0FNU> to tensor<8x256xf8E8M0FNU>
  %init1 = tensor.empty() : tensor<256x8xf8E8M0FNU>
  %2 = linalg.transpose ins(%1 : tensor<8x256xf8E8M0FNU>)
       outs(%init1 : tensor<256x8xf8E8M0FNU>) permutation = [1, 0]
  %3 = blockscale.swizzle_scales %2
       : tensor<256x8xf8E8M0FNU> to tensor<2x2x32x16xf8E8M0FNU>
  return %3 : tensor<2x2x32x16xf8E8M0FNU>
}

// The padding of t may hold anything.
// CHECK-LABEL: func.func @no_cancel_with_padding(
// CHECK:         blockscale.unswizzle_scales
// CHECK:         %[[T:.*]] = blockscale.swizzle_scales
// CHECK:         return %[[T]]
func.func @no_cancel_with_padding(%t: tensor<3x3x32x16xf8E8M0FNU>)
    -> tensor<2x2x32x16xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  %slice = tensor.extract_slice %s[128, 4] [172, 5] [1, 1]
           : tensor<300x9xf8E8M0FNU> to tensor<172x5xf8E8M0FNU>
  %r = blockscale.swizzle_scales %slice
       : tensor<172x5xf8E8M0FNU> to tensor<2x2x32x16xf8E8M0FNU>
  return %r : tensor<2x2x32x16xf8E8M0FNU>
}

// A square of scales that is transposed is another one.
// CHECK-LABEL: func.func @no_cancel_transposed(
// CHECK:         blockscale.unswizzle_scales
// CHECK:         linalg.transpose
// CHECK:         %[[T:.*]] = blockscale.swizzle_scales
// CHECK:         return %[[T]]
func.func @no_cancel_transposed(%t: tensor<1x32x32x16xf8E8M0FNU>)
    -> tensor<1x32x32x16xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t
       : tensor<1x32x32x16xf8E8M0FNU> to tensor<128x128xf8E8M0FNU>
  %init = tensor.empty() : tensor<128x128xf8E8M0FNU>
  %transposed = linalg.transpose ins(%s : tensor<128x128xf8E8M0FNU>)
                outs(%init : tensor<128x128xf8E8M0FNU>) permutation = [1, 0]
  %r = blockscale.swizzle_scales %transposed
       : tensor<128x128xf8E8M0FNU> to tensor<1x32x32x16xf8E8M0FNU>
  return %r : tensor<1x32x32x16xf8E8M0FNU>
}

// -----

// Ops in a cycle do not change.
// CHECK-LABEL: "test.graph"
// CHECK:         blockscale.swizzle_scales
// CHECK:         blockscale.unswizzle_scales
// CHECK:         tensor.extract_slice
module {
  "test.graph"() ({
    %t = blockscale.swizzle_scales %s
         : tensor<128x4xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
    %u = blockscale.unswizzle_scales %t
         : tensor<1x1x32x16xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
    %s = tensor.extract_slice %u[0, 0] [128, 4] [1, 1]
         : tensor<128x4xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
    "test.use"(%s) : (tensor<128x4xf8E8M0FNU>) -> ()
  }) : () -> ()
}

// -----

// CHECK-LABEL: func.func @unreachable(
// CHECK-NEXT:    return
// CHECK-NEXT:  }
func.func @unreachable() {
  return
^bb1:
  %s = tensor.extract_slice %s[0, 0] [128, 4] [1, 1]
       : tensor<128x4xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
  cf.br ^bb1
}
