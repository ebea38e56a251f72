// Functions that take swizzled scales, with change-signature.

// RUN: blockscale-opt %s --blockscale-swizzle-scale-operands=change-signature --split-input-file --allow-unregistered-dialect | FileCheck %s

// No signature changes without the option, or for a chip that computes without
// instructions.
// RUN: blockscale-opt %s --blockscale-swizzle-scale-operands --split-input-file --allow-unregistered-dialect | FileCheck %s --check-prefix=SAME
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90 --blockscale-swizzle-scale-operands=change-signature --split-input-file --allow-unregistered-dialect | FileCheck %s --check-prefix=SAME
// SAME-NOT: {blockscale.swizzled

// The example of the pass' description. x has the type of scales as well.

// CHECK-LABEL: func.func @mma(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<300x288xf8E4M3FN>,
// CHECK-SAME:    %[[X_SCALE_T:[a-z0-9]+]]: tensor<3x3x32x16xf8E8M0FNU> {blockscale.swizzled = tensor<300x9xf8E8M0FNU>},
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<288x64xf8E5M2>,
// CHECK-SAME:    %[[Y_SCALE_T:[a-z0-9]+]]: tensor<1x3x32x16xf8E8M0FNU> {blockscale.swizzled = tensor<64x9xf8E8M0FNU>},
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<300x64xf32>) -> tensor<300x64xf32> {
// CHECK-NEXT:    %[[Y_SCALE_NK:.*]] = blockscale.unswizzle_scales %[[Y_SCALE_T]] : tensor<1x3x32x16xf8E8M0FNU> to tensor<64x9xf8E8M0FNU>
// CHECK-NEXT:    %[[INIT:.*]] = tensor.empty() : tensor<9x64xf8E8M0FNU>
// CHECK-NEXT:    %[[Y_SCALE:.*]] = linalg.transpose ins(%[[Y_SCALE_NK]] : tensor<64x9xf8E8M0FNU>) outs(%[[INIT]] : tensor<9x64xf8E8M0FNU>) permutation = [1, 0]
// CHECK-NEXT:    %[[X_SCALE:.*]] = blockscale.unswizzle_scales %[[X_SCALE_T]] : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
// CHECK-NEXT:    %[[D:.*]] = blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]], %[[ACC]]
// CHECK-NEXT:    return %[[D]]
func.func @mma(%x: tensor<300x288xf8E4M3FN>, %x_scale: tensor<300x9xf8E8M0FNU>,
               %y: tensor<288x64xf8E5M2>, %y_scale: tensor<9x64xf8E8M0FNU>,
               %acc: tensor<300x64xf32>) -> tensor<300x64xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<300x288xf8E4M3FN>, tensor<300x9xf8E8M0FNU>,
         tensor<288x64xf8E5M2>, tensor<9x64xf8E8M0FNU>, tensor<300x64xf32>
  return %d : tensor<300x64xf32>
}

// -----

// Slices in a loop, a transpose, a swizzle of the user; other attributes stay.

