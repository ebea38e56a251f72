//===- Passes.td - Passes on layouts of scales -------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_SCALELAYOUT_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_SCALELAYOUT_PASSES_TD

include "mlir/Pass/PassBase.td"

def SwizzleScaleOperandsPass
    : Pass<"blockscale-swizzle-scale-operands", "::mlir::ModuleOp"> {
  let summary = "swizzle the scales of mma_scaled into the 32x4x4 layout";
  let description = [{
    Instructions read scales in the 32x4x4 layout. If scales of an `mma_scaled`
    on tensors come from `unswizzle_scales`, its lowering reads the swizzled
    scales directly. This pass swizzles row-major scales once, outside of loops,
    so that loops slice the swizzled scales. The scales of y are swizzled as
    their transpose.

    `unswizzle(swizzle(s))` always folds to `s`. So the pass does not swizzle
    scales right in front of the op that reads them, and every `swizzle_scales`
    that it inserts survives the canonicalizer. It inserts one for

    * a constant, which it swizzles at compile time (up to 16 MiB; its padding
      is any byte). `canonicalize` does not undo this while an `mma_scaled`
      reads the constant;
    * scales that a loop slices, in front of the outermost loop that does not
      define them. Offsets of rows must be known multiples of 128 and offsets of
      blocks along K known multiples of 4; a slice may end anywhere. A remark
      says which slice cuts an atom;
    * with `change-signature`, arguments of functions, see below.

    Whole scales that a loop reads without slicing them stay row-major, and so
    do scales that a loop carries in its iter_args.

    It also moves swizzles that are in the program already:

    * `swizzle(slice(s))` becomes `slice(swizzle(s))` if the slice also ends
      with an atom or where `s` ends (both known), and the surrounding loop does
      not define `s`; `slice(unswizzle(t))` becomes `unswizzle(slice(t))`.
      Slices have strides of 1 and keep a batch or drop it;
    * `swizzle(unswizzle(t))` of whole atoms becomes `t`, also through
      transposes and slices;
    * swizzles of loop invariants are hoisted.

    `cse` merges equal swizzles. Graph regions do not change.

    The pass inserts swizzles and changes arguments only for an `mma_scaled`
    that becomes an instruction: its path is not `decompose`, or no path is
    selected and the module's `blockscale.target` has an instruction for it.
    Without a target, this holds for every op.

    Before:

    ```mlir
    func.func @tiled(%x: tensor<256x128xf8E4M3FN>,
                     %x_scale: tensor<256x4xf8E8M0FNU>,
                     %y: tensor<128x64xf8E5M2>,
                     %acc: tensor<256x64xf32>) -> tensor<256x64xf32> {
      %y_scale = arith.constant dense<2.0> : tensor<4x64xf8E8M0FNU>
      %c0 = arith.constant 0 : index
      %c128 = arith.constant 128 : index
      %c256 = arith.constant 256 : index
      %d = scf.for %m = %c0 to %c256 step %c128 iter_args(%sum = %acc)
          -> (tensor<256x64xf32>) {
        %x_m = tensor.extract_slice %x[%m, 0] [128, 128] [1, 1]
               : tensor<256x128xf8E4M3FN> to tensor<128x128xf8E4M3FN>
        %x_scale_m = tensor.extract_slice %x_scale[%m, 0] [128, 4] [1, 1]
                     : tensor<256x4xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
        %sum_m = tensor.extract_slice %sum[%m, 0] [128, 64] [1, 1]
                 : tensor<256x64xf32> to tensor<128x64xf32>
        %d_m = blockscale.mma_scaled %x_m, %x_scale_m, %y, %y_scale, %sum_m
               : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
                 tensor<128x64xf8E5M2>, tensor<4x64xf8E8M0FNU>,
                 tensor<128x64xf32>
        %next = tensor.insert_slice %d_m into %sum[%m, 0] [128, 64] [1, 1]
                : tensor<128x64xf32> into tensor<256x64xf32>
        scf.yield %next : tensor<256x64xf32>
      }
      return %d : tensor<256x64xf32>
    }
    ```

    After, in short:

    ```
    %y_scale = arith.constant dense<2.0> : tensor<1x1x32x16xf8E8M0FNU>
    %x_scale_t = blockscale.swizzle_scales %x_scale
    %d = scf.for %m = %c0 to %c256 step %c128 iter_args(%sum = %acc) {
      %atom = affine.apply affine_map<(m) -> (m floordiv 128)>(%m)
      %x_scale_mt = tensor.extract_slice
          %x_scale_t[%atom, 0, 0, 0] [1, 1, 32, 16] [1, 1, 1, 1]
      %x_scale_m = blockscale.unswizzle_scales %x_scale_mt
      %y_scale_nk = blockscale.unswizzle_scales %y_scale
      %y_scale_kn = linalg.transpose ins(%y_scale_nk) permutation = [1, 0]
      %d_m = blockscale.mma_scaled %x_m, %x_scale_m, %y, %y_scale_kn, %sum_m
      ...
    }
    ```

    **`change-signature`.** An argument `tensor<[B x] M x K_s>` (or K_s x M) of
    static sizes becomes one of `[B x] ceil(M / 128) x ceil(K_s / 4) x 32 x 16`
    if it is used only as scales of `mma_scaled`: directly or through
    transposes, slices that keep atoms whole, swizzles, and arguments of other
    functions of the module that change. The argument attribute
    `blockscale.swizzled` tells callers the type of the scales that they must
    swizzle, rows first. Padding may hold any byte. Calls in the module change,
    too: they pass on swizzled scales that they have, or get a `swizzle_scales`.
    (If the callee is inlined later, it folds away.) A remark says why another
    argument with scales stays: it has another use, rows in both dimensions or
    dynamic sizes, or its function has a use other than `func.call`. Results
    stay.

    Before:

    ```mlir
    func.func @mma(%x: tensor<300x288xf8E4M3FN>,
                   %x_scale: tensor<300x9xf8E8M0FNU>,
                   %y: tensor<288x64xf8E5M2>,
                   %y_scale: tensor<9x64xf8E8M0FNU>,
                   %acc: tensor<300x64xf32>) -> tensor<300x64xf32> {
      %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
           : tensor<300x288xf8E4M3FN>, tensor<300x9xf8E8M0FNU>,
             tensor<288x64xf8E5M2>, tensor<9x64xf8E8M0FNU>, tensor<300x64xf32>
      return %d : tensor<300x64xf32>
    }
    ```

    After, with `change-signature`:

    ```mlir
    func.func @mma(
        %x: tensor<300x288xf8E4M3FN>,
        %x_scale_t: tensor<3x3x32x16xf8E8M0FNU>
            {blockscale.swizzled = tensor<300x9xf8E8M0FNU>},
        %y: tensor<288x64xf8E5M2>,
        %y_scale_t: tensor<1x3x32x16xf8E8M0FNU>
            {blockscale.swizzled = tensor<64x9xf8E8M0FNU>},
        %acc: tensor<300x64xf32>) -> tensor<300x64xf32> {
      %y_scale_nk = blockscale.unswizzle_scales %y_scale_t
                    : tensor<1x3x32x16xf8E8M0FNU> to tensor<64x9xf8E8M0FNU>
      %init = tensor.empty() : tensor<9x64xf8E8M0FNU>
      %y_scale = linalg.transpose ins(%y_scale_nk : tensor<64x9xf8E8M0FNU>)
                 outs(%init : tensor<9x64xf8E8M0FNU>) permutation = [1, 0]
      %x_scale = blockscale.unswizzle_scales %x_scale_t
                 : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
      %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
           : tensor<300x288xf8E4M3FN>, tensor<300x9xf8E8M0FNU>,
             tensor<288x64xf8E5M2>, tensor<9x64xf8E8M0FNU>, tensor<300x64xf32>
      return %d : tensor<300x64xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::blockscale::BlockScaleDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"changeSignature", "change-signature", "bool", "false",
           "Change arguments of functions to swizzled scales">
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_SCALELAYOUT_PASSES_TD
