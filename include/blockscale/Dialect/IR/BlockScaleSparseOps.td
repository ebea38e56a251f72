//===- BlockScaleSparseOps.td - 2:4 sparse operands --------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations of these ops have a header of their own (Sparse.h), so that only
// files that name them depend on it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALESPARSEOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALESPARSEOPS_TD

include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleInterfaces.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"
include "blockscale/Dialect/IR/BlockScaleTileTypes.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/RuntimeVerifiableOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

//===----------------------------------------------------------------------===//
// Granularity
//===----------------------------------------------------------------------===//

def BlockScale_GranularityParam
    : AttrOrTypeParameter<"::mlir::blockscale::Granularity",
                          "what is kept or not">;

def BlockScale_GranularityAttr : AttrDef<BlockScale_Dialect, "Granularity"> {
  let mnemonic = "granularity";
  let summary = "what a sparse operand keeps two of four of";
  let description = [{
    * `2:4`: elements. A chunk is 4 elements along K.
    * `pairs`: pairs of neighboring elements, the first one with an even index.
      A chunk is 8 elements along K.

    Examples: `#blockscale.granularity<2:4>`, `#blockscale.granularity<pairs>`.
  }];
  let parameters = (ins BlockScale_GranularityParam:$value);
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

// Ops that read metadata, or whose operand has to be sparse, fail at run time
// if it is not, so they are never speculated.
class BlockScale_SparseOp<string mnemonic, list<Trait> traits = []>
    : BlockScale_TileOp<mnemonic, [
    NoMemoryEffect,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
        "reifyResultShapes"]>] # traits>;

class BlockScale_CheckedSparseOp<string mnemonic, list<Trait> traits = []>
    : BlockScale_SparseOp<mnemonic, [
    DeclareOpInterfaceMethods<RuntimeVerifiableOpInterface>] # traits>;

def BlockScale_SparseTiling : DeclareOpInterfaceMethods<TilingInterface, [
    "getIterationDomain", "getLoopIteratorTypes", "getTiledImplementation",
    "getResultTilePosition", "generateResultTileValue",
    "getIterationDomainTileFromResultTile"]>;

//===----------------------------------------------------------------------===//
// sparse_mma_scaled
//===----------------------------------------------------------------------===//

