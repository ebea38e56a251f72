//===- BlockScaleOps.td - Ops of the tile level ------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEOPS_TD

include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"
include "blockscale/Dialect/IR/BlockScaleTileTypes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/RuntimeVerifiableOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

//===----------------------------------------------------------------------===//
// mma_scaled
//===----------------------------------------------------------------------===//

def BlockScale_MmaScaledOp : BlockScale_TileOp<"mma_scaled", [
    BlockScale_HasTileTypes,
    BlockScale_ProductOpInterface,
    NoMemoryEffect,
    AllTypesMatch<["acc", "result"]>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
        "reifyResultShapes"]>,
    DeclareOpInterfaceMethods<RuntimeVerifiableOpInterface>,
    DeclareOpInterfaceMethods<TilingInterface, [
        "getIterationDomain", "getLoopIteratorTypes", "getTiledImplementation",
        "getResultTilePosition", "generateResultTileValue",
        "getIterationDomainTileFromResultTile"]>]> {
  let summary = "block-scaled matrix multiply-accumulate";
  let description = [{
    Multiplies two matrices whose elements share one scale per block of B
    along K, and adds the accumulator:

    ```
    result[i, j] = acc[i, j] +
        sum over k of x[i, k] * x_scale[i, k / B] * y[k, j] * y_scale[k / B, j]
    ```

    | operand   | shape            | element type                              |
    |-----------|------------------|-------------------------------------------|
    | `x`       | `[batch,] M, K`  | fp8, fp6 or fp4, see the next table       |
    | `x_scale` | `[batch,] M, K_s`| `f8E8M0FNU`, `f8E4M3FN` or `f32`          |
    | `y`       | `[batch,] K, N`  | fp8, fp6 or fp4                           |
    | `y_scale` | `[batch,] K_s, N`| that of `x_scale`, if none is coarse      |
    | `acc`     | `[batch,] M, N`  | `f32`; also the type of the result        |

    Scales may also be coarser, and of type `f32`: see below. Without that, B is
    `K / K_s`. The legal combinations of types, and how many they are:

    | `x` and `y`                                                  | scales    | B  | combinations |
    |--------------------------------------------------------------|-----------|----|------|
    | any two of `f8E4M3FN f8E5M2 f6E3M2FN f6E2M3FN f4E2M1FN`      | `f8E8M0FNU` | 32 | 25 |
    | `f4E2M1FN` twice                                             | `f8E8M0FNU` | 16 | 1  |
    | `f4E2M1FN` twice (NVFP4)                                     | `f8E4M3FN`  | 16 | 1  |

    Scales of type `f8E4M3FN` are read as ue4m3: the sign bit is ignored. PTX
    asks for 0 in that bit. Lowerings to instructions pass the byte unchanged;
    what hardware does with a sign there is unconfirmed.

    Decoding is exact, with the corner cases of OCP MX v1.0: `f8E8M0FNU` 0x00
    is 2^-127 and 0xFF is NaN. NaN and infinity come out where the formula
    gives them. The reference meaning adds in f64 and rounds once to f32.

    On tensors `acc` is the init of a destination-style op. On vectors there is
    no init. The op can be tiled along batch, M, N and K; a tile of K holds
    whole blocks.

    *Coarse scales.* `x_scale_block` and `y_scale_block` say how many elements
    share a scale of x and of y: see `#blockscale.scale_block`. The scales of x
    have the shape `[batch,] ceil(M / rows), ceil(K / k)`, those of y
    `[batch,] ceil(K / k), ceil(N / rows)`; the last block may be partial. The
    two operands are independent:

    | scales      | elements     | `rows`        | `k`                      |
    |-------------|--------------|---------------|--------------------------|
    | `f32`       | any          | 1, 128, `all` | 16, 32, 64, 128, `all`   |
    | `f8E8M0FNU` | any          | 1, 128, `all` | 32, 64, 128, `all`       |
    | `f8E8M0FNU` | `f4E2M1FN`   | 1             | 16                       |
    | `f8E4M3FN`  | `f4E2M1FN`   | 1             | 16                       |

    Blocks of 16 and 32 elements of one row with scales that are not `f32` are
    whole. The meaning adds up what shares both scales before it multiplies:

    ```
    result[i, j] = acc[i, j] + sum over b of
        x_scale(i, b) * y_scale(b, j) * sum over k in b of x[i, k] * y[k, j]
    ```

    where b runs over the smaller ones of both blocks along K, and
    `x_scale(i, b)` is the scale of the block of x that i and b are in. All of it
    is f64, rounded once. The product of two scales is exact, so that factors
    like 2^120 and 2^-120 cancel. Scales of `f32` may be any number: negative,
    subnormal, zero, infinite or NaN.

    *Less exact sums.* `accumulate` is a licence to form sums as fp8 tensor cores
    form them: see `#blockscale.accumulate`. It is legal with all types; where
    no fp8 tensor core computes the product, nobody uses it. A tile along K
    keeps it for the largest chunk whose multiples tiles start at.

    On GPUs, `blockscale-select-path` rewrites products whose coarse scales are
    powers of two (`f8E8M0FNU`, or constants), or those of whole rows, and makes
    a `promoted_matmul` of others. Vectors have no coarse scales there.

    Constraints:

    * (C1) All operands are ranked tensors without encoding, or all are
      fixed-length vectors.
    * (C2) `x` and `y` have rank 2 or 3; a scale has the rank of its operand;
      `acc` has rank 3 if and only if `x` or `y` has.
    * (C3) `x_scale` has the batch and M of `x`; `y_scale` the batch and N of
      `y`.
    * (C4) `x` and `y` have one K; `x_scale` and `y_scale` have one K_s.
    * (C5) The batches of `x` and `y` are equal, or one of them is 1; `acc` has
      the larger one.
    * (C6) `acc` has the M of `x` and the N of `y`.
    * (C7) All sizes are at least 1.
    * (C8) Both scales have one element type.
    * (C9) K is a multiple of K_s, and their quotient B and the types are one of
      the legal combinations.
    * (C10) `block_size` is B where K and K_s are known; it is required where
      one of them is not.

    With an attribute `x_scale_block` or `y_scale_block`, or with scales of type
    `f32`, (C11) to (C13) replace what (C3), (C4) and (C8) to (C10) say of
    scales:

    * (C11) The scales have the batch of their operand, and a block that the
      table above has for their type and that of the elements.
    * (C12) A block is given, unless exactly one of the table fits the sizes of
      the operand and of its scales. Sizes of scales are those of the block.
    * (C13) There is no `block_size`.

    Sizes of tensors may be dynamic. `generate-runtime-verification`, which
    `blockscale-to-cpu` runs, then checks at run time what cannot be checked
    statically.

    Example:

    ```mlir
    func.func @mxfp8(%x: tensor<128x256xf8E4M3FN>,
                     %x_scale: tensor<128x8xf8E8M0FNU>,
                     %y: tensor<256x64xf8E5M2>,
                     %y_scale: tensor<8x64xf8E8M0FNU>,
                     %acc: tensor<128x64xf32>) -> tensor<128x64xf32> {
      %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
           : tensor<128x256xf8E4M3FN>, tensor<128x8xf8E8M0FNU>,
             tensor<256x64xf8E5M2>, tensor<8x64xf8E8M0FNU>,
             tensor<128x64xf32>
      return %d : tensor<128x64xf32>
    }
    ```

    A batch of NVFP4 matrices times one matrix, with a dynamic K:

    ```mlir
    func.func @nvfp4(%x: tensor<4x16x?xf4E2M1FN>,
                     %x_scale: tensor<4x16x?xf8E4M3FN>,
                     %y: tensor<?x8xf4E2M1FN>,
                     %y_scale: tensor<?x8xf8E4M3FN>,
                     %acc: tensor<4x16x8xf32>) -> tensor<4x16x8xf32> {
      %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
           {block_size = 16}
           : tensor<4x16x?xf4E2M1FN>, tensor<4x16x?xf8E4M3FN>,
             tensor<?x8xf4E2M1FN>, tensor<?x8xf8E4M3FN>,
             tensor<4x16x8xf32>
      return %d : tensor<4x16x8xf32>
    }
    ```

    Activations with a scale for 128 elements of a row, times weights with a
    scale for 128 x 128 elements. N is 576, which is no multiple of 128; all
    blocks follow from the sizes:

    ```mlir
    func.func @block128(%x: tensor<300x256xf8E4M3FN>,
                        %x_scale: tensor<300x2xf32>,
                        %y: tensor<256x576xf8E4M3FN>,
                        %y_scale: tensor<2x5xf32>,
                        %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
      %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
           {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>}
           : tensor<300x256xf8E4M3FN>, tensor<300x2xf32>,
             tensor<256x576xf8E4M3FN>, tensor<2x5xf32>,
             tensor<300x576xf32>
      return %d : tensor<300x576xf32>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_Matrix:$x,
    BlockScale_ProductScales:$x_scale,
    BlockScale_Matrix:$y,
    BlockScale_ProductScales:$y_scale,
    BlockScale_Accumulator:$acc,
    OptionalAttr<I64Attr>:$block_size,
    OptionalAttr<BlockScale_ScaleBlockAttr>:$x_scale_block,
    OptionalAttr<BlockScale_ScaleBlockAttr>:$y_scale_block,
    OptionalAttr<BlockScale_AccumulateAttr>:$accumulate);
  let results = (outs BlockScale_Accumulator:$result);

  let assemblyFormat = [{
    $x `,` $x_scale `,` $y `,` $y_scale `,` $acc attr-dict
    `:` type($x) `,` type($x_scale) `,` type($y) `,` type($y_scale) `,`
    type($acc)
  }];
  let builders = [
    // The block size follows from K and K_s, which are both static.
    OpBuilder<(ins "Value":$x, "Value":$xScale, "Value":$y, "Value":$yScale,
                   "Value":$acc)>,
    OpBuilder<(ins "Value":$x, "Value":$xScale, "Value":$y, "Value":$yScale,
                   "Value":$acc, "int64_t":$blockSize)>,
    OpBuilder<(ins "Value":$x, "Value":$xScale, "Value":$y, "Value":$yScale,
                   "Value":$acc, "IntegerAttr":$blockSize)>
  ];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;

  let extraClassDeclaration = [{
    static ArrayRef<NamedTile> getTileOperands();
    static NamedTile getTileResult();

    /// The operand `x` or `y`, for rules that hold for both.
    enum class Side { X, Y };

    ShapedType getMatrixType(Side side);
    ShapedType getScaleType(Side side);

    /// Positions of dimensions: rows are M of x and N of y. The batch, where
    /// there is one, is dimension 0.
    static unsigned getRowDim(Side side, unsigned rank);
    static unsigned getKDim(Side side, unsigned rank);

    /// Whether the operands are tensors.
    bool hasTensorSemantics();

    /// Whether the blocks of the scales are those of (C11) to (C13), of each
    /// operand for itself.
    bool hasCoarseScales();

    /// The elements of an operand that share a scale.
    ScaleBlock getBlockShape(Side side);

    /// The number of elements along K that share a scale, and the entry in the
    /// table of legal combinations. Only without coarse scales.
    int64_t getBlock();
    TypeCombination getTypes();

    /// The destination is the accumulator, on tensors; vectors have none.
    MutableOperandRange getDpsInitsMutable();
  }];
}

//===----------------------------------------------------------------------===//
// swizzle_scales and unswizzle_scales
//===----------------------------------------------------------------------===//

def BlockScale_SwizzleScalesOp : BlockScale_TileOp<"swizzle_scales", [
    BlockScale_HasTileTypes,
    Pure,
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
        "reifyResultShapes"]>]> {
  let summary = "arrange scales in the 32x4x4 layout";
  let description = [{
    Arranges row-major scales in atoms of 128 rows by 4 blocks along K. Copies
    to tensor memory and vector loads of 32-bit words of scales need this
    layout. The scale of (row `m`, block `k`) is stored at

    ```
    result[m / 128, k / 4, m % 32, ((m / 32) % 4) * 4 + k % 4]
    ```

    Rows are padded to 128 and blocks to 4 with bytes 0x00. Rank 3 keeps its
    batch in front. For the scales of `y` of `mma_scaled`, the rows are N: the
    swizzle is of the transposed, N x K_s, scales.

    `swizzle(unswizzle(t))` folds to `t` where M is a multiple of 128 and K_s
    of 4; elsewhere the padding of `t` may differ.

    Constraints:

    * (S1) Source and result are both ranked tensors without encoding or both
      vectors, of one element type.
    * (S2) The shape of the result is
      `[batch,] ceil(M / 128), ceil(K_s / 4), 32, 16`.
    * (S3) All sizes are at least 1.

    Example:

    ```mlir
    func.func @swizzle(%s: tensor<300x9xf8E8M0FNU>)
        -> tensor<3x3x32x16xf8E8M0FNU> {
      %t = blockscale.swizzle_scales %s
           : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
      return %t : tensor<3x3x32x16xf8E8M0FNU>
    }
    ```
  }];

  let arguments = (ins BlockScale_Scales:$source);
  let results = (outs BlockScale_SwizzledScales:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `to` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;

  let extraClassDeclaration = [{
    static ArrayRef<NamedTile> getTileOperands();
    static NamedTile getTileResult();

    /// True: the verifier checks (S2), with a better message.
    static bool isCompatibleReturnTypes(TypeRange, TypeRange) { return true; }
  }];
}

def BlockScale_UnswizzleScalesOp : BlockScale_TileOp<"unswizzle_scales", [
    BlockScale_HasTileTypes,
    NoMemoryEffect,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
        "reifyResultShapes"]>,
    DeclareOpInterfaceMethods<RuntimeVerifiableOpInterface>]> {
  let summary = "read scales out of the 32x4x4 layout";
  let description = [{
    The inverse of `swizzle_scales`: the row-major scales that `source` holds.
    The padding of `source` may hold any byte; it is not read. M and K_s are
    those of the result; `sizes` gives one index for each dynamic size of it,
    in order.

    `unswizzle(swizzle(s))` folds to `s`.

    Constraints:

    * (U1) Source and result are both ranked tensors without encoding or both
      vectors, of one element type.
    * (U2) M and K_s of the result round up to the atoms of the source:
      the shape of the source is
      `[batch,] ceil(M / 128), ceil(K_s / 4), 32, 16`.
    * (U3) All sizes are at least 1.
    * (U4) There is one operand in `sizes` for each dynamic size of the result.

    Example:

    ```mlir
    func.func @unswizzle(%t: tensor<?x?x32x16xf8E8M0FNU>, %m: index, %k: index)
        -> tensor<?x?xf8E8M0FNU> {
      %s = blockscale.unswizzle_scales %t sizes(%m, %k)
           : tensor<?x?x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
      return %s : tensor<?x?xf8E8M0FNU>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_SwizzledScales:$source,
    Variadic<Index>:$sizes);
  let results = (outs BlockScale_Scales:$result);
  let assemblyFormat = [{
    $source (`sizes` `(` $sizes^ `)`)? attr-dict
    `:` type($source) `to` type($result)
  }];
  let builders = [
    // `sizes` are all sizes of the result, static or dynamic.
    OpBuilder<(ins "Value":$source, "ArrayRef<OpFoldResult>":$sizes)>,
    OpBuilder<(ins "Value":$source, "ArrayRef<int64_t>":$shape)>
  ];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;

  let extraClassDeclaration = [{
    static ArrayRef<NamedTile> getTileOperands();
    static NamedTile getTileResult();

    /// The sizes of the result, static or from `sizes`.
    SmallVector<OpFoldResult> getMixedSizes();
  }];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEOPS_TD
