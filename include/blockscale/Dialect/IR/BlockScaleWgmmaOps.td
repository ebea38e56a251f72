//===- BlockScaleWgmmaOps.td - Ops for wgmma ---------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asynchronous products of tiles in shared memory, with accumulators in the
// registers of warpgroups (four consecutive warps).
//
// Source: PTX ISA 9.0, "Asynchronous warpgroup level matrix instructions".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEWGMMAOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEWGMMAOPS_TD

include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"

def BlockScale_WarpgroupMmaOp : BlockScale_KernelOp<"warpgroup_mma", [
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "asynchronous multiply-accumulate of a tile in registers";
  let description = [{
    Adds the product of two tiles in shared memory to an accumulator that the
    first warps of the block share; each warpgroup has 64 rows. All of these
    warps execute it together. It starts the product and commits it as a
    wgmma-group. Before a `warpgroup_wait`, only another `warpgroup_mma` may use
    the result.

    Tiles are those of `matrix_descriptor`, with all of K of the tile. With a
    `scale_d` of 0, the product replaces the accumulator, whose values do not
    count.

    Constraints:

    * (W1) The instruction is one of wgmma.
    * (W2) Tiles meet the constraints of `matrix_descriptor`, with `slots`.
    * (W3) The accumulator has N of the instruction and 64 rows for each
      warpgroup; its warps divide the rows: `#blockscale.warps<4x1>`, `8x1`, ...
    * (W4) Tiles have the M and N of the accumulator.
    * (W5) Both have the same K, a multiple of that of the instruction.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @tile(%d: memref<128x64xf32>)
          workgroup(%a : memref<128x128xi8, #gpu.address_space<workgroup>>,
                    %b : memref<64x128xi8, #gpu.address_space<workgroup>>) {
        %c0 = arith.constant 0 : index
        %zero = blockscale.acc_zero : !blockscale.acc<128x64, #blockscale.warps<8x1>>
        %product = blockscale.warpgroup_mma %a, %b, %zero
            instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0>
            layouts = <k, slots, swizzled>, <k, slots, swizzled>
            : memref<128x128xi8, #gpu.address_space<workgroup>>,
              memref<64x128xi8, #gpu.address_space<workgroup>>,
              !blockscale.acc<128x64, #blockscale.warps<8x1>>
        %sums = blockscale.warpgroup_wait %product pending = 0
            : !blockscale.acc<128x64, #blockscale.warps<8x1>>
        blockscale.acc_store %sums, %d[%c0, %c0]
            : !blockscale.acc<128x64, #blockscale.warps<8x1>>,
              memref<128x64xf32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins
    MemRefRankOf<[I8], [2, 3]>:$a, MemRefRankOf<[I8], [2, 3]>:$b,
    BlockScale_AccType:$acc, Optional<I1>:$scale_d,
    BlockScale_InstructionAttr:$instruction,
    BlockScale_TileLayoutAttr:$a_layout, BlockScale_TileLayoutAttr:$b_layout);
  let results = (outs BlockScale_AccType:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`scale_d` $scale_d^)? `instruction` `=` $instruction
    `layouts` `=` $a_layout `,` $b_layout attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Instructions along K.
    int64_t getNumSteps();
  }];
}

