//===- BlockScaleGroupedOps.td - Products of groups of rows -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixtures of experts. Declarations of these ops have a header of their own
// (Grouped.h), so that only files that name them depend on it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEGROUPEDOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEGROUPEDOPS_TD

include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleInterfaces.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/RuntimeVerifiableOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// Without encoding, which the verifier checks.
class BlockScale_RankedTensor<int rank, list<Type> elements>
    : TensorRankOf<elements, [rank]>;

defvar BlockScale_Narrow =
    [F8E4M3FN, F8E5M2, F6E3M2FN, F6E2M3FN, F4E2M1FN];
defvar BlockScale_ScaleTypes = [F8E8M0FNU, F8E4M3FN];
defvar BlockScale_GroupedScaleTypes = [F8E8M0FNU, F8E4M3FN, F32];

//===----------------------------------------------------------------------===//
// Base class
//===----------------------------------------------------------------------===//

// Offsets and rows that are wrong fail at run time, so the ops are never
// speculated.
class BlockScale_GroupedOp<string mnemonic>
    : BlockScale_TileOp<mnemonic, [
    NoMemoryEffect,
    AttrSizedOperandSegments,
    AllTypesMatch<["acc", "result"]>,
    BlockScale_ProductOpInterface,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
        "reifyResultShapes"]>,
    DeclareOpInterfaceMethods<RuntimeVerifiableOpInterface>,
    DeclareOpInterfaceMethods<TilingInterface, [
        "getIterationDomain", "getLoopIteratorTypes", "getTiledImplementation",
        "getResultTilePosition", "generateResultTileValue",
        "getIterationDomainTileFromResultTile"]>]> {
  let results = (outs BlockScale_RankedTensor<2, [F32]>:$result);
  let hasVerifier = 1;
  code sharedDeclaration = [{
    /// The destination is the accumulator.
    MutableOperandRange getDpsInitsMutable() { return getAccMutable(); }
    RowGroupOperands getRowGroups() {
      return {getOffsets(), getRows(), getGroupScale(), getBias()};
    }
    TypeCombination getTypes();
    bool hasTensorSemantics() { return true; }
  }];
}

//===----------------------------------------------------------------------===//
// grouped_mma_scaled
//===----------------------------------------------------------------------===//

