//===- BlockScaleAttrs.td - Attributes and types -----------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEATTRS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEATTRS_TD

include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class BlockScale_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<BlockScale_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

// Entries of the tables of Support, with the names that PTX gives them.
def BlockScale_FormatParam
    : AttrOrTypeParameter<"::mlir::blockscale::Format", "a number format">;
def BlockScale_KindParam
    : AttrOrTypeParameter<"::mlir::blockscale::Kind", "an instruction kind">;
def BlockScale_PathParam
    : AttrOrTypeParameter<"::mlir::blockscale::Path", "a path">;

def BlockScale_ChipParam
    : AttrOrTypeParameter<"const ::mlir::blockscale::Chip *", "a chip">;

def BlockScale_TargetAttr : BlockScale_Attr<"Target", "target"> {
  let summary = "the chip that a module is compiled for";
  let description = [{
    Passes read it from the attribute `blockscale.target` of the module. With
    `emulated_on`, the code runs on that chip. Block-scaled instructions, and
    others that it lacks, are computed in software there.

    Examples: `#blockscale.target<sm_120a>`,
    `#blockscale.target<sm_120a, emulated_on = sm_90>`.
  }];
  let parameters = (ins BlockScale_ChipParam:$chip,
                        BlockScale_ChipParam:$emulated_on);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The chip that runs the code.
    const Chip &getFinalChip() const {
      return getEmulatedOn() ? *getEmulatedOn() : *getChip();
    }
  }];
}

def BlockScale_PathAttr : BlockScale_Attr<"Path", "path"> {
  let summary = "the way in which a chip computes an op";
  let description = [{
    * `mma_sync`, `tcgen05`: the block-scaled instruction of that name.
    * `dequant_mma`: `mma.sync` of bf16; operands are dequantized in registers.
    * `wgmma`: the instruction of that name, for matmuls of linalg without
      scales, and for quantized operands that are dequantized first.
    * `decompose`: scalar arithmetic, without tensor cores.

    Example: `#blockscale.path<mma_sync>`.
  }];
  let parameters = (ins BlockScale_PathParam:$value);
  let assemblyFormat = "`<` $value `>`";
}

def BlockScale_SparsityParam
    : OptionalParameter<"std::optional<::mlir::blockscale::Granularity>",
                        "what A keeps two of four of">;

