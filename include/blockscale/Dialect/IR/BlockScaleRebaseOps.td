//===- BlockScaleRebaseOps.td - One scale for each row -----*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scales of blocks become scales of rows. Declarations have a header of their
// own (Rebase.h), so that only files that name them depend on it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEREBASEOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEREBASEOPS_TD

include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/RuntimeVerifiableOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar BlockScale_MatrixRank = HasAnyRankOfPred<[2, 3]>;

def BlockScale_RebaseOp : BlockScale_TileOp<"rebase", [
    NoMemoryEffect,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
        "reifyResultShapes"]>,
    DeclareOpInterfaceMethods<RuntimeVerifiableOpInterface>]> {
  let summary = "elements with one scale for each row, of fp8";
  let description = [{
    Elements whose scales are powers of two, one for each `block_size` elements
    of a row, as elements of fp8 with one scale for the whole row:

    | value      | shape        | element type                                   |
    |------------|--------------|------------------------------------------------|
    | `elements` | `[.., M, K]`   | fp8, fp6 or fp4                              |
    | `scales`   | `[.., M, K_s]` | `f8E8M0FNU`                                  |
    | `rebased`  | `[.., M, K]`   | `f8E5M2` for `f8E5M2`, else `f8E4M3FN`       |
    | `row_scales` | `[.., M, 1]` | `f32`                                        |

    K_s is `K / block_size`, rounded up: the last block of a row may be partial.
    Let r be the largest code in a row of `scales`, and *shift* the largest
    power of two by which the largest element can be multiplied in fp8:

    | `elements` | *shift* | exact if codes of scales differ by at most         |
    |------------|---------|----------------------------------------------------|
    | `f8E4M3FN`, `f8E5M2` | 0 | 0                                              |
    | `f6E3M2FN` | 4       | 9                                                  |
    | `f6E2M3FN` | 5       | 11                                                 |
    | `f4E2M1FN` | 6       | 14                                                 |

    ```
    row_scales[i, 0] = 2^(r - 127 - shift), or NaN if r is NaN (0xFF)
    rebased[i, k]    = elements[i, k] * 2^(scales[i, k / block_size] - r + shift)
    ```

    with codes of scales as integers. Rounding is to nearest even, and nothing
    saturates: no element becomes larger than it can be. So an element moves by
    at most 2^-10 of the largest scale of its row, half of what the smallest
    element of `f8E4M3FN` is with that scale. The sign of zero stays, and NaN and
    infinity keep their codes. All blocks of a row count, those of zeros, too.

    `blockscale-select-path` makes it of a `mma_scaled` that has a licence to
    rebase, where fp8 instructions without scales compute the product.

    Constraints:

    * (H1) All values are ranked tensors without encoding, of rank 2 or 3.
    * (H2) `scales` and `row_scales` have the batch and the rows of `elements`,
      and `rebased` its shape. `row_scales` has one column.
    * (H3) `block_size` is 16, 32, 64 or 128; K_s is K over it, rounded up.
    * (H4) `rebased` is of `f8E5M2` for elements of `f8E5M2`, else of
      `f8E4M3FN`.
    * (H5) All sizes are at least 1.

    What cannot be checked statically is checked at run time.

    Example:

    ```mlir
    func.func @mxfp4(%elements: tensor<?x256xf4E2M1FN>,
                     %scales: tensor<?x8xf8E8M0FNU>)
        -> (tensor<?x256xf8E4M3FN>, tensor<?x1xf32>) {
      %rebased, %row_scales = blockscale.rebase %elements, %scales
          {block_size = 32 : i64}
          : tensor<?x256xf4E2M1FN>, tensor<?x8xf8E8M0FNU>
          to tensor<?x256xf8E4M3FN>, tensor<?x1xf32>
      return %rebased, %row_scales : tensor<?x256xf8E4M3FN>, tensor<?x1xf32>
    }
    ```
  }];

  let arguments = (ins
    RankedTensorOf<[F8E4M3FN, F8E5M2, F6E3M2FN, F6E2M3FN, F4E2M1FN],
                   [BlockScale_MatrixRank]>:$elements,
    RankedTensorOf<[F8E8M0FNU], [BlockScale_MatrixRank]>:$scales,
    I64Attr:$block_size);
  let results = (outs
    RankedTensorOf<[F8E4M3FN, F8E5M2], [BlockScale_MatrixRank]>:$rebased,
    RankedTensorOf<[F32], [BlockScale_MatrixRank]>:$row_scales);
  let assemblyFormat = [{
    $elements `,` $scales attr-dict `:` type($elements) `,` type($scales)
    `to` type($rebased) `,` type($row_scales)
  }];
  let builders = [
    // Infers the types of the results.
    OpBuilder<(ins "Value":$elements, "Value":$scales, "int64_t":$blockSize)>
  ];
  let hasVerifier = 1;

  let extraClassDeclaration = [{
    Format getElementFormat();
    Format getRebasedFormat();
  }];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEREBASEOPS_TD