def BlockScale_GroupedMmaScaledOp
    : BlockScale_GroupedOp<"grouped_mma_scaled"> {
  let summary = "block-scaled multiply-accumulate of groups of rows";
  let description = [{
    `mma_scaled` in which each group of rows of `x` has a y of its own, as the
    tokens of each expert have:

    | operand       | shape       | element type                                |
    |---------------|-------------|---------------------------------------------|
    | `x`           | `R, K`      | fp8, fp6 or fp4                             |
    | `x_scale`     | `R, K_s`    | `f8E8M0FNU`, `f8E4M3FN` or `f32`            |
    | `y`           | `G, K, N`   | fp8, fp6 or fp4                             |
    | `y_scale`     | `G, K_s, N` | that of `x_scale`, if none is coarse        |
    | `offsets`     | `G`         | `i32`                                       |
    | `acc`         | `T, N`      | `f32`; also the type of the result          |
    | `rows`        | `T`         | `i32`; optional                             |
    | `group_scale` | `G`         | `f32`; optional                             |
    | `bias`        | `G, N`      | `f32`; optional                             |

    `offsets` has the inclusive ends of the groups: row i of the result belongs
    to group g(i), the number of g with `offsets[g] <= i`. Group g has the rows
    from `offsets[g - 1]` (0 for the first one) up to `offsets[g]`, without the
    latter; it is empty where both are equal. Rows from `offsets[G - 1]` on
    belong to nobody.

    Row i of the result reads row r(i) of `x`: i itself, or `rows[i]`, where -1
    stands for no row. With g = g(i) and r = r(i):

    ```
    sum[i, n]    = sum over k of
        x[r, k] * x_scale[r, k / B] * y[g, k, n] * y_scale[g, k / B, n]
    result[i, n] = acc[i, n] + sum[i, n] * group_scale[g] + bias[g, n]
    ```

    where g < G and r is not -1; else `result[i, n] = acc[i, n]`. Without
    `group_scale`, accumulator and sum are rounded once, as in `mma_scaled`; with
    it, the sum, its product and the sum with the accumulator are rounded, each
    to f32. The bias is added last, and rounded.

    Offsets have to ascend from 0 to at most T, and rows have to be from -1 to
    R - 1. Others are an error at run time, on the CPU and on devices, where a
    kernel in front of the product checks them. With `legal_groups`, the program
    says that there are none, and nothing is checked; after tiling, wrong offsets
    are no error, either, since those of a tile are clamped. In any case no
    memory but that of the operands is read or written.

    `accumulate` is the licence of `mma_scaled` of that name.

    *Coarse scales.* `x_scale_block` and `y_scale_block` are those of
    `mma_scaled`, with the same table of blocks and the same meaning. Scales of x
    have the shape `ceil(R / rows), ceil(K / k)`, and follow `rows` as x does;
    those of y have `G, ceil(K / k), ceil(N / rows)`. Groups start at any row, so
    that no 128 rows of x share a scale: one row does, or all of them.

    Constraints:

    * (P1) All operands are ranked tensors without encoding, of the shapes of
      the table.
    * (P2) `x_scale` has the R of `x`, `y_scale` the G and N of `y`; without
      `rows`, R is T.
    * (P3) `x` and `y` have one K, `x_scale` and `y_scale` one K_s.
    * (P4) `offsets`, `group_scale` and `bias` have the G of `y`; `rows` has the
      T of `acc`; `acc` and `bias` have the N of `y`.
    * (P5) All sizes but T and R are at least 1.
    * (P6) Both scales have one element type.
    * (P7) K is a multiple of K_s, and their quotient B and the types are a legal
      combination of `mma_scaled`.
    * (P8) `block_size` is B where K and K_s are known; it is required where one
      of them is not.

    With an attribute `x_scale_block` or `y_scale_block`, or with scales of type
    `f32`, (P10) to (P12) replace what (P2), (P3) and (P6) to (P8) say of scales:

    * (P10) `y_scale` has the G of `y`, and both scales have a block that
      `mma_scaled` has for their type and that of the elements; that of x has
      one row, or all.
    * (P11) A block is given, unless exactly one of these fits the sizes of the
      operand and of its scales. Sizes of scales are those of the block.
    * (P12) There is no `block_size`.

    Groups along K, whose results are one matrix each, are not supported.

    Example:

    ```mlir
    func.func @experts(%x: tensor<?x256xf8E4M3FN>, %xs: tensor<?x8xf8E8M0FNU>,
                       %y: tensor<4x256x64xf8E4M3FN>,
                       %ys: tensor<4x8x64xf8E8M0FNU>,
                       %offsets: tensor<4xi32>, %rows: tensor<?xi32>,
                       %acc: tensor<?x64xf32>) -> tensor<?x64xf32> {
      %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %offsets, %acc
           rows(%rows : tensor<?xi32>)
           : tensor<?x256xf8E4M3FN>, tensor<?x8xf8E8M0FNU>,
             tensor<4x256x64xf8E4M3FN>, tensor<4x8x64xf8E8M0FNU>,
             tensor<4xi32>, tensor<?x64xf32>
      return %d : tensor<?x64xf32>
    }
    ```

    Experts with a scale for 128 x 128 weights, and tokens with one for 128
    elements of a row:

    ```mlir
    func.func @block128_experts(%x: tensor<?x320xf8E4M3FN>,
                                %xs: tensor<?x3xf32>,
                                %y: tensor<4x320x576xf8E4M3FN>,
                                %ys: tensor<4x3x5xf32>,
                                %offsets: tensor<4xi32>,
                                %acc: tensor<?x576xf32>) -> tensor<?x576xf32> {
      %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %offsets, %acc
           {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>}
           : tensor<?x320xf8E4M3FN>, tensor<?x3xf32>,
             tensor<4x320x576xf8E4M3FN>, tensor<4x3x5xf32>,
             tensor<4xi32>, tensor<?x576xf32>
      return %d : tensor<?x576xf32>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_RankedTensor<2, BlockScale_Narrow>:$x,
    BlockScale_RankedTensor<2, BlockScale_GroupedScaleTypes>:$x_scale,
    BlockScale_RankedTensor<3, BlockScale_Narrow>:$y,
    BlockScale_RankedTensor<3, BlockScale_GroupedScaleTypes>:$y_scale,
    BlockScale_RankedTensor<1, [I32]>:$offsets,
    BlockScale_RankedTensor<2, [F32]>:$acc,
    Optional<BlockScale_RankedTensor<1, [I32]>>:$rows,
    Optional<BlockScale_RankedTensor<1, [F32]>>:$group_scale,
    Optional<BlockScale_RankedTensor<2, [F32]>>:$bias,
    OptionalAttr<I64Attr>:$block_size,
    OptionalAttr<BlockScale_ScaleBlockAttr>:$x_scale_block,
    OptionalAttr<BlockScale_ScaleBlockAttr>:$y_scale_block,
    UnitAttr:$legal_groups,
    OptionalAttr<BlockScale_AccumulateAttr>:$accumulate);
  let assemblyFormat = [{
    $x `,` $x_scale `,` $y `,` $y_scale `,` $offsets `,` $acc
    (`rows` `(` $rows^ `:` type($rows) `)`)?
    (`group_scale` `(` $group_scale^ `:` type($group_scale) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    attr-dict `:` type($x) `,` type($x_scale) `,` type($y) `,`
    type($y_scale) `,` type($offsets) `,` type($acc)
  }];
  let hasCanonicalizer = 1;
  let extraClassDeclaration = sharedDeclaration # [{
    /// The number of elements along K that share a scale. Only without coarse
    /// scales.
    int64_t getBlock();

    /// These are those of mma_scaled.
    using Side = MmaScaledOp::Side;
    ShapedType getMatrixType(Side side);
    ShapedType getScaleType(Side side);
    bool hasCoarseScales();
    ScaleBlock getBlockShape(Side side);
  }];
}

//===----------------------------------------------------------------------===//
// grouped_matmul
//===----------------------------------------------------------------------===//

def BlockScale_GroupedMatmulOp : BlockScale_GroupedOp<"grouped_matmul"> {
  let summary = "multiply-accumulate of groups of rows";
  let description = [{
    `grouped_mma_scaled` of elements without scales: `x` is `R, K` and `y` is
    `G, K, N`, both of bf16 or both of f16; the other operands, the groups and
    what is rounded are those of `grouped_mma_scaled`, and sums are of f32, as in
    `linalg.matmul`.

    Constraints: (P1) to (P5), as far as they name its operands, and

    * (P9) `x` and `y` have one element type.

    Example:

    ```mlir
    func.func @experts(%x: tensor<?x256xbf16>, %y: tensor<4x256x64xbf16>,
                       %offsets: tensor<4xi32>, %acc: tensor<?x64xf32>,
                       %bias: tensor<4x64xf32>) -> tensor<?x64xf32> {
      %d = blockscale.grouped_matmul %x, %y, %offsets, %acc
           bias(%bias : tensor<4x64xf32>)
           : tensor<?x256xbf16>, tensor<4x256x64xbf16>, tensor<4xi32>,
             tensor<?x64xf32>
      return %d : tensor<?x64xf32>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_RankedTensor<2, [BF16, F16]>:$x,
    BlockScale_RankedTensor<3, [BF16, F16]>:$y,
    BlockScale_RankedTensor<1, [I32]>:$offsets,
    BlockScale_RankedTensor<2, [F32]>:$acc,
    Optional<BlockScale_RankedTensor<1, [I32]>>:$rows,
    Optional<BlockScale_RankedTensor<1, [F32]>>:$group_scale,
    Optional<BlockScale_RankedTensor<2, [F32]>>:$bias,
    UnitAttr:$legal_groups);
  let assemblyFormat = [{
    $x `,` $y `,` $offsets `,` $acc
    (`rows` `(` $rows^ `:` type($rows) `)`)?
    (`group_scale` `(` $group_scale^ `:` type($group_scale) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    attr-dict `:` type($x) `,` type($y) `,` type($offsets) `,` type($acc)
  }];
  let extraClassDeclaration = sharedDeclaration # [{
    /// Operands have none.
    Value getXScale() { return {}; }
    Value getYScale() { return {}; }
  }];
}

//===----------------------------------------------------------------------===//
// combine_rows
//===----------------------------------------------------------------------===//

def BlockScale_CombineRowsOp : BlockScale_TileOp<"combine_rows", [
    NoMemoryEffect,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
        "reifyResultShapes"]>,
    DeclareOpInterfaceMethods<RuntimeVerifiableOpInterface>,
    DeclareOpInterfaceMethods<TilingInterface, [
        "getIterationDomain", "getLoopIteratorTypes", "getTiledImplementation",
        "getResultTilePosition", "generateResultTileValue",
        "getIterationDomainTileFromResultTile"]>]> {
  let summary = "weighted sums of rows";
  let description = [{
    Each row of the result is the weighted sum of the rows of `source` that
    `positions` names, as the results of a token's experts are added up:

    | value       | shape  | element type       |
    |-------------|--------|--------------------|
    | `source`    | `T, N` | f32, bf16 or f16   |
    | `positions` | `S, J` | `i32`              |
    | `weights`   | `S, J` | `f32`              |
    | `result`    | `S, N` | f32, bf16 or f16   |

    ```
    result[s, n] = sum over j of weights[s, j] * source[positions[s, j], n]
    ```

    A position of -1 adds nothing. The sum starts with +0 and takes the slots
    j = 0, 1, ... in this order; each product and each sum is rounded to f32, and
    the result once more to its type. So it is the same in every run. Positions
    have to be from -1 to T - 1. Others are an error at run time, on the CPU and on
    devices, and no memory but that of the operands is read.

    Constraints:

    * (W1) All are ranked tensors without encoding, of the shapes of the table.
    * (W2) `weights` has the S and J of `positions`; the result has the S of
      `positions` and the N of `source`.
    * (W3) N and J are at least 1.

    Example:

    ```mlir
    func.func @combine(%source: tensor<?x64xf32>, %positions: tensor<?x4xi32>,
                       %weights: tensor<?x4xf32>) -> tensor<?x64xbf16> {
      %d = blockscale.combine_rows %source, %positions, %weights
           : tensor<?x64xf32>, tensor<?x4xi32>, tensor<?x4xf32>
           to tensor<?x64xbf16>
      return %d : tensor<?x64xbf16>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_RankedTensor<2, [F32, BF16, F16]>:$source,
    BlockScale_RankedTensor<2, [I32]>:$positions,
    BlockScale_RankedTensor<2, [F32]>:$weights);
  let results = (outs BlockScale_RankedTensor<2, [F32, BF16, F16]>:$result);
  let assemblyFormat = [{
    $source `,` $positions `,` $weights attr-dict `:` type($source) `,`
    type($positions) `,` type($weights) `to` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// swizzle_group_scales
//===----------------------------------------------------------------------===//

def BlockScale_SwizzleGroupScalesOp
    : BlockScale_TileOp<"swizzle_group_scales", [
    Pure,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
        "reifyResultShapes"]>]> {
  let summary = "arrange the scales of groups of rows in the 32x4x4 layout";
  let description = [{
    Atoms of 128 rows, as `swizzle_scales` makes them, in which each group has
    atoms of its own. Where they start needs no sum over other groups:

    | value     | shape              | element type             |
    |-----------|--------------------|--------------------------|
    | `source`  | `R, K_s`           | `f8E8M0FNU`, `f8E4M3FN`  |
    | `offsets` | `G`                | `i32`                    |
    | `rows`    | `T`                | `i32`; optional          |
    | `result`  | `A, C, 32, 16`     | that of `source`         |

    ```
    A    = (T + 127 G) / 128, C = ceil(K_s / 4)
    p(i) = (first[g] + 127 g) / 128 * 128 + i - first[g]
    result[p / 128, k / 4, p % 32, ((p / 32) % 4) * 4 + k % 4] = source[r(i), k]
    ```

    for row i of group g, which has its rows from `first[g]` up to `offsets[g]`;
    quotients are rounded down. r(i) is `rows[i]`, or i without `rows`; T is R
    then. All other bytes are 0x00, those of rows that `source` does not have
    among them. Offsets that descend or are beyond T count as the nearest legal
    one, as in `grouped_mma_scaled`.

    Kernels of tcgen05 read the scales of x so. FlashInfer's grouped products
    have the same layout.

    Constraints:

    * (J1) All are ranked tensors without encoding, of the shapes of the table.
    * (J2) C is ceil(K_s / 4), and A is (T + 127 G) / 128, if these are known.
    * (J3) K_s and G are at least 1.

    Example:

    ```mlir
    func.func @atoms(%scales: tensor<300x9xf8E8M0FNU>, %offsets: tensor<4xi32>)
        -> tensor<6x3x32x16xf8E8M0FNU> {
      %a = blockscale.swizzle_group_scales %scales, %offsets
           : tensor<300x9xf8E8M0FNU>, tensor<4xi32>
           to tensor<6x3x32x16xf8E8M0FNU>
      return %a : tensor<6x3x32x16xf8E8M0FNU>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_RankedTensor<2, BlockScale_ScaleTypes>:$source,
    BlockScale_RankedTensor<1, [I32]>:$offsets,
    Optional<BlockScale_RankedTensor<1, [I32]>>:$rows);
  let results = (outs BlockScale_RankedTensor<4, BlockScale_ScaleTypes>:$result);
  let assemblyFormat = [{
    $source `,` $offsets (`rows` `(` $rows^ `:` type($rows) `)`)? attr-dict `:`
    type($source) `,` type($offsets) `to` type($result)
  }];
  let hasVerifier = 1;
  let builders = [
    /// The result type is inferred.
    OpBuilder<(ins "Value":$source, "Value":$offsets, "Value":$rows)>];
  let extraClassDeclaration = [{
    /// A and C for sizes that may be dynamic.
    static SmallVector<OpFoldResult>
    getResultSizes(OpBuilder &builder, Location loc, Value source,
                   Value offsets, Value rows);
    /// T.
    Value getRowsOrSource() { return getRows() ? getRows() : getSource(); }
  }];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEGROUPEDOPS_TD