def BlockScale_TypeCombinationAttr : BlockScale_Attr<"TypeCombination", "type_combination"> {
  let summary = "one of the legal combinations of `mma_scaled`, or of a sparse A";
  let description = [{
    The formats of the elements of A and B, the format of the scales, and the
    number of elements along K that share one scale. In kernels of mixed input,
    A has bf16 or f16 values without scales: `<bf16, e2m1, ue8m0, 32>`. The
    granularity of a sparse A comes last: `<e2m1, e2m1, ue4m3, 32, pairs>`.

    Example: `#blockscale.type_combination<e4m3, e2m1, ue8m0, 32>`.
  }];
  let parameters = (ins
    BlockScale_FormatParam:$a, BlockScale_FormatParam:$b,
    BlockScale_FormatParam:$scale, "unsigned":$block_size,
    BlockScale_SparsityParam:$sparsity);
  let assemblyFormat = [{
    `<` $a `,` $b `,` $scale `,` $block_size (`,` $sparsity^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    TypeCombination getCombination() const {
      return {getA(), getB(), getScale(), getBlockSize(), getSparsity()};
    }
    static TypeCombinationAttr get(MLIRContext *context, const TypeCombination &row) {
      return get(context, row.lhs, row.rhs, row.scale, row.blockSize,
                 row.sparsity);
    }
  }];
}

def BlockScale_InstructionAttr
    : BlockScale_Attr<"Instruction", "instruction"> {
  let summary = "an instruction of block-scaled operands";
  let description = [{
    One row of the instruction table: its path, M x N x K, kind, the formats of
    A, B and the scales, and scales along K (`.scale_vec`). Where the kernel
    chooses N, it is the N that was chosen. On the path `dequant_mma`, the
    attribute stands for several `mma.sync.m16n8k16` of bf16 (of f16 if A is
    f16): those that together use one register of quantized elements of B. The
    kind is `bf16` if these are in bytes, and `bf16_packed` if they are packed.
    The granularity of a sparse A comes last; K is that of B then.

    `blockscale-legalize` gives it to each `mma_scaled`. From there on, it says
    how the op is computed.

    Example:
    `#blockscale.instruction<mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>`.
  }];
  let parameters = (ins
    BlockScale_PathParam:$path, "int64_t":$m, "int64_t":$n, "int64_t":$k,
    BlockScale_KindParam:$kind,
    BlockScale_FormatParam:$a, BlockScale_FormatParam:$b,
    BlockScale_FormatParam:$scale, "unsigned":$scale_vec,
    BlockScale_SparsityParam:$sparsity);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The row of the instruction table.
    const Instruction &getInstruction() const;
    /// Whether it takes scales, itself or in the sequence that replaces it.
    bool hasScales() const { return getScaleVec() != 0; }
    bool isSparse() const { return getSparsity().has_value(); }
    /// `instruction` with the smallest N that it has.
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
  let summary = "the layout of the elements of a tile in shared memory";
  let description = [{
    * The contiguous index: `k` (a row of memory is a row of A, or a column of
      B) or `mn` (a row of memory is one step along K).
    * How a row stores its elements: `slots` (the slot of the instruction),
      `bytes` (a byte with the code in its low bits), `padded` (a bit stream
      of 16 elements at the start of every 16 bytes, then padding) or `packed`
      (two elements of 4 bits in a byte, for an instruction with bytes for
      slots).
    * `swizzled`: chunk c of 16 bytes of row r is stored at the position of
      chunk `c xor (r mod 8)`; in rows of 64 or 32 bytes, at that of
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

def BlockScale_ScaleOrderParam
    : AttrOrTypeParameter<"::mlir::blockscale::ScaleOrder",
                          "the order of scales">;

def BlockScale_ScaleTileLayoutAttr
    : BlockScale_Attr<"ScaleTileLayout", "scale_tile_layout"> {
  let summary = "the layout of the scales of a tile in shared memory";
  let description = [{
    In the last three layouts, the *outer index* is the one in the
    dimension of size 32.

    * `rows`: memory of the shape `M x K_s` (`N x K_s`), row by row.
    * `lanes`: of the shape `G x 32 x 4W`, in the order in which lanes of
      mma.sync read them: outer index `4 (r mod 8) + r div 8` of group g has the
      `K_s = 4W` scales of row `32 g + r`.
    * `parts`: of the shape `W x P x 32 x 4Q`, the same order for 32-bit words
      that were copied from the 32x4x4 layout:
      outer index `(4 (r mod 8) + r div 8) xor (p mod 4)` of part p has,
      for q = 0, ..., Q - 1, the scales `4w`, ..., `4w + 3` of row
      `32 (p Q + q) + r`; Q is 1, 2 or 4.
    * `atoms`: of the shape `R x W x 32 x 16`, atoms of the 32x4x4 layout, as
      in global memory: outer index `r mod 32` of atom (`r div 128`, w) has,
      from byte `4 (r mod 128 div 32)` on, the scales `4w`, ..., `4w + 3` of row
      r.

    The table of `lanes` and `parts` is `kScaleOuterTerms` of SharedLayout.h.

    Example: `#blockscale.scale_tile_layout<lanes>`.
  }];
  let parameters = (ins BlockScale_ScaleOrderParam:$order);
  let assemblyFormat = "`<` $order `>`";
}

def BlockScale_KernelKind : I32EnumAttr<
    "KernelKind", "which kernel computes a matrix multiply",
    [I32EnumAttrCase<"Reference", 0, "reference">,
     I32EnumAttrCase<"Multistage", 1, "multistage">,
     I32EnumAttrCase<"Dense", 2, "dense">,
     I32EnumAttrCase<"MixedInput", 3, "mixed_input">,
     I32EnumAttrCase<"Gemv", 4, "gemv">,
     I32EnumAttrCase<"SparseInput", 5, "sparse_input">]> {
  let cppNamespace = "::mlir::blockscale";
  let genSpecializedAttr = 0;
}

def BlockScale_MultistageScheduleAttr
    : BlockScale_Attr<"MultistageSchedule", "multistage_schedule", [
        DeclareAttrInterfaceMethods<BlockScale_ScheduleInterface>]> {
  let summary = "the schedule of a multistage (cp.async) kernel";
  let description = [{
    For the paths `mma_sync` and `dequant_mma`, whose instructions are executed
    by a warp.

    * `tile`: the M x N results that a block computes, and the elements along K
      of a stage.
    * `warps`: the rows and columns of warps in a block, which share M and N of
      the tile evenly.
    * `stages`: how many tiles along K shared memory holds. While the warps
      multiply one, the others are loaded.
    * `split_k`: the number of split-K ranges. Different blocks compute the
      partial sums of the ranges, and a second kernel reduces them. This helps
      if the result has few tiles. A range is a multiple of the tile along K.
      The default is 1: no split, no second kernel.

    A warp has a power of two of instruction tiles (16 x 8), or a multiple of 32
    rows and columns. K of the tile is a power of two from 32 to 1024, for
    operands with scales from 128 on.
    `blockscale-select-schedule` checks the limits of the chip and of the types.

    Example:
    `#blockscale.multistage_schedule<tile = [128, 128, 128], warps = [2, 2], stages = 3>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$tile,
                        ArrayRefParameter<"int64_t">:$warps,
                        "int64_t":$stages,
                        DefaultValuedParameter<"int64_t", "1">:$split_k);
  let assemblyFormat = [{
    `<` `tile` `=` `[` $tile `]` `,` `warps` `=` `[` $warps `]` `,`
    `stages` `=` $stages (`,` `split_k` `=` $split_k^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Without split-K.
    static MultistageScheduleAttr get(MLIRContext *context,
                                   ArrayRef<int64_t> tile,
                                   ArrayRef<int64_t> warps, int64_t stages) {
      return get(context, tile, warps, stages, /*splitK=*/1);
    }
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

def BlockScale_WarpSpecializedScheduleAttr
    : BlockScale_Attr<"WarpSpecializedSchedule", "warp_specialized_schedule", [
        DeclareAttrInterfaceMethods<BlockScale_ScheduleInterface>]> {
  let summary = "the schedule of a warp-specialized kernel";
  let description = [{
    For the paths tcgen05, wgmma and, on chips that have bulk tensor copies,
    mma_sync. Warps have roles. They pass each other stages of shared memory
    through a pipeline and, with tcgen05, accumulators in tensor memory.

    * `tile`: the M x N results that a block computes at a time (with tcgen05,
      those of one instruction), and the elements along K of a stage.
    * `stages`: how many tiles along K shared memory holds.
    * `accumulators`: the accumulator stages. With 2, the epilogue stores one
      tile while the next one is multiplied. Two stages of N = 256 overlap,
      because scales need columns, too. With wgmma and mma_sync, whose
      accumulators are in registers, it is 1.
    * `persistent`: the grid has one block for each SM, and a block computes one
      tile after the other; otherwise there is a block for each tile.
    * `raster_group`: the rasterization group: how many tiles along M are
      computed before the next ones along N, so that concurrent blocks share
      operands in the L2 cache. The default is 8.
    * `swap_ab`: the transpose of the result is computed: rows of A are columns
      of y, and rows of B are rows of x. This helps if the result has few rows,
      because M of an instruction is at least 64. M and N of `tile` are those of
      the instruction, so that M counts columns of the result. Not with
      mma_sync. The default is false.
    * `split_k`: the number of split-K ranges. Different blocks compute the
      partial sums of the ranges, and a second kernel reduces them. This helps
      if the result has few tiles. A range is a multiple of K of a stage. The
      default is 1: no split, no second kernel.
    * `cluster`: how many neighbouring tiles along M x N the blocks of a cluster
      compute at the same time. Blocks whose tiles have the same rows each load
      a part of these rows and multicast it; likewise for columns. 1x1, 2x1,
      1x2, 2x2, 4x1 or 1x4 (with mma_sync 1x1). The default is 1x1: no cluster.
    * `two_cta`: with tcgen05, two blocks of the cluster, one below the other,
      multiply together (`.cta_group::2`): each has its own rows of A and of the
      result, and half of the rows of B. The default is false.
    * `instruction_k`: 96 to use instructions with K = 96, which sm_103 has for
      packed fp4. The default is 0: the K that all chips have.
    * `kernel`: which kernel of the path computes the product. `dense`:
      instructions read both operands from shared memory. `mixed_input`, with
      wgmma and `swap_ab`: warpgroups dequantize A, which is y, in registers,
      and divide K of a stage among them if they have the same rows of A.
      `gemv`, with wgmma and `swap_ab`: the same for one row of x, with N = 1
      and quantized elements on both sides. The default is `dense`.
    * `blocks_per_sm`: how many blocks run on an SM at the same time, 1 or, with
      `mixed_input`, M up to 128 and N up to 64, 2: while one starts or stores,
      the other one reads. Two have half of the shared memory and of the
      registers each. The default is 1.

    M is 64 to 256 in steps of 64 (with tcgen05 128, with two CTAs 64). N is 8
    to 256 in steps of 8 (with mma_sync, M and N are 64, 128 or 256). The
    elements along K fill swizzle rows of 128 bytes, up to 16 of them with
    `mixed_input` and `gemv`. `blockscale-select-schedule` checks the limits of
    the chip, of the types and of the sizes.

    Example:
    `#blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 4, accumulators = 2, persistent = true>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$tile, "int64_t":$stages,
                        "int64_t":$accumulators, "bool":$persistent,
                        DefaultValuedParameter<"int64_t", "kTileGroup">
                            :$raster_group,
                        DefaultValuedParameter<"bool", "false">:$swap_ab,
                        DefaultValuedParameter<"int64_t", "1">:$split_k,
                        DefaultValuedParameter<"ClusterSize", "ClusterSize()">
                            :$cluster,
                        DefaultValuedParameter<"bool", "false">:$two_cta,
                        DefaultValuedParameter<"int64_t", "0">:$instruction_k,
                        DefaultValuedParameter<"KernelKind",
                                               "KernelKind::Dense">:$kernel,
                        DefaultValuedParameter<"int64_t", "1">:$blocks_per_sm);
  let assemblyFormat = [{
    `<` `tile` `=` `[` $tile `]` `,` `stages` `=` $stages `,` `accumulators`
    `=` $accumulators `,` `persistent` `=` $persistent
    (`,` struct($raster_group, $swap_ab, $split_k, $cluster, $two_cta,
                $instruction_k, $kernel, $blocks_per_sm)^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// With the defaults of the parameters that are left out.
    static WarpSpecializedScheduleAttr
    get(MLIRContext *context, ArrayRef<int64_t> tile, int64_t stages,
        int64_t accumulators, bool persistent, int64_t rasterGroup = kTileGroup,
        bool swapAb = false, int64_t splitK = 1,
        ClusterSize cluster = ClusterSize(),
        KernelKind kernel = KernelKind::Dense, int64_t blocksPerSm = 1) {
      return get(context, tile, stages, accumulators, persistent, rasterGroup,
                 swapAb, splitK, cluster, /*two_cta=*/false,
                 /*instruction_k=*/0, kernel, blocksPerSm);
    }
    int64_t getM() const { return getTile()[0]; }
    int64_t getN() const { return getTile()[1]; }
    int64_t getK() const { return getTile()[2]; }
    /// The CTAs of one instruction, and how many rows of B each of them has.
    int64_t getBlocksOfProduct() const { return getTwoCta() ? 2 : 1; }
    int64_t getRowsOfB() const { return getN() / getBlocksOfProduct(); }
  }];
}

def BlockScale_WarpsAttr : BlockScale_Attr<"Warps", "warps", [
    DeclareAttrInterfaceMethods<BlockScale_AccLayoutInterface>]> {
  let summary = "an accumulator in the registers of warps";
  let description = [{
    Rows x columns of warps share the tile evenly, and each holds its share as
    accumulator fragments of mma.sync. Warp w of the block has row `w / columns`
    and column `w % columns`.

    With `interleave = RxC`, R (C) neighbouring groups of 8 rows (columns) of
    the instructions are interleaved in the rows (columns) of the share; R and C
    are 1, 2 or 4. Row i of group o is row `8 (o - o mod R) + R i + o mod R` of
    the share. Instructions of the kinds `bf16` and `bf16_packed` need this if
    the contiguous index of an operand is `mn`: 2 for bytes, 4 for packed
    elements.

    Examples: `#blockscale.warps<2x2>`,
    `#blockscale.warps<2x2, interleave = 1x2>`.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        DefaultValuedParameter<"int64_t", "1">:$interleave_m,
                        DefaultValuedParameter<"int64_t", "1">:$interleave_n);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static WarpsAttr get(MLIRContext *context, int64_t rows, int64_t columns) {
      return get(context, rows, columns, 1, 1);
    }
    int64_t getNumWarps() const { return getRows() * getColumns(); }
    /// The rows and columns of one warp's share of an accumulator.
    int64_t getShareM(AccType type) const;
    int64_t getShareN(AccType type) const;
    /// Whether `rows` x `columns` warps can share `m` x `n` sums evenly, in whole
    /// tiles of the instruction and in registers. Emits an error if not.
    static LogicalResult
    verifyShares(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                 int64_t columns, int64_t m, int64_t n);
  }];
}

def BlockScale_LaneColumnsAttr
    : BlockScale_Attr<"LaneColumns", "lane_columns", [
        DeclareAttrInterfaceMethods<BlockScale_AccLayoutInterface>]> {
  let summary = "an accumulator in columns, one for each thread";
  let description = [{
    Thread t of the first four warps of a block holds column t of 128, with all
    rows. Lanes of tensor memory have this layout with swapped operands, where
    the tile is the transpose of the product. A warp that stores a row of it
    stores 128 contiguous bytes.

    Example: `#blockscale.lane_columns`.
  }];
  let assemblyFormat = "";
}

def BlockScale_WarpColumnsAttr
    : BlockScale_Attr<"WarpColumns", "warp_columns", [
        DeclareAttrInterfaceMethods<BlockScale_AccLayoutInterface>]> {
  let summary = "an accumulator in the registers of warps, transposed";
  let description = [{
    Each of `warps` warps holds 16 columns of the tile, with all rows: the
    transpose of what wgmma leaves in its registers (PTX ISA, "Register
    Fragments for wgmma.mma_async"). Further warps hold further tiles of the
    same shape: warp w has the columns of warp `w mod warps`.

    Example: `#blockscale.warp_columns<4>`.
  }];
  let parameters = (ins "int64_t":$warps);
  let assemblyFormat = "`<` $warps `>`";
}

def BlockScale_TensorMapAttr : BlockScale_Attr<"TensorMap", "tensor_map"> {
  let summary = "how bulk tensor copies see memory";
  let description = [{
    The launch makes a tensor map of it. Names of types, swizzles, fills and
    promotions of the L2 cache are those of the launch info. Lists have the
    innermost dimension last.

    * `sizes`: in elements; an affine map whose symbols are the sizes of the
      memory. (Symbols may be multiplied with each other.)
    * `strides`: in bytes; such a map for all dimensions but the innermost.
    * `box`, `element_strides`: the elements that one copy spans, and the steps
      between those that it moves.
    * `codes`: how many packed elements of the tensor an element of the map
      holds. The default is 1.

    Constraint (T1): `box`, `element_strides` and `sizes` have 1 to 5 values
    each, `strides` has one less; both maps have the same symbols and no
    dimensions.

    Constraint (T2): the names are those of a launch info, and the box is one
    that the CUDA driver takes (cuTensorMapEncodeTiled).

    Example:

    ```mlir
    #map = #blockscale.tensor_map<
        "u1", sizes = affine_map<()[m, k] -> (m, k)>,
        strides = affine_map<()[m, k] -> (k)>, box = [64, 128],
        element_strides = [1, 1], swizzle = "128", fill = "zero", l2 = "none">
    ```
  }];
  let parameters = (ins StringRefParameter<>:$dtype,
                        "::mlir::AffineMapAttr":$sizes,
                        "::mlir::AffineMapAttr":$strides,
                        ArrayRefParameter<"int64_t">:$box,
                        ArrayRefParameter<"int64_t">:$element_strides,
                        StringRefParameter<>:$swizzle,
                        StringRefParameter<>:$fill, StringRefParameter<>:$l2,
                        DefaultValuedParameter<"int64_t", "1">:$elements);
  let assemblyFormat = [{
    `<` $dtype `,` `sizes` `=` $sizes `,` `strides` `=` $strides `,`
    `box` `=` `[` $box `]` `,` `element_strides` `=` `[` $element_strides `]`
    `,` `swizzle` `=` $swizzle `,` `fill` `=` $fill `,` `l2` `=` $l2
    (`,` `codes` `=` $elements^)? `>`
  }];
  let genVerifyDecl = 1;
}

def BlockScale_AccType : TypeDef<BlockScale_Dialect, "Acc"> {
  let mnemonic = "acc";
  let summary = "an f32 accumulator of a block or a warp";
  let description = [{
    M x N sums of a tile. The layout, an attribute with the interface
    `AccLayoutInterface`, says which thread holds which of them.

    Example: `!blockscale.acc<64x64, #blockscale.warps<2x2>>`.
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n,
                        "::mlir::blockscale::AccLayoutInterface":$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def BlockScale_FragmentsType : TypeDef<BlockScale_Dialect, "Fragments"> {
  let mnemonic = "fragments";
  let summary = "registers of a lane with fragments of A and B";
  let description = [{
    32-bit registers with the fragments of A, and behind them those of B, that a
    lane holds for one step along K.

    Example: `!blockscale.fragments<32>`.
  }];
  let parameters = (ins "int64_t":$registers);
  let assemblyFormat = "`<` $registers `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// The block of a scale
//===----------------------------------------------------------------------===//

def BlockScale_ScaleBlockAttr : BlockScale_Attr<"ScaleBlock", "scale_block"> {
  let summary = "the elements that share a scale";
  let description = [{
    A block of `rows` times `k` elements: `rows` counts rows of x (along M) or
    columns of y (along N), `k` elements along K. `rows` is 1, 128 or `all`; `k`
    is 16, 32, 64, 128 or `all`. A matrix of R rows has
    ceil(R / rows) x ceil(K / k) scales; for `all`, there is one.

    | attribute                  | scales are shared by                          |
    |----------------------------|-----------------------------------------------|
    | `<rows = 1, k = 32>`       | a block of OCP MX v1.0                        |
    | `<rows = 1, k = 128>`      | 128 elements of a row (1x128)                 |
    | `<rows = 128, k = 128>`    | a square of 128 x 128 elements                |
    | `<rows = 1, k = all>`      | a row of x (a token), a column of y (a channel) |
    | `<rows = all, k = all>`    | the tensor (each matrix of a batch)           |

    The table of `ScaleBlocks.h` says which blocks the scales of a type have.

    Example: `#blockscale.scale_block<rows = 128, k = 128>`.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$k);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ScaleBlock getBlock() const { return {getRows(), getK()}; }
    static ScaleBlockAttr get(MLIRContext *context, const ScaleBlock &block) {
      return get(context, block.rows, block.k);
    }
  }];
}

//===----------------------------------------------------------------------===//
// How sums may be formed
//===----------------------------------------------------------------------===//

def BlockScale_AccumulateAttr : BlockScale_Attr<"Accumulate", "accumulate"> {
  let summary = "how exactly a product adds up its terms";
  let description = [{
    A licence: sums of a product may be formed as the fp8 tensor cores of sm_89
    and sm_90 form them. Without it, a product keeps f32's error.

    * `chunk`: 32, 64 or 128. K is cut into chunks of that many terms. Sums of
      terms of a chunk may have 13 fraction bits below the largest exponent in
      them, and be truncated there; chunks are added in f32. Only terms with the
      same scales are in one such sum. Terms come in the order of K, those of 32
      in any order.
    * `rebase`: before that, elements may be shifted so that all blocks of a row
      of x, or of a column of y, have its largest scale. That moves an element
      by at most 2^-10 of that scale. It is for scales that are powers of two.

    It is a permission. Whoever does not use it computes as without it, and is
    within the bound of docs/Numerics.md, too.

    Examples: `#blockscale.accumulate<chunk = 128>`,
    `#blockscale.accumulate<chunk = 128, rebase>`.
  }];
  let parameters = (ins "int64_t":$chunk,
                        DefaultValuedParameter<"bool", "false">:$rebase);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The licence of a tile that starts at `offset` along K: its chunks stay
    /// inside those of the whole. Null if they would not.
    AccumulateAttr getOfTile(OpFoldResult offset) const;
  }];
}

//===----------------------------------------------------------------------===//
// The rule of a scale
//===----------------------------------------------------------------------===//

def BlockScale_ScaleRule : I32EnumAttr<
    "ScaleRule", "how a power of two is chosen for a block",
    [I32EnumAttrCase<"Floor", 0, "floor">,
     I32EnumAttrCase<"Ceil", 1, "ceil">,
     I32EnumAttrCase<"Even", 2, "even">,
     I32EnumAttrCase<"Rceil", 3, "rceil">]> {
  let cppNamespace = "::mlir::blockscale";
  let genSpecializedAttr = 0;
}

def BlockScale_ScaleRuleAttr
    : EnumAttr<BlockScale_Dialect, BlockScale_ScaleRule, "scale_rule"> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// The weights of a route
//===----------------------------------------------------------------------===//

def BlockScale_Scoring : I32EnumAttr<
    "Scoring", "what the weights of chosen groups are",
    [I32EnumAttrCase<"Logits", 0, "logits">,
     I32EnumAttrCase<"Softmax", 1, "softmax">,
     I32EnumAttrCase<"SoftmaxOfChosen", 2, "softmax_of_chosen">]> {
  let cppNamespace = "::mlir::blockscale";
  let genSpecializedAttr = 0;
}

def BlockScale_ScoringAttr
    : EnumAttr<BlockScale_Dialect, BlockScale_Scoring, "scoring"> {
  let assemblyFormat = "`<` $value `>`";
}

def BlockScale_AlternativeAttr
    : BlockScale_Attr<"Alternative", "alternative"> {
  let summary = "a schedule for a range of sizes";
  let description = [{
    A product of dynamic sizes may have the attribute
    `blockscale.alternatives`, an array of these. Each is a kernel of its own
    beside that of `blockscale.schedule`, and the host launches the first one
    that fits the sizes.

    * `most_rows`: the most rows of the result that it is for (with groups of
      rows, those that a group has on average; columns, if x is
      sparse). They ascend. Of several with the same number, the one with the
      smallest estimate is launched: rounds of tiles over all SMs, times M x N
      of the tile, times `cost`, divided by the number of split-K ranges.
    * `most_ranges`: the most split-K ranges. There are as many as leave no SM
      idle; with more than one, a second kernel for partial sums is launched.
    * `cost`: the time for an element of a tile, relative to that of others.
    * `instruction`: the instruction, which may be of another path than that of
      the op.
    * `schedule`: a schedule of that path. Its own `split_k` is 1 where
      `most_ranges` is not.

    Example:
    `#blockscale.alternative<most_rows = 16, most_ranges = 8, cost = 0, instruction = <wgmma, 64x8x16, unscaled, bf16, bf16, none, 0>, schedule = #blockscale.warp_specialized_schedule<tile = [64, 16, 1024], stages = 3, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>>`.
  }];
  let parameters = (ins "int64_t":$most_rows, "int64_t":$most_ranges,
                        "int64_t":$cost, "InstructionAttr":$instruction,
                        "ScheduleInterface":$schedule);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEATTRS_TD
