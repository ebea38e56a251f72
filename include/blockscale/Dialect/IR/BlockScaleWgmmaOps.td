//===- BlockScaleWgmmaOps.td - Products of warpgroups ------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asynchronous products of tiles in shared memory, with sums in the registers
// of warpgroups: four warps in a row.
//
// Source: PTX ISA 9.0, "Asynchronous warpgroup level matrix instructions".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEWGMMAOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEWGMMAOPS_TD

include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleDialect.td"

def BlockScale_WarpgroupMmaOp : BlockScale_Op<"warpgroup_mma", [
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "asynchronous multiply-accumulate of a tile in registers";
  let description = [{
    Adds the product of two tiles in shared memory to an accumulator that the
    first warps of the block share, which execute it together: each four of them
    64 rows. It starts the product, and hands it over as a group; nothing but
    another `warpgroup_mma` may take the result before a `warpgroup_wait`.

    Tiles are those of `matrix_descriptor`, with all of K of the tile.

    Constraints:

    * (W1) The instruction is one of wgmma.
    * (W2) Tiles are such as `matrix_descriptor` asks for, of `slots`.
    * (W3) The accumulator has N of the instruction and 64 rows for each four of
      its warps, which are its rows: `#blockscale.warps<4x1>`, `8x1`, ...
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
            instruction = <wgmma, 64x64x16, plain, bf16, bf16, none, 0>
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
    BlockScale_AccType:$acc, BlockScale_InstructionAttr:$instruction,
    BlockScale_TileLayoutAttr:$a_layout, BlockScale_TileLayoutAttr:$b_layout);
  let results = (outs BlockScale_AccType:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc `instruction` `=` $instruction
    `layouts` `=` $a_layout `,` $b_layout attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Instructions along K.
    int64_t getNumSteps();
  }];
}

def BlockScale_WarpgroupMmaCodesOp : BlockScale_Op<"warpgroup_mma_codes", [
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "multiply-accumulate of codes that become numbers in registers";
  let description = [{
    As `warpgroup_mma`, with A made of codes in shared memory and of scales in
    registers. The accumulator is the transpose of what is added, in
    `#blockscale.warp_columns`: warps that are beyond those of the layout have
    tiles and accumulators of their own.

    `codes` are those of y of `row`: boxes x rows x 64 bytes, each row the codes
    of one box along K. A lane takes a quarter of a row of it at once, so that
    the elements of `b` have another order along K than the codes. Of the
    elements of a box, position 16 i + s is element `q t + 4 i + e`, where q is
    a quarter of the box, and s = 2 t + e for e < 2, else 2 t + e + 6.

    `scales` are those of a lane's two rows, 16 w + l / 4 and 8 more, where l is
    the lane and w the warp: the words of the first row and then those of the
    second one. Each word has the scales of four blocks along K.

    Numbers of A are 2^-c of what codes and scales stand for, see
    getScaleShift, so that one multiplication makes them.
    The bits of `lost` stay, and more are set where bf16 does not hold a number:
    where a scale is out of range or NaN, or a code infinite or NaN.

    Constraints:

    * (C1) The instruction is one of wgmma, of bf16.
    * (C2) `b` is such a tile as `warpgroup_mma` takes, along K.
    * (C3) The accumulator has as many rows as the instruction has N, and
      16 columns for each warp; `codes` have a row for each column.
    * (C4) `b` has the rows of the accumulator, and the K of `codes`.
    * (C5) There are scales for all blocks of both rows.

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
        %product, %lost = blockscale.warpgroup_mma_codes %y, %x, %zero, %none
            scales = %first, %second row = <e4m3, e4m3, ue8m0, 32>
            instruction = <wgmma, 64x16x16, plain, bf16, bf16, none, 0>
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
    MemRefRankOf<[I8], [3]>:$codes, MemRefRankOf<[I8], [2, 3]>:$b,
    BlockScale_AccType:$acc, I32:$lost, Variadic<I32>:$scales,
    BlockScale_RowAttr:$row, BlockScale_InstructionAttr:$instruction,
    BlockScale_TileLayoutAttr:$layout);
  let results = (outs BlockScale_AccType:$result, I32:$all_lost);
  let assemblyFormat = [{
    $codes `,` $b `,` $acc `,` $lost `scales` `=` $scales `row` `=` $row
    `instruction` `=` $instruction `layout` `=` $layout attr-dict
    `:` type($codes) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Elements of a box, which are codes of a row in 64 bytes, and blocks of
    /// them that have a scale.
    int64_t getBoxElements();
    int64_t getBoxBlocks();
  }];
}

def BlockScale_WarpgroupWaitOp : BlockScale_Op<"warpgroup_wait", [
    AllTypesMatch<["accs", "results"]>]> {
  let summary = "wait for products of warpgroups";
  let description = [{
    Waits until at most `pending` of the last `warpgroup_mma` are not complete.
    All warps of the accumulators execute it. With 0, the results are the sums,
    and others may read the registers and write the tiles.

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