// CHECK-LABEL: func.func @slices(
// CHECK-SAME:    %[[X_SCALE_T:[a-z0-9]+]]: tensor<2x2x1x32x16xf8E4M3FN> {blockscale.swizzled = tensor<2x256x2xf8E4M3FN>, test.name = "x"},
// CHECK-SAME:    %[[Y_SCALE_T:[a-z0-9]+]]: tensor<1x1x32x16xf8E4M3FN> {blockscale.swizzled = tensor<8x2xf8E4M3FN>},
// CHECK:         %[[Y_SCALE_NK:.*]] = blockscale.unswizzle_scales %[[Y_SCALE_T]]
// CHECK:         %[[Y_SCALE:.*]] = linalg.transpose ins(%[[Y_SCALE_NK]]
// CHECK:         scf.forall (%[[B:.*]], %[[M:.*]]) in (2, 2)
// CHECK:           %[[SLICE:.*]] = tensor.extract_slice %[[X_SCALE_T]][%[[B]], %[[M]], 0, 0, 0] [1, 1, 1, 32, 16]
// CHECK:           %[[X_SCALE:.*]] = blockscale.unswizzle_scales %[[SLICE]] : tensor<1x1x32x16xf8E4M3FN> to tensor<128x2xf8E4M3FN>
// CHECK:           blockscale.mma_scaled %{{.*}}, %[[X_SCALE]], %{{.*}}, %[[Y_SCALE]],
func.func @slices(%x_scale: tensor<2x256x2xf8E4M3FN> {test.name = "x"},
                  %y_scale: tensor<8x2xf8E4M3FN>,
                  %x: tensor<128x32xf4E2M1FN>, %y: tensor<32x8xf4E2M1FN>,
                  %acc: tensor<128x8xf32>) {
  %y_scale_t = blockscale.swizzle_scales %y_scale
               : tensor<8x2xf8E4M3FN> to tensor<1x1x32x16xf8E4M3FN>
  %y_scale_nk = blockscale.unswizzle_scales %y_scale_t
                : tensor<1x1x32x16xf8E4M3FN> to tensor<8x2xf8E4M3FN>
  %init = tensor.empty() : tensor<2x8xf8E4M3FN>
  %y_scale_kn = linalg.transpose ins(%y_scale_nk : tensor<8x2xf8E4M3FN>)
                outs(%init : tensor<2x8xf8E4M3FN>) permutation = [1, 0]
  scf.forall (%b, %m) in (2, 2) {
    %row = affine.apply affine_map<(m) -> (m * 128)>(%m)
    %tile = tensor.extract_slice %x_scale[%b, %row, 0] [1, 128, 2] [1, 1, 1]
            : tensor<2x256x2xf8E4M3FN> to tensor<128x2xf8E4M3FN>
    %d = blockscale.mma_scaled %x, %tile, %y, %y_scale_kn, %acc
         : tensor<128x32xf4E2M1FN>, tensor<128x2xf8E4M3FN>,
           tensor<32x8xf4E2M1FN>, tensor<2x8xf8E4M3FN>, tensor<128x8xf32>
    "test.use"(%d) : (tensor<128x8xf32>) -> ()
  }
  return
}

// -----

// A public function passes its arguments to one that passes them to another one:
// all have swizzled arguments, with no swizzle in between, although there is
// padding. The middle one is called in a loop with scales that are made before.

