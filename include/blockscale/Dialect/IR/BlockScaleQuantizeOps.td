//===- BlockScaleQuantizeOps.td - quantize and dequantize --*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEQUANTIZEOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEQUANTIZEOPS_TD

include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"
include "blockscale/Dialect/IR/BlockScaleTileTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/RuntimeVerifiableOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

class BlockScale_BlockOp<string mnemonic> : BlockScale_TileOp<mnemonic, [
    NoMemoryEffect,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
        "reifyResultShapes"]>,
    DeclareOpInterfaceMethods<RuntimeVerifiableOpInterface>,
    DeclareOpInterfaceMethods<TilingInterface, [
        "getIterationDomain", "getLoopIteratorTypes", "getTiledImplementation",
        "getResultTilePosition", "generateResultTileValue",
        "getIterationDomainTileFromResultTile"]>]>;

//===----------------------------------------------------------------------===//
// quantize
//===----------------------------------------------------------------------===//

def BlockScale_QuantizeOp : BlockScale_BlockOp<"quantize"> {
  let summary = "quantize with one scale for each block";
  let description = [{
    Chooses a scale for each block of `block_size` elements along the last
    dimension, and rounds each element over its scale to the nearest value of
    the element type:

    | value    | shape          | element type                                 |
    |----------|----------------|----------------------------------------------|
    | `x`      | `[.., K]`      | `f32`, `f16` or `bf16`                       |
    | `elements` | `[.., K]`    | fp8, fp6 or fp4                              |
    | `scales` | `[.., K_s]`    | `f8E8M0FNU`, `f8E4M3FN` or `f32`             |
    | `amax`   | none, optional | `f32`, the largest magnitude of all of `x`   |

    `elements` are quantized. K_s is `K / block_size`. With `pad`, K
    may be any size: the last block of a row has the remaining elements, and K_s
    is rounded up. The combinations of element type, scale and block size are
    those of an operand of `mma_scaled`, or of `sparse_mma_scaled`, which also
    has blocks of twice that size.

    Let *amax* be the largest magnitude of a block, *max* and *emax* the largest
    value of the element type and its exponent:

    | element    | max   | emax |
    |------------|-------|------|
    | `f8E4M3FN` | 448   | 8    |
    | `f8E5M2`   | 57344 | 15   |
    | `f6E3M2FN` | 28    | 4    |
    | `f6E2M3FN` | 7.5   | 2    |
    | `f4E2M1FN` | 6     | 2    |

    A scale of type `f8E8M0FNU` is 2^e, its code 127 + e, with e clamped to -127
    and 127:

    | `rule`            | e                                                   |
    |-------------------|-----------------------------------------------------|
    | `floor` (OCP MX v1.0, 6.3) | floor(log2 amax) - emax                    |
    | `ceil`            | ceil(log2 amax) - emax                              |
    | `even`            | as `floor`, of amax rounded to nearest even at the mantissa bits of the element type |
    | `rceil` (default) | the smallest e with amax <= max * 2^e               |

    An element is x * 2^-e, exactly, rounded to nearest even in the element
    type, its subnormals included; beyond max it is max. The sign of zero stays.
    A block of zeros has the scale 0x00.

    A scale of type `f8E4M3FN` (read as ue4m3; NVFP4) is
    e4m3(fl(fl(amax / 6) / g)), rounded to nearest even and at most 448, where g
    is `tensor_scale` (positive and finite; 1 if there is none) and fl is one
    operation of f32, rounded to nearest even, subnormals kept. An element is
    e2m1(fl(x / fl(scale * g))), rounded to nearest even and saturating; where
    the scale is 0, the elements are 0 with the sign of x.

    A block with NaN or an infinity has the scale NaN (0xFF; 0x7F for ue4m3),
    and its elements are 0 (0x00). `amax` is then NaN (if there is a NaN) or
    infinity.

    *Coarse scales.* With `scale_block` in place of `block_size`, blocks are
    those of `#blockscale.scale_block`: `rows` counts along the dimension before
    the last one, `k` along the last one. `scales` has
    ceil(R / rows) x ceil(K / k) elements for a matrix of R x K; the last blocks
    may be partial, without `pad`. The element types of the scales, and the
    blocks that each has, are those of `mma_scaled`. Scales of `f8E8M0FNU` are
    chosen as above. Scales of `f32` are, with amax of the block,

    | `rule` | scale                                                        |
    |--------|--------------------------------------------------------------|
    | none   | fl(amax / max), or 1 where that is 0 (no epsilon)            |
    | a rule | 2^e of this rule; 1 for a block of zeros                     |

    and an element is fl(x / scale), rounded to nearest even and saturating. For
    `f8E4M3FN`, `rceil` is fl(amax / max) rounded up to a power of two, where
    that quotient is a normal number.

    Constraints:

    * (Q1) All operands and results with a shape are ranked tensors without
      encoding, or all are vectors; `amax` is `tensor<f32>` with tensors and
      `f32` with vectors.
    * (Q2) `elements` has the shape of `x`.
    * (Q3) `scales` has the shape of `x`, except for K_s in the last dimension.
    * (Q4) Element type, scale type and block size are a legal combination of
      `mma_scaled` or `sparse_mma_scaled`.
    * (Q5) `rule` is only for scales of type `f8E8M0FNU` or `f32`,
      `tensor_scale` only for those of type `f8E4M3FN`.
    * (Q6) All sizes are at least 1; K is a multiple of the block size, unless
      there is `pad`.
    * (Q7) There is either `block_size` or `scale_block`. With the latter, `x`
      has rank 2 or more, there is no `pad`, the block is one that `mma_scaled`
      has for these types and that no combination has as `block_size`, and
      `scales` has the sizes that follow from it.

    What cannot be checked statically is checked at run time. Without `amax`
    and coarse scales, the op can be tiled, along the last dimension by whole
    blocks.

    Example:

    ```mlir
    func.func @mxfp8(%x: tensor<128x256xf32>)
        -> (tensor<128x256xf8E4M3FN>, tensor<128x8xf8E8M0FNU>) {
      %elements, %scales = blockscale.quantize %x
          {block_size = 32 : i64, rule = #blockscale.scale_rule<rceil>}
          : tensor<128x256xf32>
          to tensor<128x256xf8E4M3FN>, tensor<128x8xf8E8M0FNU>
      return %elements, %scales
          : tensor<128x256xf8E4M3FN>, tensor<128x8xf8E8M0FNU>
    }
    ```

    NVFP4, with the largest magnitude for the next tensor scale:

    ```mlir
    func.func @nvfp4(%x: tensor<128x?xbf16>, %g: f32)
        -> (tensor<128x?xf4E2M1FN>, tensor<128x?xf8E4M3FN>, tensor<f32>) {
      %elements, %scales, %amax = blockscale.quantize %x tensor_scale(%g)
          {block_size = 16 : i64} : tensor<128x?xbf16>, f32
          to tensor<128x?xf4E2M1FN>, tensor<128x?xf8E4M3FN>, tensor<f32>
      return %elements, %scales, %amax
          : tensor<128x?xf4E2M1FN>, tensor<128x?xf8E4M3FN>, tensor<f32>
    }
    ```

    One scale for 128 elements of a row:

    ```mlir
    func.func @block128(%x: tensor<300x320xf32>)
        -> (tensor<300x320xf8E4M3FN>, tensor<300x3xf32>) {
      %elements, %scales = blockscale.quantize %x
          {scale_block = #blockscale.scale_block<rows = 1, k = 128>}
          : tensor<300x320xf32> to tensor<300x320xf8E4M3FN>, tensor<300x3xf32>
      return %elements, %scales : tensor<300x320xf8E4M3FN>, tensor<300x3xf32>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_HighPrecision:$x,
    Optional<BlockScale_TensorScale>:$tensor_scale,
    OptionalAttr<I64Attr>:$block_size,
    OptionalAttr<BlockScale_ScaleRuleAttr>:$rule,
    UnitAttr:$pad,
    OptionalAttr<BlockScale_ScaleBlockAttr>:$scale_block);
  let results = (outs
    BlockScale_QuantizedElements:$elements,
    BlockScale_BlockScales:$scales,
    Optional<BlockScale_LargestMagnitude>:$amax);
  let assemblyFormat = [{
    $x (`tensor_scale` `(` $tensor_scale^ `)`)? attr-dict
    `:` type($x) (`,` type($tensor_scale)^)?
    `to` type($elements) `,` type($scales) (`,` type($amax)^)?
  }];
  let builders = [
    // Infers the shapes of the results. If `blockSize` is 0, it becomes 32, or
    // 16 for scales of type f8E4M3FN. Without `scaleType`, scales are
    // f8E8M0FNU.
    OpBuilder<(ins "Value":$x, "Type":$elementType,
                   CArg<"Type", "{}">:$scaleType,
                   CArg<"int64_t", "0">:$blockSize,
                   CArg<"Value", "{}">:$tensorScale,
                   CArg<"bool", "false">:$hasAmax,
                   CArg<"bool", "false">:$isPadded)>
  ];
  let hasFolder = 1;
  let hasVerifier = 1;

  let extraClassDeclaration = [{
    bool hasTensorSemantics();
    Format getElementFormat();
    /// The format of scales that are not f32.
    Format getScaleFormat();
    /// The rule of scales that are powers of two; nullopt for others.
    std::optional<ScaleRule> getScaleRule();
    /// Whether the op has a `scale_block`.
    bool hasCoarseScales();
    /// The elements that share a scale.
    ScaleBlock getBlockShape();
    /// Their number along the last dimension. Only without coarse scales.
    int64_t getBlock();
  }];
}

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

def BlockScale_DequantizeOp : BlockScale_BlockOp<"dequantize"> {
  let summary = "dequantize elements with one scale for each block";
  let description = [{
    The values of quantized elements with the scales of their blocks:
    fl(element * scale), or fl(fl(element * scale) * g) with a `tensor_scale` g.
    fl rounds to f32, to nearest even, subnormals kept; a result of type f16 or
    bf16 is rounded from that. NaN and infinity come out where the product gives
    them; beyond the largest f32 it is infinity.

    Shapes and types are those of `quantize`. `block_size` is required if it
    does not follow from K and K_s: if sizes are dynamic, or if K is no multiple
    of K_s because the last block of a row is not whole.

    Constraints:

    * (E1) Operands and result are all ranked tensors without encoding, or all
      vectors.
    * (E2) The result has the shape of `elements`.
    * (E3) `scales` has the shape of `elements`, except for K_s in the last
      dimension, which is K over the block size, rounded up.
    * (E4) Element type, scale type and block size are a legal combination of
      `mma_scaled` or `sparse_mma_scaled`.
    * (E5) All sizes are at least 1.
    * (E6) With `scale_block`, or with scales of type `f32`, blocks are those of
      (Q7). `scale_block` is required unless exactly one block fits the sizes.

    Example:

    ```mlir
    func.func @dequantize(%elements: tensor<128x256xf8E4M3FN>,
                          %scales: tensor<128x8xf8E8M0FNU>)
        -> tensor<128x256xf32> {
      %y = blockscale.dequantize %elements, %scales
           : tensor<128x256xf8E4M3FN>, tensor<128x8xf8E8M0FNU>
           to tensor<128x256xf32>
      return %y : tensor<128x256xf32>
    }
    ```
  }];

  let arguments = (ins
    BlockScale_QuantizedElements:$elements,
    BlockScale_BlockScales:$scales,
    Optional<BlockScale_TensorScale>:$tensor_scale,
    OptionalAttr<I64Attr>:$block_size,
    OptionalAttr<BlockScale_ScaleBlockAttr>:$scale_block);
  let results = (outs BlockScale_HighPrecision:$result);
  let assemblyFormat = [{
    $elements `,` $scales (`tensor_scale` `(` $tensor_scale^ `)`)? attr-dict
    `:` type($elements) `,` type($scales) (`,` type($tensor_scale)^)?
    `to` type($result)
  }];
  let builders = [
    // The result has the shape of `elements`, and is f32 if there is no
    // `resultType`. `blockSize` is 0 if it follows from K and K_s.
    OpBuilder<(ins "Value":$elements, "Value":$scales,
                   CArg<"Type", "{}">:$resultType,
                   CArg<"Value", "{}">:$tensorScale,
                   CArg<"int64_t", "0">:$blockSize)>,
    OpBuilder<(ins "Type":$type, "Value":$elements, "Value":$scales,
                   "Value":$tensorScale, "IntegerAttr":$blockSize)>
  ];
  let hasFolder = 1;
  let hasVerifier = 1;

  let extraClassDeclaration = [{
    bool hasTensorSemantics();
    Format getElementFormat();
    /// The format of scales that are not f32.
    Format getScaleFormat();
    /// Whether the op has a `scale_block`, or scales of f32.
    bool hasCoarseScales();
    /// The elements that share a scale.
    ScaleBlock getBlockShape();
    /// Their number along the last dimension. Only without coarse scales.
    int64_t getBlock();
  }];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEQUANTIZEOPS_TD
