//===- BlockScaleMmaSyncOps.td - Ops for mma.sync ----------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions of a warp, with operands in registers, and the loads of these
// from shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEMMASYNCOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEMMASYNCOPS_TD

include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleInterfaces.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class BlockScale_Registers<int count, Type element, string builder>
    : Type<And<[FixedVectorOfLengthAndType<[count], [element]>.predicate,
                FixedVectorOfRankAndType<[1], [element]>.predicate]>,
           "vector of " # count # " " # element.summary, "::mlir::VectorType">,
      BuildableType<"::mlir::VectorType::get({" # count # "}, " # builder #
                    ")">;
defvar BlockScale_AFragment
    = BlockScale_Registers<4, I32, "$_builder.getI32Type()">;
defvar BlockScale_BFragment
    = BlockScale_Registers<2, I32, "$_builder.getI32Type()">;
defvar BlockScale_CFragment
    = BlockScale_Registers<4, F32, "$_builder.getF32Type()">;

def BlockScale_LoadMatrixOp : BlockScale_InstructionOp<
    "load_matrix", [],
    DeclareOpInterfaceMethods<BlockScale_InstructionOpInterface>> {
  let summary = "one `ldmatrix` instruction";
  let description = [{
    Loads matrices of bytes from shared memory to the lanes of a warp. Each lane
    passes where one row of 16 bytes starts, `offset` + `plus` bytes from the
    start of the memory, in the order of PTX ISA, "ldmatrix":

    * by default matrices have 8 rows (`.m8n8.b16`), and register r of lane l
      gets bytes 4 (l mod 4) to 4 (l mod 4) + 3 of row l div 4 of matrix r;
    * `transposed`, they have 16 rows (`.m16n16.trans.b8`), and registers 2 i
      and 2 i + 1 get byte l div 4, and the one 8 further, of rows 4 (l mod 4)
      to 4 (l mod 4) + 3 of matrix i;
    * `transposed` with `code_bits` 16, they have 8 rows (`.m8n8.trans.b16`),
      and register r of lane l gets the 2 bytes number l div 4 of rows
      2 (l mod 4) and 2 (l mod 4) + 1 of matrix r.

    With `code_bits` 4 or 6, the row starts with 16 elements of as many bits; each
    is extended to a byte (`.b8x16.b4x16_p64`, `.b8x16.b6x16_p32`).

    Constraints:

    * (D1) The memory has a static shape, the identity layout and the workgroup
      memory space; rows that lanes pass are aligned to 16 bytes.
    * (D2) `code_bits` is 4, 6 or 8, or 16 where it is `transposed`.

    Passes that know the chip check whether it has the instruction.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @load(%tile: memref<8x64xi8, #gpu.address_space<workgroup>>,
                     %row: index, %out: memref<32x4xi32>) {
        %lane = gpu.lane_id
        %c0 = arith.constant 0 : index
        %r = blockscale.load_matrix %tile[%row] + 16 code_bits = 8
             : memref<8x64xi8, #gpu.address_space<workgroup>> -> vector<4xi32>
        vector.store %r, %out[%lane, %c0] : memref<32x4xi32>, vector<4xi32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins
    Arg<MemRefRankOf<[I8], [2, 3]>, "rows", [MemRead]>:$memory, Index:$offset,
    DefaultValuedAttr<I64Attr, "0">:$plus, I64Attr:$code_bits,
    UnitAttr:$transposed);
  let results = (outs AnyTypeOf<[BlockScale_AFragment, BlockScale_BFragment]>
                          :$registers);
  let assemblyFormat = [{
    $memory `[` $offset `]` (`+` $plus^)? `code_bits` `=` $code_bits
    (`transposed` $transposed^)? attr-dict `:` type($memory) `->`
    type($registers)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The entry of the table of loads.
    const MatrixLoad &getForm();
  }];
}

def BlockScale_MmaSyncOp : BlockScale_InstructionOp<
    "mma_sync", [Pure],
    DeclareOpInterfaceMethods<BlockScale_InstructionOpInterface>> {
  let summary = "one block-scaled `mma.sync` instruction";
  let description = [{
    `d = (a * scale_a) x (b * scale_b) + c` by one warp, all of whose lanes
    execute the op together. The fragments of 16 x k (a), k x 8 (b) and 16 x 8
    (c, d) are those of PTX ISA, "Matrix Fragments for mma.m16n8k32" and
    "... m16n8k64"; the scale operands those of "Block Scaling for mma.sync".

    In brackets after a scale register are the byte and the thread selector.

    Constraints:

    * (M1) The instruction is a dense one of mma.sync.
    * (M2) Selectors are those of Table 37: bytes 0, 1, 2, 3 for
      `.scale_vec::1X`, 0, 2 for 2X and 0 for 4X; threads 0, 1 for A and 0, 1,
      2, 3 for B.

    Passes that know the chip check whether it has the instruction.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @step(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                     %sa: i32, %sb: i32, %out: memref<32x4xf32>) {
        %lane = gpu.lane_id
        %c0 = arith.constant 0 : index
        %d = blockscale.mma_sync
             <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
             %a, %b, %c, %sa[3, 1], %sb[0, 2]
        vector.store %d, %out[%lane, %c0] : memref<32x4xf32>, vector<4xf32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins
    BlockScale_InstructionAttr:$instruction,
    BlockScale_AFragment:$a, BlockScale_BFragment:$b, BlockScale_CFragment:$c,
    I32:$a_scale, I64Attr:$a_byte, I64Attr:$a_thread,
    I32:$b_scale, I64Attr:$b_byte, I64Attr:$b_thread);
  let results = (outs BlockScale_CFragment:$d);
  let assemblyFormat = [{
    $instruction $a `,` $b `,` $c `,` $a_scale `[` $a_byte `,` $a_thread `]`
    `,` $b_scale `[` $b_byte `,` $b_thread `]` attr-dict
  }];
  let hasVerifier = 1;
}

def BlockScale_MmaSpOp : BlockScale_InstructionOp<
    "mma_sp", [Pure],
    DeclareOpInterfaceMethods<BlockScale_InstructionOpInterface>> {
  let summary = "one block-scaled `mma.sp` instruction";
  let description = [{
    `mma_sync` with a sparse A: `mma.sp` with ordered metadata and the selector
    0. The fragments are those of PTX ISA, "Matrix fragments for sparse
    mma.m16n8k64" (8-bit elements) and "... mma.m16n8k128" (4-bit elements):

    * `a` has the kept elements, as a dense A of K / 2 does.
    * `b` has four registers: those of the first half of K, then those of the
      second one, as a dense B of K / 2 each.
    * `metadata` has the eight fields of row `lane / 4 + 8 (lane % 2)`, of the
      half `lane / 2 % 2` of K.

    Constraints:

    * (P1) The instruction is a sparse one of mma.sync.
    * (P2) Selectors are those of (M2).

    Passes that know the chip check whether it has the instruction.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @step(%a: vector<4xi32>, %b: vector<4xi32>, %c: vector<4xf32>,
                     %e: i32, %sa: i32, %sb: i32, %out: memref<32x4xf32>) {
        %lane = gpu.lane_id
        %c0 = arith.constant 0 : index
        %d = blockscale.mma_sp
             <mma_sync, 16x8x64, mxf8f6f4, e4m3, e2m1, ue8m0, 1, 2:4>
             %a, %b, %c, %e, %sa[3, 1], %sb[0, 2]
        vector.store %d, %out[%lane, %c0] : memref<32x4xf32>, vector<4xf32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins
    BlockScale_InstructionAttr:$instruction,
    BlockScale_AFragment:$a, BlockScale_AFragment:$b,
    BlockScale_CFragment:$c, I32:$metadata,
    I32:$a_scale, I64Attr:$a_byte, I64Attr:$a_thread,
    I32:$b_scale, I64Attr:$b_byte, I64Attr:$b_thread);
  let results = (outs BlockScale_CFragment:$d);
  let assemblyFormat = [{
    $instruction $a `,` $b `,` $c `,` $metadata `,`
    $a_scale `[` $a_byte `,` $a_thread `]` `,`
    $b_scale `[` $b_byte `,` $b_thread `]` attr-dict
  }];
  let hasVerifier = 1;
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEMMASYNCOPS_TD