def BlockScale_WarpgroupMmaMixedOp
    : BlockScale_KernelOp<"warpgroup_mma_mixed", [
        AllTypesMatch<["acc", "result"]>, AttrSizedOperandSegments]> {
  let summary = "mixed-input multiply-accumulate that dequantizes in registers";
  let description = [{
    As `warpgroup_mma`, but lanes dequantize A in registers, from quantized
    elements in shared memory and scales in registers. Operands are swapped: the
    accumulator is the transpose of the product, in `#blockscale.warp_columns`.
    Warps beyond those of the layout have tiles and accumulators of their own.

    `elements` are the quantized ones of y, of the format in `types`. They have
    the shape chunks x rows x 64 bytes: a row of 64 bytes is one chunk along K.
    A lane loads a quarter of such a row at once. Therefore the elements of `b`
    are permuted along K: position 16 i + s of a chunk is element
    `q t + 4 i + e`, where q is a quarter of the elements of a chunk, and
    s = 2 t + e for e < 2, else 2 t + e + 6.

    `scales` are those of the lane's two rows, 16 w + l / 4 and 8 more, where l
    is the lane and w the warp: the 32-bit words of the first row and then those
    of the second one. A word has the scales of four blocks along K.

    The bf16 values of A are 2^-c times the dequantized elements, see
    getScaleShift, so that one multiplication is enough; values of f16 are the
    elements themselves. With a `tensor_scale`, they are the dequantized
    elements times that, each rounded once to f32 and once to bf16 or f16, as
    `dequantize` does; bf16 values of fp4 are 2^-c times that.

    Bits of `inexact` stay set. Another one is set if bf16 or f16 does not hold
    a value: if a scale is out of range or NaN, or an element infinite or NaN.
    With a tensor scale, it is set if that, times 2^c, is not finite; for bf16
    values of fp4, if its exponent is out of range (SplitScale).

    With a granularity in `types`, A is sparse, and `elements` are its kept
    ones: a chunk has twice as many elements along K. `metadata` is that of the
    two rows, as `scales` are: 32-bit words in the order of memory, 16 bytes for
    64 bytes of kept elements (32 bytes for single elements of 4 bits), which
    all lanes of a row have. An instruction has 8 chunks of 4 units; a lane uses
    neighboring ones, 2 i and 2 i + 1 of its quarter, for instruction i. So with
    `2:4`, position 32 i + 16 h + 4 t + e of `b`, for h < 2 and e < 4, is
    element `q t + 8 i + 4 h + e`. With `pairs`, even and odd elements have
    instructions of their own: position 32 (2 i + p) + 16 h + 4 t + e is element
    `q t + 16 i + 8 h + 2 e + p`, for p < 2.

    Constraints:

    * (C1) The instruction is one of wgmma, of bf16 or f16.
    * (C2) `b` is a tile that `warpgroup_mma` takes, contiguous along K.
    * (C3) The accumulator has as many rows as the instruction has N, and
      16 columns for each warp; `elements` has a row for each column.
    * (C4) `b` has the rows of the accumulator, and the K of `elements`.
    * (C5) There are scales for all blocks of both rows.
    * (C6) `instruction` has the granularity of `types`. There is metadata of
      both rows if there is one; elements of `pairs` have 4 bits then, and a
      chunk has at most 8 blocks.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @tile(%scales: memref<2xi32>, %d: memref<16x64xf32>)
          workgroup(%y : memref<2x64x64xi8, #gpu.address_space<workgroup>>,
                    %x : memref<2x16x128xi8, #gpu.address_space<workgroup>>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %none = arith.constant 0 : i32
        %first = memref.load %scales[%c0] : memref<2xi32>
        %second = memref.load %scales[%c1] : memref<2xi32>
        %zero = blockscale.acc_zero : !blockscale.acc<16x64, #blockscale.warp_columns<4>>
        %product, %inexact = blockscale.warpgroup_mma_mixed %y, %x, %zero, %none
            scales = %first, %second types = <e4m3, e4m3, ue8m0, 32>
            instruction = <wgmma, 64x16x16, unscaled, bf16, bf16, none, 0>
            layout = <k, slots, swizzled>
            : memref<2x64x64xi8, #gpu.address_space<workgroup>>,
              memref<2x16x128xi8, #gpu.address_space<workgroup>>,
              !blockscale.acc<16x64, #blockscale.warp_columns<4>>
        %sums = blockscale.warpgroup_wait %product pending = 0
            : !blockscale.acc<16x64, #blockscale.warp_columns<4>>
        blockscale.acc_store %sums, %d[%c0, %c0]
            : !blockscale.acc<16x64, #blockscale.warp_columns<4>>,
              memref<16x64xf32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins
    MemRefRankOf<[I8], [3]>:$elements, MemRefRankOf<[I8], [2, 3]>:$b,
    BlockScale_AccType:$acc, I32:$inexact, Variadic<I32>:$scales,
    Variadic<I32>:$metadata, Optional<F32>:$tensor_scale,
    BlockScale_TypeCombinationAttr:$types, BlockScale_InstructionAttr:$instruction,
    BlockScale_TileLayoutAttr:$layout);
  let results = (outs BlockScale_AccType:$result, I32:$all_inexact);
  let assemblyFormat = [{
    $elements `,` $b `,` $acc `,` $inexact `scales` `=` $scales
    (`metadata` `=` $metadata^)? (`tensor_scale` $tensor_scale^)?
    `types` `=` $types
    `instruction` `=` $instruction `layout` `=` $layout attr-dict
    `:` type($elements) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The elements of a chunk along K, which has 64 bytes in each row, those
    /// of a sparse A included that are not kept; and the blocks of them that
    /// have a scale.
    int64_t getChunkElements();
    int64_t getChunkBlocks();
    /// The 32-bit words of metadata of a row of a chunk; 0 for a dense A.
    int64_t getMetadataWords();
  }];
}

def BlockScale_WarpgroupMmaGemvOp : BlockScale_KernelOp<"warpgroup_mma_gemv", [
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "GEMV multiply-accumulate of fp4 elements";
  let description = [{
    Multiplies rows of fp4 elements, which the warps of a warpgroup share, with
    one row of fp4 elements (the vector). The 8 rows of the accumulator are
    partial sums; `acc_total` adds them. The op waits for its products.

    Elements are multiplied as fp8, without scales. At any time a row of the
    accumulator belongs to one block along K, because `b` has zeros in the rows
    that belong to other blocks. So sums of a block are exact. They are then
    multiplied by the scales of the block in f32.

    `elements` and `scales` are those of `warpgroup_mma_mixed`: a lane has a
    quarter t of a row of each chunk of 128 elements at once, and uses 8
    elements of it for each of four instructions. `b` has a column of 8 x 16
    bytes for each half of an instruction: the bytes from 4 t on in row 2 t + s
    of the columns 8 i and 8 i + 1 of a chunk are the elements 0, 2, 4, 6 and 1,
    3, 5, 7 that lanes of quarter t use for instruction i, as e5m2 and times
    128. For blocks of 16, s is i / 2; for blocks of 32, the chunk's index
    modulo 2.

    `factors` has a 32-bit word for each block along K, from the scale of the
    vector's block: for e8m0, its code minus 129; else the bits of an f32, 2^119
    times the scale.

    Bits of `inexact` stay set. Another one is set if the factor of a block
    whose sum is not zero is out of range, or if a scale is NaN.

    Constraints:

    * (G1) Both formats of `types` are e2m1.
    * (G2) `elements` has the shape chunks x rows x 64 bytes, and the
      accumulator has 8 rows and as many columns as `elements` has rows, in
      `#blockscale.warp_columns`.
    * (G3) `b` has 8 columns x 8 x 16 bytes for each chunk, and there is a
      factor for each block.
    * (G4) There are scales for all blocks of both rows.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @tile(%scales: memref<2xi32>, %d: memref<8x64xf32>)
          workgroup(%y : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
                    %x : memref<8x8x16xi8, #gpu.address_space<workgroup>>,
                    %f : memref<4xi32, #gpu.address_space<workgroup>>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %none = arith.constant 0 : i32
        %first = memref.load %scales[%c0] : memref<2xi32>
        %second = memref.load %scales[%c1] : memref<2xi32>
        %zero = blockscale.acc_zero : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
        %parts, %inexact = blockscale.warpgroup_mma_gemv %y, %x, %f, %zero, %none
            scales = %first, %second types = <e2m1, e2m1, ue8m0, 32>
            : memref<1x64x64xi8, #gpu.address_space<workgroup>>,
              memref<8x8x16xi8, #gpu.address_space<workgroup>>,
              memref<4xi32, #gpu.address_space<workgroup>>,
              !blockscale.acc<8x64, #blockscale.warp_columns<4>>
        %sums = blockscale.acc_total %parts
            : !blockscale.acc<8x64, #blockscale.warp_columns<4>>
        blockscale.acc_store %sums, %d[%c0, %c0]
            : !blockscale.acc<8x64, #blockscale.warp_columns<4>>,
              memref<8x64xf32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins
    MemRefRankOf<[I8], [3]>:$elements, MemRefRankOf<[I8], [3]>:$b,
    MemRefRankOf<[I32], [1]>:$factors, BlockScale_AccType:$acc, I32:$inexact,
    Variadic<I32>:$scales, BlockScale_TypeCombinationAttr:$types);
  let results = (outs BlockScale_AccType:$result, I32:$all_inexact);
  let assemblyFormat = [{
    $elements `,` $b `,` $factors `,` $acc `,` $inexact `scales` `=` $scales
    `types` `=` $types attr-dict
    `:` type($elements) `,` type($b) `,` type($factors) `,` type($acc)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The blocks of a chunk, which has 128 elements.
    int64_t getChunkBlocks();
  }];
}

def BlockScale_AccTotalOp : BlockScale_KernelOp<"acc_total", [
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "the sum of all rows of an accumulator";
  let description = [{
    Each row of the result is the sum of all rows of `acc`, always added in the
    same order.

    Constraint (O1): the accumulator is in `#blockscale.warp_columns`.

    The example is that of `warpgroup_mma_gemv`.
  }];
  let arguments = (ins BlockScale_AccType:$acc);
  let results = (outs BlockScale_AccType:$result);
  let assemblyFormat = "$acc attr-dict `:` type($acc)";
  let hasVerifier = 1;
}

def BlockScale_AccTransposeOp : BlockScale_KernelOp<"acc_transpose"> {
  let summary = "an accumulator of wgmma as the rows of its A";
  let description = [{
    The transpose of an accumulator in `#blockscale.warp_columns`, in the same
    registers: `#blockscale.warps`, in which each warp has the 16 rows that it
    had as columns.

    Constraint (P1): the layout of `acc` is `#blockscale.warp_columns<w>`, and
    the result is its transpose in `#blockscale.warps<wx1>`.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @transpose(%d: memref<64x16xf32>) {
        %c0 = arith.constant 0 : index
        %zero = blockscale.acc_zero : !blockscale.acc<16x64, #blockscale.warp_columns<4>>
        %sums = blockscale.acc_transpose %zero
            : !blockscale.acc<16x64, #blockscale.warp_columns<4>>
            -> !blockscale.acc<64x16, #blockscale.warps<4x1>>
        blockscale.acc_store %sums, %d[%c0, %c0]
            : !blockscale.acc<64x16, #blockscale.warps<4x1>>,
              memref<64x16xf32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins BlockScale_AccType:$acc);
  let results = (outs BlockScale_AccType:$result);
  let assemblyFormat = "$acc attr-dict `:` type($acc) `->` type($result)";
  let hasVerifier = 1;
}

def BlockScale_WarpgroupWaitOp : BlockScale_KernelOp<"warpgroup_wait", [
    AllTypesMatch<["accs", "results"]>]> {
  let summary = "wait for products of warpgroups";
  let description = [{
    Waits until at most the last `pending` of the `warpgroup_mma` are not
    complete. All warps of the accumulators execute it. After a wait with 0,
    other ops may use the results and overwrite the tiles.

    Constraint (V1): `pending` is from 0 to 7, and there is an accumulator.

    The example is that of `warpgroup_mma`.
  }];
  let arguments = (ins Variadic<BlockScale_AccType>:$accs, I64Attr:$pending);
  let results = (outs Variadic<BlockScale_AccType>:$results);
  let assemblyFormat = [{
    $accs `pending` `=` $pending attr-dict `:` type($accs)
  }];
  let hasVerifier = 1;
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEWGMMAOPS_TD