def BlockScale_SparseMmaScaledOp
    : BlockScale_CheckedSparseOp<"sparse_mma_scaled", [
    BlockScale_ProductOpInterface,
    AllTypesMatch<["acc", "result"]>,
    DestinationStyleOpInterface,
    BlockScale_SparseTiling]> {
  let summary = "block-scaled multiply-accumulate with a 2:4 sparse x";
  let description = [{
    `mma_scaled` whose `x` keeps two of every four units along K, which
    `metadata` names:

    | operand    | shape                 | element type                            |
    |------------|-----------------------|-----------------------------------------|
    | `x`        | `[batch,] M, K / 2`   | fp8, fp6 or fp4: the kept elements      |
    | `metadata` | `[batch,] M, K / 8`, or `K / 16` with `pairs` | `i8`            |
    | `x_scale`  | `[batch,] M, K_s`     | `f8E8M0FNU` or `f8E4M3FN`               |
    | `y`        | `[batch,] K, N`       | fp8, fp6 or fp4                         |
    | `y_scale`  | `[batch,] K_s, N`     | the type of `x_scale`                   |
    | `acc`      | `[batch,] M, N`       | `f32`; also the type of the result      |

    A unit is w elements: one with the granularity `2:4`, two with `pairs`. A
    chunk is 4w elements along K. Field `c` of a row of metadata, which
    describes chunk `c`, is bits `4 * (c % 2)` to `4 * (c % 2) + 3` of byte
    `c / 2`; its bits 0 and 1 are the position of the first kept unit in the
    chunk, its bits 2 and 3 that of the second one. With
    `p(c, i, e) = 4 w c + w * ((field c >> 2 i) & 3) + e`:

    ```
    result[m, n] = acc[m, n] + sum over c, i < 2, e < w, with p = p(c, i, e), of
        x[m, 2 w c + w i + e] * x_scale[m, p / B] * y[p, n] * y_scale[p / B, n]
    ```

    Elements of `y` that no field of row m names contribute nothing to row m,
    not even if they are NaN or infinity; a kept 0 times NaN is NaN. K and
    B = `K / K_s` count logical elements.

    A field is legal if its two positions ascend: 0100, 1000, 1001, 1100, 1101
    or 1110. 0000, which CUTLASS writes for chunks of zeros, is accepted where
    both kept units are zeros. Other fields are an error at run time, on the CPU
    and on devices. With `legal_metadata`, the program says that there are none,
    and kernels with a sparse instruction do without a kernel in front that looks
    for them.

    B is that of `mma_scaled` for these types, or twice that:

    | `x` and `y`                                               | scales      | B              |
    |-----------------------------------------------------------|-------------|----------------|
    | any two of `f8E4M3FN f8E5M2 f6E3M2FN f6E2M3FN f4E2M1FN`   | `f8E8M0FNU` | 32 or 64       |
    | `f4E2M1FN` twice                                          | `f8E8M0FNU` | 16, 32 or 64   |
    | `f4E2M1FN` twice                                          | `f8E4M3FN`  | 16 or 32       |

    Instructions have B = 64 with `2:4` for all types, and B = 64 and 32 with
    `pairs` for fp4. All else is legal, too: where no instruction computes it,
    `x` is decompressed for a dense product, with a remark.

    Constraints:

    * (X1) All operands are ranked tensors without encoding, or all are
      fixed-length vectors.
    * (X2) `x` and `y` have rank 2 or 3; metadata and scales have the rank of
      their operand; `acc` has rank 3 if and only if `x` or `y` has.
    * (X3) `metadata` and `x_scale` have the batch and M of `x`; `y_scale` has
      the batch and N of `y`.
    * (X4) K of `y` is twice the last size of `x`, and 8 (`2:4`) or 16 (`pairs`)
      times the last size of `metadata`; `x_scale` and `y_scale` have one K_s.
    * (X5) The batches of `x` and `y` are equal, or one of them is 1; `acc` has
      the larger one.
    * (X6) `acc` has the M of `x` and the N of `y`.
    * (X7) All sizes are at least 1.
    * (X8) Both scales have one element type.
    * (X9) K is a multiple of K_s, and their quotient B and the types are one of
      the legal combinations.
    * (X10) `block_size` is B where K and K_s are known; it is required where
      one of them is not.
    * (X11) There is no `x_scale_block` and no `y_scale_block`: scales are not
      coarse.

    Example:

    ```mlir
    func.func @sparse(%x: tensor<128x128xf8E4M3FN>, %metadata: tensor<128x32xi8>,
                      %x_scale: tensor<128x4xf8E8M0FNU>,
                      %y: tensor<256x64xf8E5M2>,
                      %y_scale: tensor<4x64xf8E8M0FNU>,
                      %acc: tensor<128x64xf32>) -> tensor<128x64xf32> {
      %d = blockscale.sparse_mma_scaled %x, %metadata, %x_scale, %y, %y_scale,
           %acc {granularity = #blockscale.granularity<2:4>}
           : tensor<128x128xf8E4M3FN>, tensor<128x32xi8>,
             tensor<128x4xf8E8M0FNU>, tensor<256x64xf8E5M2>,
             tensor<4x64xf8E8M0FNU>, tensor<128x64xf32>
      return %d : tensor<128x64xf32>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_Matrix:$x,
    BlockScale_Metadata:$metadata,
    BlockScale_Scales:$x_scale,
    BlockScale_Matrix:$y,
    BlockScale_Scales:$y_scale,
    BlockScale_Accumulator:$acc,
    BlockScale_GranularityAttr:$granularity,
    OptionalAttr<I64Attr>:$block_size,
    UnitAttr:$legal_metadata);
  let results = (outs BlockScale_Accumulator:$result);
  let assemblyFormat = [{
    $x `,` $metadata `,` $x_scale `,` $y `,` $y_scale `,` $acc attr-dict
    `:` type($x) `,` type($metadata) `,` type($x_scale) `,` type($y) `,`
    type($y_scale) `,` type($acc)
  }];
  let builders = [
    // If `blockSize` is 0, it follows from K and K_s, which are both static.
    OpBuilder<(ins "Value":$x, "Value":$metadata, "Value":$xScale, "Value":$y,
                   "Value":$yScale, "Value":$acc,
                   "::mlir::blockscale::Granularity":$granularity,
                   CArg<"int64_t", "0">:$blockSize)>
  ];
  let hasVerifier = 1;

  let extraClassDeclaration = [{
    const GranularityInfo &getUnits();
    /// Whether the operands are tensors.
    bool hasTensorSemantics();
    /// The formats, scale type, block size and granularity.
    TypeCombination getTypes();
    /// The number of logical elements along K that share a scale.
    int64_t getBlock();
    /// The logical K: static if an operand has it static.
    int64_t getLogicalK();
    /// The destination is the accumulator, on tensors; vectors have none.
    MutableOperandRange getDpsInitsMutable();
  }];
}

//===----------------------------------------------------------------------===//
// sparsify
//===----------------------------------------------------------------------===//

def BlockScale_SparsifyOp : BlockScale_CheckedSparseOp<"sparsify", [
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    SameOperandsAndResultType,
    BlockScale_SparseTiling]> {
  let summary = "zero all but the largest two of every four units";
  let description = [{
    Keeps, in each chunk along the last dimension, the two units of four with
    the largest magnitude, and replaces the others by +0. A unit is one element
    (`2:4`), whose magnitude is |v|, or a pair of elements (`pairs`), whose
    magnitude is fl(|a| + |b|), one addition of f32 (f16 and bf16 are extended
    before), rounded to nearest even. NaN is larger than infinity, all NaN are
    equal, and of equal magnitudes the one with the lower index is kept. Kept
    elements stay as they are, bit by bit.

    It is for values before quantization, so that the scales of blocks follow
    from what is kept. `sparsify(sparsify(v))` folds to `sparsify(v)`.

    Constraints:

    * (Z1) The operand is a ranked tensor without encoding or a vector; the
      result has its type.
    * (Z2) All sizes are at least 1; the last size is a multiple of the chunk: 4
      with `2:4`, 8 with `pairs`.

    Example:

    ```mlir
    func.func @sparsify(%v: tensor<128x256xbf16>) -> tensor<128x256xbf16> {
      %s = blockscale.sparsify %v {granularity = #blockscale.granularity<2:4>}
           : tensor<128x256xbf16>
      return %s : tensor<128x256xbf16>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_HighPrecision:$source,
    BlockScale_GranularityAttr:$granularity);
  let results = (outs BlockScale_HighPrecision:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    const GranularityInfo &getUnits();
    bool hasTensorSemantics();
  }];
}

//===----------------------------------------------------------------------===//
// compress and decompress
//===----------------------------------------------------------------------===//

def BlockScale_CompressOp : BlockScale_CheckedSparseOp<"compress", [
    BlockScale_SparseTiling]> {
  let summary = "keep two of every four units, and say which";
  let description = [{
    The form in which `sparse_mma_scaled` takes `x`: of every four units along
    the last dimension, two, and the metadata that names them:

    | value      | shape                              | element type          |
    |------------|------------------------------------|-----------------------|
    | `source`   | `[.., K]`                          | fp8, fp6 or fp4       |
    | `elements` | `[.., K / 2]`                      | the type of `source`  |
    | `metadata` | `[.., K / 8]`; `K / 16` with `pairs` | `i8`                |

    A unit is zero if all its elements are +0 or -0. A chunk has at most two
    units that are not; more are an error at run time, on the CPU and on
    devices. What is kept, by positions in the chunk:

    | non-zero units   | kept     | field               |
    |------------------|----------|---------------------|
    | i and j, i < j   | i and j  | `4 * j + i`         |
    | i, below 3       | i and 3  | 1100, 1101 or 1110  |
    | 3                | 0 and 3  | 1100                |
    | none             | 0 and 1  | 0100                |

    Kept units that are zero are written as +0. Elements of others keep their
    codes, a -0 in a pair included.

    `decompress(compress(d))` has the values of `d`, with +0 in units that are
    zero. `compress(decompress(x, m))` may move zeros.

    Constraints:

    * (K1) All are ranked tensors without encoding, or all vectors.
    * (K2) `elements` has the element type of `source`.
    * (K3) Sizes are those of the table.
    * (K4) All sizes are at least 1; K is a multiple of 8 with `2:4`, of 16 with
      `pairs`.

    Example:

    ```mlir
    func.func @compress(%d: tensor<128x256xf8E4M3FN>)
        -> (tensor<128x128xf8E4M3FN>, tensor<128x32xi8>) {
      %x, %metadata = blockscale.compress %d
          {granularity = #blockscale.granularity<2:4>}
          : tensor<128x256xf8E4M3FN>
          to tensor<128x128xf8E4M3FN>, tensor<128x32xi8>
      return %x, %metadata : tensor<128x128xf8E4M3FN>, tensor<128x32xi8>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_QuantizedElements:$source,
    BlockScale_GranularityAttr:$granularity);
  let results = (outs
    BlockScale_QuantizedElements:$elements,
    BlockScale_Metadata:$metadata);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `to` type($elements) `,`
    type($metadata)
  }];
  let builders = [
    // Infers the types of the results.
    OpBuilder<(ins "Value":$source,
                   "::mlir::blockscale::Granularity":$granularity)>
  ];
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    const GranularityInfo &getUnits();
    bool hasTensorSemantics();
  }];
}

def BlockScale_DecompressOp : BlockScale_CheckedSparseOp<"decompress", [
    BlockScale_SparseTiling]> {
  let summary = "the dense form of compressed elements";
  let description = [{
    Puts kept elements at the positions that metadata names, and +0 elsewhere.
    Shapes and types are those of `compress`; fields are checked as by
    `sparse_mma_scaled`.

    A product with the result is not `sparse_mma_scaled`: there, a 0 that was
    not kept makes NaN of NaN or infinity in `y`.

    Constraints:

    * (R1) All are ranked tensors without encoding, or all vectors.
    * (R2) The result has the element type of `elements`.
    * (R3) Sizes are those of the table of `compress`.
    * (R4) All sizes are at least 1.

    Example:

    ```mlir
    func.func @decompress(%x: tensor<128x128xf4E2M1FN>,
                          %metadata: tensor<128x16xi8>)
        -> tensor<128x256xf4E2M1FN> {
      %d = blockscale.decompress %x, %metadata
           {granularity = #blockscale.granularity<pairs>}
           : tensor<128x128xf4E2M1FN>, tensor<128x16xi8>
           to tensor<128x256xf4E2M1FN>
      return %d : tensor<128x256xf4E2M1FN>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_QuantizedElements:$elements,
    BlockScale_Metadata:$metadata,
    BlockScale_GranularityAttr:$granularity);
  let results = (outs BlockScale_QuantizedElements:$result);
  let assemblyFormat = [{
    $elements `,` $metadata attr-dict `:` type($elements) `,` type($metadata)
    `to` type($result)
  }];
  let builders = [
    // Infers the type of the result.
    OpBuilder<(ins "Value":$elements, "Value":$metadata,
                   "::mlir::blockscale::Granularity":$granularity)>
  ];
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    const GranularityInfo &getUnits();
    bool hasTensorSemantics();
  }];
}

//===----------------------------------------------------------------------===//
// tile_metadata and untile_metadata
//===----------------------------------------------------------------------===//

def BlockScale_TileMetadataOp : BlockScale_TileOp<"tile_metadata", [
    Pure,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
        "reifyResultShapes"]>]> {
  let summary = "arrange metadata in atoms of 128 rows of 16 bytes";
  let description = [{
    Arranges row-major metadata, M rows of E bytes, in atoms of 128 rows of 16
    bytes, which are copied to shared and tensor memory as a whole. Atoms that
    are neighbors along M are neighbors in memory, as in CUTLASS. The byte of
    (row `m`, byte `e`) is stored at

    ```
    result[e / 16, m / 128, m % 128, e % 16]
    ```

    Rows are padded to 128 and bytes to 16 with 0x44, two legal fields. Rank 3
    keeps its batch in front.

    `tile(untile(t))` folds to `t` where M is a multiple of 128 and E of 16;
    elsewhere the padding of `t` may differ.

    Constraints:

    * (N1) Source and result are both ranked tensors without encoding, or both
      vectors, of i8; the source has rank 2 or 3.
    * (N2) The shape of the result is
      `[batch,] ceil(E / 16), ceil(M / 128), 128, 16`.
    * (N3) All sizes are at least 1.

    Example:

    ```mlir
    func.func @tile(%m: tensor<300x36xi8>) -> tensor<3x3x128x16xi8> {
      %t = blockscale.tile_metadata %m
           : tensor<300x36xi8> to tensor<3x3x128x16xi8>
      return %t : tensor<3x3x128x16xi8>
    }
    ```
  }];

  let arguments = (ins BlockScale_Metadata:$source);
  let results = (outs BlockScale_Metadata:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `to` type($result)
  }];
  let builders = [
    // Infers the type of the result.
    OpBuilder<(ins "Value":$source)>
  ];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def BlockScale_UntileMetadataOp
    : BlockScale_CheckedSparseOp<"untile_metadata", [
    DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "read metadata out of atoms";
  let description = [{
    The inverse of `tile_metadata`: the row-major metadata that `source` holds.
    The padding of `source` may hold any byte; it is not read. M and E are those
    of the result; `sizes` gives one index for each dynamic size of it, in
    order.

    `untile(tile(m))` folds to `m`.

    Constraints:

    * (V1) Source and result are both ranked tensors without encoding, or both
      vectors, of i8; the result has rank 2 or 3.
    * (V2) M and E of the result round up to the atoms of the source: the shape
      of the source is `[batch,] ceil(E / 16), ceil(M / 128), 128, 16`.
    * (V3) All sizes are at least 1.
    * (V4) There is one operand in `sizes` for each dynamic size of the result.

    Example:

    ```mlir
    func.func @untile(%t: tensor<?x?x128x16xi8>, %m: index, %e: index)
        -> tensor<?x?xi8> {
      %r = blockscale.untile_metadata %t sizes(%m, %e)
           : tensor<?x?x128x16xi8> to tensor<?x?xi8>
      return %r : tensor<?x?xi8>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_Metadata:$source,
    Variadic<Index>:$sizes);
  let results = (outs BlockScale_Metadata:$result);
  let assemblyFormat = [{
    $source (`sizes` `(` $sizes^ `)`)? attr-dict
    `:` type($source) `to` type($result)
  }];
  let builders = [
    // `sizes` are all sizes of the result, static or dynamic.
    OpBuilder<(ins "Value":$source, "ArrayRef<OpFoldResult>":$sizes)>
  ];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The sizes of the result, static or from `sizes`.
    SmallVector<OpFoldResult> getMixedSizes();
  }];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALESPARSEOPS_TD