// CHECK-LABEL: func.func private @inner(
// CHECK-SAME:    tensor<1x1x32x16xf8E8M0FNU> {blockscale.swizzled = tensor<16x1xf8E8M0FNU>},
// CHECK-SAME:    tensor<1x1x32x16xf8E8M0FNU> {blockscale.swizzled = tensor<8x1xf8E8M0FNU>}
func.func private @inner(
    %x: tensor<16x32xf8E4M3FN>, %x_scale: tensor<16x1xf8E8M0FNU>,
    %y: tensor<32x8xf8E5M2>, %y_scale: tensor<1x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Its y scales have their rows first. Its x scales are a constant.
// CHECK-LABEL: func.func private @middle(
// CHECK-SAME:    %[[Y_SCALE_T:[a-z0-9]+]]: tensor<1x1x32x16xf8E8M0FNU> {blockscale.swizzled = tensor<8x1xf8E8M0FNU>}
// CHECK-NEXT:    %[[X_SCALE_T:.*]] = arith.constant dense<2.000000e+00> : tensor<1x1x32x16xf8E8M0FNU>
// CHECK-NEXT:    call @inner(%{{.*}}, %[[X_SCALE_T]], %{{.*}}, %[[Y_SCALE_T]], %{{.*}}) :
func.func private @middle(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x8xf8E5M2>,
                          %y_scale: tensor<8x1xf8E8M0FNU>,
                          %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %x_scale = arith.constant dense<2.0> : tensor<16x1xf8E8M0FNU>
  %init = tensor.empty() : tensor<1x8xf8E8M0FNU>
  %transposed = linalg.transpose ins(%y_scale : tensor<8x1xf8E8M0FNU>)
                outs(%init : tensor<1x8xf8E8M0FNU>) permutation = [1, 0]
  %d = call @inner(%x, %x_scale, %y, %transposed, %acc)
       : (tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
          tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>)
         -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @outer(
// CHECK-SAME:    %[[Y_SCALE_T:[a-z0-9]+]]: tensor<1x1x32x16xf8E8M0FNU> {blockscale.swizzled = tensor<8x1xf8E8M0FNU>}
// CHECK:         %[[SCALES:.*]] = "test.scales"()
// CHECK-NEXT:    call @middle(%{{.*}}, %{{.*}}, %[[Y_SCALE_T]], %{{.*}}) :
// CHECK-NEXT:    %[[SCALES_T:.*]] = blockscale.swizzle_scales %[[SCALES]]
// CHECK-NEXT:    scf.for
// CHECK-NOT:       swizzle_scales
// CHECK:           func.call @middle(%{{.*}}, %{{.*}}, %[[SCALES_T]], %{{.*}}) :
func.func @outer(%x: tensor<16x32xf8E4M3FN>, %y: tensor<32x8xf8E5M2>,
                 %y_scale: tensor<8x1xf8E8M0FNU>, %acc: tensor<16x8xf32>,
                 %from: index, %to: index) -> tensor<16x8xf32> {
  %scales = "test.scales"() : () -> tensor<8x1xf8E8M0FNU>
  %d = call @middle(%x, %y, %y_scale, %acc)
       : (tensor<16x32xf8E4M3FN>, tensor<32x8xf8E5M2>,
          tensor<8x1xf8E8M0FNU>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %e = scf.for %i = %from to %to step %to iter_args(%sum = %d)
      -> (tensor<16x8xf32>) {
    %next = func.call @middle(%x, %y, %scales, %sum)
            : (tensor<16x32xf8E4M3FN>, tensor<32x8xf8E5M2>,
               tensor<8x1xf8E8M0FNU>, tensor<16x8xf32>) -> tensor<16x8xf32>
    scf.yield %next : tensor<16x8xf32>
  }
  return %e : tensor<16x8xf32>
}

// -----

// A caller that has swizzled scales passes these. It may name the callee twice.

func.func private @callee(
    %x: tensor<16x32xf8E4M3FN>, %x_scale: tensor<16x1xf8E8M0FNU>,
    %y: tensor<32x8xf8E5M2>, %y_scale: tensor<1x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    %[[X_SCALE_T:[a-z0-9]+]]: tensor<1x1x32x16xf8E8M0FNU>, %{{.*}} %[[Y_SCALE_T:[a-z0-9]+]]: tensor<1x1x32x16xf8E8M0FNU> {
// CHECK-NEXT:    call @callee(%{{.*}}, %[[X_SCALE_T]], %{{.*}}, %[[Y_SCALE_T]], %{{.*}}) {test.again = @callee} :
func.func @caller(%x: tensor<16x32xf8E4M3FN>,
                  %x_scale_t: tensor<1x1x32x16xf8E8M0FNU>,
                  %y: tensor<32x8xf8E5M2>, %y_scale: tensor<1x8xf8E8M0FNU>,
                  %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %x_scale = blockscale.unswizzle_scales %x_scale_t
             : tensor<1x1x32x16xf8E8M0FNU> to tensor<16x1xf8E8M0FNU>
  %d = call @callee(%x, %x_scale, %y, %y_scale, %acc) {test.again = @callee}
       : (tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
          tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>)
         -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// A square of scales that is transposed is another one, and is swizzled anew.

func.func private @square(
    %x: tensor<128x4096xf8E4M3FN>, %x_scale: tensor<128x128xf8E8M0FNU>,
    %y: tensor<4096x8xf8E5M2>, %y_scale: tensor<128x8xf8E8M0FNU>,
    %acc: tensor<128x8xf32>) {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<128x4096xf8E4M3FN>, tensor<128x128xf8E8M0FNU>,
         tensor<4096x8xf8E5M2>, tensor<128x8xf8E8M0FNU>, tensor<128x8xf32>
  return
}

// CHECK-LABEL: func.func @caller_of_square(
// CHECK-SAME:    %[[T:[a-z0-9]+]]: tensor<1x32x32x16xf8E8M0FNU>
// CHECK:         %[[S:.*]] = blockscale.unswizzle_scales %[[T]]
// CHECK:         %[[TRANSPOSED:.*]] = linalg.transpose ins(%[[S]]
// CHECK:         %[[OTHER_T:.*]] = blockscale.swizzle_scales %[[TRANSPOSED]]
// CHECK:         call @square(%{{.*}}, %[[OTHER_T]], %{{.*}}) :
func.func @caller_of_square(
    %t: tensor<1x32x32x16xf8E8M0FNU>, %x: tensor<128x4096xf8E4M3FN>,
    %y: tensor<4096x8xf8E5M2>, %y_scale: tensor<128x8xf8E8M0FNU>,
    %acc: tensor<128x8xf32>) {
  %s = blockscale.unswizzle_scales %t
       : tensor<1x32x32x16xf8E8M0FNU> to tensor<128x128xf8E8M0FNU>
  %init = tensor.empty() : tensor<128x128xf8E8M0FNU>
  %transposed = linalg.transpose ins(%s : tensor<128x128xf8E8M0FNU>)
                outs(%init : tensor<128x128xf8E8M0FNU>) permutation = [1, 0]
  call @square(%x, %transposed, %y, %y_scale, %acc)
      : (tensor<128x4096xf8E4M3FN>, tensor<128x128xf8E8M0FNU>,
         tensor<4096x8xf8E5M2>, tensor<128x8xf8E8M0FNU>, tensor<128x8xf32>)
        -> ()
  return
}

// -----

// Arguments without scales, functions without a body, other kinds of
// functions, a function of the same name elsewhere.

// CHECK-LABEL: func.func private @declared(tensor<16x1xf8E8M0FNU>)
func.func private @declared(tensor<16x1xf8E8M0FNU>)

// CHECK-LABEL: func.func @other_values(
// CHECK-SAME:    %{{.*}}: tensor<16x1xf8E8M0FNU>, %{{.*}}: tensor<16x1xf8E8M0FNU>, %{{.*}}: vector<16x1xf8E8M0FNU>, %{{.*}}: f8E8M0FNU)
func.func @other_values(%unused: tensor<16x1xf8E8M0FNU>,
                        %passed: tensor<16x1xf8E8M0FNU>,
                        %vector: vector<16x1xf8E8M0FNU>, %scalar: f8E8M0FNU)
    -> tensor<1x1x32x16xf8E8M0FNU> {
  call @declared(%passed) : (tensor<16x1xf8E8M0FNU>) -> ()
  %t = blockscale.swizzle_scales %passed
       : tensor<16x1xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  return %t : tensor<1x1x32x16xf8E8M0FNU>
}

// CHECK-LABEL: gpu.func @other_values(
// CHECK-SAME:    tensor<16x1xf8E8M0FNU>
gpu.module @kernels {
  gpu.func @other_values(%x: tensor<16x32xf8E4M3FN>,
                         %x_scale: tensor<16x1xf8E8M0FNU>,
                         %y: tensor<32x8xf8E5M2>,
                         %y_scale: tensor<1x8xf8E8M0FNU>,
                         %acc: tensor<16x8xf32>) {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
           tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
    gpu.return
  }
}
