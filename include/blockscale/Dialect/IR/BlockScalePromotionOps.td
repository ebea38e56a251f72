//===- BlockScalePromotionOps.td - Sums with factors -------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products whose sums over parts of K are promoted: multiplied by factors and
// added up in f32. Declarations of these ops have a header of their own
// (Promotion.h), so that only files that name them depend on it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEPROMOTIONOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEPROMOTIONOPS_TD

include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleInterfaces.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar BlockScale_PromotedMatrix =
    RankedTensorOf<[BF16, F16, F8E4M3FN, F8E5M2], [HasAnyRankOfPred<[2, 3]>]>;
defvar BlockScale_Factors =
    RankedTensorOf<[F32, F8E8M0FNU, F8E4M3FN], [HasAnyRankOfPred<[2, 3]>]>;

def BlockScale_PromotedMatmulOp : BlockScale_TileOp<"promoted_matmul", [
    Pure,
    AttrSizedOperandSegments,
    AllTypesMatch<["acc", "result"]>,
    BlockScale_ProductOpInterface,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
        "reifyResultShapes"]>]> {
  let summary = "matmul whose sums over parts of K have factors";
  let description = [{
    A matmul that adds up the products of `interval` elements along K at a time,
    and then multiplies these sums by the factors of their row and their column:

    ```
    result[i, j] = acc[i, j] + sum over b of x_factor(i, b) * y_factor(b, j) *
                   sum over k from b * interval of x[i, k] * y[k, j]
    ```

    `blockscale-select-path` makes it of a `mma_scaled` with coarse scales, for
    kernels: elements are those that instructions take, and what a scale belongs
    to is a block, as in `mma_scaled`. Without `x_factors` (or `y_factors`) all
    factors of that operand are 1. If all blocks have all of K, their factors
    multiply the whole sum over b, before `acc` is added. Sums are of f32; the factors of a sum are
    multiplied, and multiply it, so that neither leaves the range of f32 where
    the result does not. The sum of an interval is what the instruction makes of
    it: exact to f32 for bf16 and f16, and with 13 fraction bits for the fp8
    instructions of sm_90.

    With `offsets`, each group of rows of `x` has a matrix of `y` of its own, as
    in `grouped_matmul`, whose operands `rows`, `group_scale` and `bias` there
    are, too. Factors of x follow `rows`. Offsets and rows are not checked; wrong
    ones are clamped.

    Constraints:

    * (R1) `x` and `y` have rank 2 or 3 and one K; their batches are equal, or
      one is 1. `acc` has M of `x`, N of `y` and the larger batch, if one of
      them has a batch. With `offsets`, (P1) to (P5) hold instead.
    * (R2) `x` and `y` are both of bf16, both of f16, or both of fp8.
    * (R3) `interval` is 16, 32, 64 or 128, and divides what a block of factors
      has along K.
    * (R4) Factors have the rank of their operand, and a block; their sizes are
      those of the block. With `offsets`, a block of x has one row, or all.
    * (R5) `rows`, `group_scale` and `bias` are there only with `offsets`.

    Example:

    ```mlir
    func.func @block128(%x: tensor<?x320xbf16>, %x_factors: tensor<?x3xf32>,
                        %y: tensor<320x576xbf16>, %y_factors: tensor<3x5xf32>,
                        %acc: tensor<?x576xf32>) -> tensor<?x576xf32> {
      %d = blockscale.promoted_matmul %x, %y, %acc interval = 128
           x_factors(%x_factors : tensor<?x3xf32>) <rows = 1, k = 128>
           y_factors(%y_factors : tensor<3x5xf32>) <rows = 128, k = 128>
           : tensor<?x320xbf16>, tensor<320x576xbf16>, tensor<?x576xf32>
      return %d : tensor<?x576xf32>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_PromotedMatrix:$x, BlockScale_PromotedMatrix:$y,
    RankedTensorOf<[F32], [HasAnyRankOfPred<[2, 3]>]>:$acc,
    Optional<BlockScale_Factors>:$x_factors,
    Optional<BlockScale_Factors>:$y_factors,
    Optional<RankedTensorOf<[I32], [HasAnyRankOfPred<[1]>]>>:$offsets,
    Optional<RankedTensorOf<[I32], [HasAnyRankOfPred<[1]>]>>:$rows,
    Optional<RankedTensorOf<[F32], [HasAnyRankOfPred<[1]>]>>:$group_scale,
    Optional<RankedTensorOf<[F32], [HasAnyRankOfPred<[2]>]>>:$bias,
    I64Attr:$interval,
    OptionalAttr<BlockScale_ScaleBlockAttr>:$x_block,
    OptionalAttr<BlockScale_ScaleBlockAttr>:$y_block);
  let results = (outs RankedTensorOf<[F32], [HasAnyRankOfPred<[2, 3]>]>:$result);
  let assemblyFormat = [{
    $x `,` $y `,` $acc `interval` `=` $interval
    (`x_factors` `(` $x_factors^ `:` type($x_factors) `)` $x_block)?
    (`y_factors` `(` $y_factors^ `:` type($y_factors) `)` $y_block)?
    (`offsets` `(` $offsets^ `:` type($offsets) `)`)?
    (`rows` `(` $rows^ `:` type($rows) `)`)?
    (`group_scale` `(` $group_scale^ `:` type($group_scale) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    attr-dict `:` type($x) `,` type($y) `,` type($acc)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The destination is the accumulator.
    MutableOperandRange getDpsInitsMutable() { return getAccMutable(); }

    TypeCombination getTypes();
    Value getXScale() { return {}; }
    Value getYScale() { return {}; }
    RowGroupOperands getRowGroups() {
      return {getOffsets(), getRows(), getGroupScale(), getBias()};
    }
    bool hasTensorSemantics() { return true; }
    Promotion getPromotion();
  }];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEPROMOTIONOPS_TD
