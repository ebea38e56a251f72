//===- BlockScaleTcgen05Types.td - Tensor memory -----------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types for data in tensor memory, whose values are addresses there, and the
// base class of the ops of tcgen05.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALETCGEN05TYPES_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALETCGEN05TYPES_TD

include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class BlockScale_Tcgen05Type<string name, string typeMnemonic>
    : TypeDef<BlockScale_Dialect, name> {
  let mnemonic = typeMnemonic;
  let genVerifyDecl = 1;
}

def BlockScale_TmemType : BlockScale_Tcgen05Type<"Tmem", "tmem"> {
  let summary = "an allocation in tensor memory";
  let description = [{
    All 128 lanes of `columns` columns of 32 bits. `TensorMemory.h` has the
    tables for this type and the other types of tensor memory. In the NVVM
    dialect, all of them are an `i32`: the lane in the upper half, the column in
    the lower one.

    Constraint (C1): a power of two from 32 to 512.

    Example: `!blockscale.tmem<512>`.
  }];
  let parameters = (ins "int64_t":$columns);
  let assemblyFormat = "`<` $columns `>`";
}

def BlockScale_TmemAccType : BlockScale_Tcgen05Type<"TmemAcc", "tmem_acc"> {
  let summary = "an f32 accumulator in tensor memory";
  let description = [{
    M x N sums of one `tcgen05.mma`. PTX ISA, "Data path layout organization",
    says where sum (m, n) is; with the layout D, which a single block uses, it
    is in lane m and column n. `group` is 2 for the accumulator of a pair of
    CTAs.

    Constraint (C1): M is 128 (with `group = 2`, 128 or 256), and N is 8 to 256
    in steps of 8 (with `group = 2`, 16 to 256 in steps of 16).

    Examples: `!blockscale.tmem_acc<128x256>`,
    `!blockscale.tmem_acc<256x256, group = 2>`.
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n,
                        DefaultValuedParameter<"int64_t", "1">:$group);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static TmemAccType get(MLIRContext *context, int64_t m, int64_t n) {
      return get(context, m, n, 1);
    }
    /// The data path layout.
    const AccLayout &getLayout() const;
    /// Columns of each block.
    int64_t getNumColumns() const;
  }];
}

def BlockScale_TmemScalesType
    : BlockScale_Tcgen05Type<"TmemScales", "tmem_scales"> {
  let summary = "scales in tensor memory";
  let description = [{
    Scales of rows x blocks along K, a byte each. The scale (r, s) is in lanes
    `r mod 32 + 32 i` for i = 0 to 3, in byte `s mod 4` of column `r div 32 +
    (rows div 32) (s div 4)`. So a 32-bit column holds four blocks of a row, and
    `rows / 32` columns hold four blocks of all rows (a *word*).

    With `copies = 2`, for B of pairs of CTAs with M = 128, the first half of
    the rows is in lanes `r mod 32 + 32 i` for i = 0 and 1, and the other half
    is in the same columns, 64 lanes further. A word then has `rows / 64`
    columns.

    Constraint (C1): There are 128 rows (for up to 128) or 256 (for more), and a
    multiple of 4 blocks that fits in tensor memory; 2 copies have 256 rows, and
    otherwise there are 4 copies.

    Example: `!blockscale.tmem_scales<128x4>`.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$blocks,
                        DefaultValuedParameter<"int64_t", "4">:$copies);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static TmemScalesType get(MLIRContext *context, int64_t rows,
                              int64_t blocks) {
      return get(context, rows, blocks, /*copies=*/4);
    }
    /// Columns from one word of four blocks to the next.
    int64_t getColumnsOfWord() const;
    int64_t getNumWords() const;
    int64_t getNumColumns() const {
      return getColumnsOfWord() * getNumWords();
    }
  }];
}

def BlockScale_TmemOperandType
    : BlockScale_Tcgen05Type<"TmemOperand", "tmem_a"> {
  let summary = "elements of A in tensor memory";
  let description = [{
    Rows of A in lanes, with 4 bytes along K in each column: 4 elements, or 8
    packed elements of 4 bits. In a byte of its own, the code of an element is
    in bits [5:2] (fp4) or [6:1] (fp6). One instruction reads 8 columns.

    Constraint (C1): There are 128 rows, and at least 8 columns and at most as
    many as tensor memory has.

    Example: `!blockscale.tmem_a<128x8>`.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getNumColumns() const { return getColumns(); }
  }];
}

def BlockScale_TmemMetadataType
    : BlockScale_Tcgen05Type<"TmemMetadata", "tmem_metadata"> {
  let summary = "metadata of a sparse A in tensor memory";
  let description = [{
    Rows of metadata in lanes, with 4 bytes of a row in each column. One
    instruction reads 8 bytes of each row, 2 columns, and one `copy_metadata`
    writes 16.

    Constraint (C1): There are 128 rows, and a multiple of 16 bytes for each of
    them that fits in tensor memory.

    Example: `!blockscale.tmem_metadata<128x32>`.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$bytes);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getNumColumns() const;
    /// The instructions whose metadata it holds.
    int64_t getNumSteps() const;
  }];
}

def BlockScale_TmemWaitKind : I32EnumAttr<
    "TmemWaitKind", "the accesses to wait for",
    [I32EnumAttrCase<"Load", 0, "load">,
     I32EnumAttrCase<"Store", 1, "store">]> {
  let cppNamespace = "::mlir::blockscale";
  let genSpecializedAttr = 0;
}
def BlockScale_TmemWaitKindAttr
    : EnumAttr<BlockScale_Dialect, BlockScale_TmemWaitKind, "tmem_wait_kind">;

def BlockScale_Tcgen05FenceKind : I32EnumAttr<
    "Tcgen05FenceKind", "the side of a barrier",
    [I32EnumAttrCase<"Before", 0, "before">,
     I32EnumAttrCase<"After", 1, "after">]> {
  let cppNamespace = "::mlir::blockscale";
  let genSpecializedAttr = 0;
}
def BlockScale_Tcgen05FenceKindAttr
    : EnumAttr<BlockScale_Dialect, BlockScale_Tcgen05FenceKind,
               "tcgen05_fence_kind">;

//===----------------------------------------------------------------------===//
// The base class of ops
//===----------------------------------------------------------------------===//

/// An op for chips with tensor memory: an instruction, or an address or a
/// descriptor for one. `opcode` is its name in messages.
class BlockScale_Tcgen05Op<string mnemonic, string opcode,
                           list<Trait> traits = []>
    : BlockScale_InstructionOp<mnemonic, traits> {
  code instructionDeclaration = [{
    unsigned getLowestPtxVersion() { return kTensorMemoryPtx; }
    bool isSupportedOn(const Chip &chip) { return hasTensorMemory(chip); }
    std::string describeInstruction() { return "}] # opcode # [{"; }
  }];
  let extraClassDeclaration = instructionDeclaration;
}

/// The number of CTAs that execute together, PTX `.cta_group`.
defvar BlockScale_Group = DefaultValuedAttr<I64Attr, "1">;

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALETCGEN05TYPES_TD
