//===- BlockScaleAttrs.td - Attributes and types --------- -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEATTRS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEATTRS_TD

include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "mlir/IR/AttrTypeBase.td"

class BlockScale_Attr<string name, string attrMnemonic>
    : AttrDef<BlockScale_Dialect, name> {
  let mnemonic = attrMnemonic;
}

// Rows of the tables of Support, under the names that PTX gives them.
def BlockScale_FormatParam
    : AttrOrTypeParameter<"::mlir::blockscale::Format", "a number format">;
def BlockScale_KindParam
    : AttrOrTypeParameter<"::mlir::blockscale::Kind", "an instruction kind">;
def BlockScale_PathParam
    : AttrOrTypeParameter<"::mlir::blockscale::Path", "a path">;

def BlockScale_PathAttr : BlockScale_Attr<"Path", "path"> {
  let summary = "the way in which a chip computes an op";
  let description = [{
    `mma_sync` or `tcgen05`: with the block-scaled instruction of that name.
    `decompose`: with plain arithmetic.

    Example: `#blockscale.path<mma_sync>`.
  }];
  let parameters = (ins BlockScale_PathParam:$value);
  let assemblyFormat = "`<` $value `>`";
}

def BlockScale_RowAttr : BlockScale_Attr<"Row", "row"> {
  let summary = "one of the 27 legal combinations of `mma_scaled`";
  let description = [{
    The formats of the elements of A and B, the format of the scales, and the
    number of elements along K that share one scale.

    Example: `#blockscale.row<e4m3, e2m1, ue8m0, 32>`.
  }];
  let parameters = (ins
    BlockScale_FormatParam:$a, BlockScale_FormatParam:$b,
    BlockScale_FormatParam:$scale, "unsigned":$block_size);
  let assemblyFormat = "`<` $a `,` $b `,` $scale `,` $block_size `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    OpRow getRow() const {
      return {getA(), getB(), getScale(), getBlockSize()};
    }
    static RowAttr get(MLIRContext *context, const OpRow &row) {
      return get(context, row.lhs, row.rhs, row.scale, row.blockSize);
    }
  }];
}

def BlockScale_InstructionAttr
    : BlockScale_Attr<"Instruction", "instruction"> {
  let summary = "one of the 28 dense block-scaled mma.sync instructions";
  let description = [{
    Kind, formats of A, B and the scales, and scales along K (`.scale_vec`).

    Example: `#blockscale.instruction<mxf4nvf4, e2m1, e2m1, ue4m3, 4>`.
  }];
  let parameters = (ins
    BlockScale_KindParam:$kind,
    BlockScale_FormatParam:$a, BlockScale_FormatParam:$b,
    BlockScale_FormatParam:$scale, "unsigned":$scale_vec);
  let assemblyFormat = [{
    `<` $kind `,` $a `,` $b `,` $scale `,` $scale_vec `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The row of the instruction table.
    const Instruction &getInstruction() const;
    static InstructionAttr get(MLIRContext *context,
                               const Instruction &instruction);
  }];
}

def BlockScale_MajorParam
    : AttrOrTypeParameter<"::mlir::blockscale::Major", "the contiguous index">;
def BlockScale_StorageParam
    : AttrOrTypeParameter<"::mlir::blockscale::Storage",
                          "what a row holds of an element">;

def BlockScale_TileLayoutAttr : BlockScale_Attr<"TileLayout", "tile_layout"> {
  let summary = "how a tile of elements lies in shared memory";
  let description = [{
    * The contiguous index: `k` (a row of memory is a row of A, or a column of
      B) or `mn` (a row of memory is one step along K).
    * What a row holds of each element: `slots` (the slot of the instruction),
      `bytes` (a byte with the code in its low bits) or `padded` (a bit stream
      of 16 codes at the start of every 16 bytes, then padding).
    * `swizzled`: piece c of 16 bytes of row r is where piece
      `c xor (r mod 8)` would be; in rows of 64 or 32 bytes
      `c xor (r div 2 mod 4)` or `c xor (r div 4 mod 2)`.

    Example: `#blockscale.tile_layout<k, slots, swizzled>`.
  }];
  let parameters = (ins BlockScale_MajorParam:$major,
                        BlockScale_StorageParam:$storage,
                        DefaultValuedParameter<"bool", "false">:$swizzled);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    TileLayout getLayout() const {
      return {getMajor(), getStorage(), getSwizzled()};
    }
    static TileLayoutAttr get(MLIRContext *context, const TileLayout &layout) {
      return get(context, layout.major, layout.storage, layout.isSwizzled);
    }
  }];
}

def BlockScale_ScheduleAttr : BlockScale_Attr<"Schedule", "schedule"> {
  let summary = "how a kernel divides a matrix multiply";
  let description = [{
    * `tile`: the M x N results that a block computes, and the elements of K
      that it takes at a time.
    * `warps`: the rows and columns of warps in a block, which share M and N of
      the tile evenly.
    * `stages`: how many tiles along K shared memory holds. While the warps
      multiply one, the others are on their way.

    A warp has whole tiles of the instruction, 16 x 8, and a power of two of
    them, or whole groups of 32 rows and columns; K of the tile is a power of
    two from 128 to 1024. What a chip and the types of an op ask for besides is
    checked by `blockscale-select-schedule`.

    Example:
    `#blockscale.schedule<tile = [128, 128, 128], warps = [2, 2], stages = 3>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$tile,
                        ArrayRefParameter<"int64_t">:$warps,
                        "int64_t":$stages);
  let assemblyFormat = [{
    `<` `tile` `=` `[` $tile `]` `,` `warps` `=` `[` $warps `]` `,`
    `stages` `=` $stages `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getM() const { return getTile()[0]; }
    int64_t getN() const { return getTile()[1]; }
    int64_t getK() const { return getTile()[2]; }
    int64_t getWarpsM() const { return getWarps()[0]; }
    int64_t getWarpsN() const { return getWarps()[1]; }
    int64_t getWarpM() const { return getM() / getWarpsM(); }
    int64_t getWarpN() const { return getN() / getWarpsN(); }
    int64_t getNumThreads() const {
      return getWarpsM() * getWarpsN() * kWarpLanes;
    }
  }];
}

def BlockScale_AccType : TypeDef<BlockScale_Dialect, "Acc"> {
  let mnemonic = "acc";
  let summary = "an f32 accumulator of a block or a warp";
  let description = [{
    M x N sums of a tile, wherever the path keeps them: for mma.sync in the
    registers of `warps[0]` x `warps[1]` warps, which share the tile evenly.
    Warp w of the block has row `w / warps[1]` and column `w % warps[1]`.

    Example: `!blockscale.acc<64x64, 2x2>`.
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$warps_m,
                        "int64_t":$warps_n);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getWarpM() const { return getM() / getWarpsM(); }
    int64_t getWarpN() const { return getN() / getWarpsN(); }
    int64_t getNumWarps() const { return getWarpsM() * getWarpsN(); }
  }];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEATTRS_TD
