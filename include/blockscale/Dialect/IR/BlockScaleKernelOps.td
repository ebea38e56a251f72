//===- BlockScaleKernelOps.td - Ops on tiles in kernels ----*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands in shared memory, accumulators as values.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEKERNELOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEKERNELOPS_TD

include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar BlockScale_Bytes = MemRefRankOf<[I8], [2]>;
defvar BlockScale_BytesInColumns = MemRefRankOf<[I8], [2, 3]>;
defvar BlockScale_SharedMetadata = MemRefRankOf<[I8], [3]>;
defvar BlockScale_TileScales = AnyTypeOf<[MemRefRankOf<[I8], [2, 3, 4]>, I8]>;
defvar BlockScale_Sums = MemRefRankOf<[F32], [2, 3]>;

def BlockScale_TileMmaOp : BlockScale_KernelOp<"tile_mma", [
    AllTypesMatch<["acc", "result"]>, AttrSizedOperandSegments]> {
  let summary = "block-scaled matrix multiply-accumulate of a tile";
  let description = [{
    Adds the product of two tiles in shared memory to an accumulator. All warps
    of the accumulator execute it, after a barrier that makes the operands
    visible.

    Operands in shared memory are bytes:

    | operand   | shape      | holds                                          |
    |-----------|------------|------------------------------------------------|
    | `a`       | `M x K'`   | elements of A in the slots of the instruction  |
    | `a_scale` | `M x K_s`  | one byte per scale                             |
    | `b`       | `N x K'`   | elements of B, transposed, in slots            |
    | `b_scale` | `N x K_s`  | one byte per scale, transposed                 |

    `K = K_s * block_size` elements; K' is K if the instruction takes one
    element per byte (fp6 in bits [5:0], fp4 in bits [5:2]) and K / 2 if it
    takes packed fp4 (even element in the low nibble). Instead of memory,
    `a_scale` and `b_scale` may be an `i8`: one scale for all blocks.

    With a sparse instruction, `a` holds the kept elements, `K / 2` of them in a
    row, and `metadata` is `C x M x 8 S` bytes: the fields of A, row by row, 8
    bytes for each instruction along K, those of S instructions (1 or 2) side by
    side. With S = 2, the two are exchanged in rows r of odd `r div 8`, so that
    the loads of a warp have no bank conflicts, but not with `metadata_atoms`:
    then they are atoms of `tile_metadata`, as bulk copies bring them. `b` may
    have two columns side by side, `2 x N x L` for 2 L bytes along K.

    With mixed input, A has bf16 or f16 values of two bytes without scales, and
    `a_scale` is an `i8` that is ignored. Elements of B are then dequantized and
    rounded to that format, as by `dequantize`; with a `tensor_scale`, they are
    multiplied by it before that.

    `types` are the types of the product, `instruction` is the instruction that
    computes it, and the layout of the accumulator says which warps do.
    `a_layout` and `b_layout` are the layouts of the elements, if they differ
    from the table; with the contiguous index `mn`, the shape is `K x M` or `K x
    N` bytes. `a_scale_layout` and `b_scale_layout` are those of the scales. A
    tile may extend beyond K, with elements that are 0 there. Only the first
    `blocks` scales of each row are then used; the others count as 0x00,
    whatever memory holds.

    Constraints:

    * (T1) Operands in memory have static shapes, the identity layout and the
      workgroup memory space, and no more bytes than a block can have there on
      any chip.
    * (T2) M and N of the operands are those of the accumulator.
    * (T3) K, which is that of A where both scales are one value, is a multiple
      of the instruction's K, and K_s of 4.
    * (T4) A row of memory has as many bytes as its elements need. Swizzled rows
      have 16, 32, 64 or a multiple of 128 bytes.
    * (T5) The instruction's kind supports the layouts of the elements: `mn` is
      for kinds with an element per byte, except `padded` elements for `bf16`,
      and for `bf16_packed`; `bytes` and `padded` are for kinds with an
      element per byte, `padded` for fp4 and fp6 (fp6 for `bf16`), `packed` for
      fp4 and `bf16`.
    * (T6) The instruction computes the type combination.
    * (T7) With mixed input, `a_scale` is an `i8`; only then is there a
      `tensor_scale`.
    * (T8) With a sparse instruction, and only then, there is `metadata`; its
      shape is `C x M x 8` or `C x M x 16` for the instructions of K, the
      latter with `metadata_atoms`. Only with it may `b` have two columns, with
      `k`.

    With an accumulator in the registers of warps (the paths mma_sync and
    dequant_mma):

    * Memory is aligned to 16 bytes (`to-fragments` sees to that for workgroup
      attributions), and the block has the accumulator's warps, all along x.
    * (W1) The instruction is one of a warp, and the accumulator has the
      interleaving that it needs.
    * (W2) With `mn`, a warp has a multiple of 16 rows; of 32 for 4-bit elements
      and the kinds `bf16` and `bf16_packed`.
    * (W3) Scales in the layouts `lanes` and `parts` have the shapes of their
      layout, with M or N rounded up to a multiple of 32; those in `atoms` to a
      multiple of 128.
    * (W4) With scales in the layouts `lanes` and `parts`, a warp has whole
      groups or parts, or a power of two of rows; with `atoms`, a power of two
      of at most 128.
    * (W5) Atoms and `blocks` are for block-scaled instructions, and `blocks` for
      scales in memory.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @tile(
          %a: memref<64x128xi8, #gpu.address_space<workgroup>>,
          %sa: memref<64x4xi8, #gpu.address_space<workgroup>>,
          %b: memref<32x128xi8, #gpu.address_space<workgroup>>,
          %sb: memref<32x4xi8, #gpu.address_space<workgroup>>,
          %d: memref<64x32xf32>) {
        %c0 = arith.constant 0 : index
        %acc = blockscale.acc_zero
            : !blockscale.acc<64x32, #blockscale.warps<2x1>>
        %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
               types = <e4m3, e2m1, ue8m0, 32> instruction =
               <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
               : memref<64x128xi8, #gpu.address_space<workgroup>>,
                 memref<64x4xi8, #gpu.address_space<workgroup>>,
                 memref<32x128xi8, #gpu.address_space<workgroup>>,
                 memref<32x4xi8, #gpu.address_space<workgroup>>,
                 !blockscale.acc<64x32, #blockscale.warps<2x1>>
        blockscale.acc_store %sum, %d[%c0, %c0]
            : !blockscale.acc<64x32, #blockscale.warps<2x1>>, memref<64x32xf32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins
    Arg<BlockScale_Bytes, "elements of A", [MemRead]>:$a,
    Arg<BlockScale_TileScales, "scales of A", [MemRead]>:$a_scale,
    Arg<BlockScale_BytesInColumns, "elements of B", [MemRead]>:$b,
    Arg<BlockScale_TileScales, "scales of B", [MemRead]>:$b_scale,
    BlockScale_AccType:$acc,
    Optional<Index>:$blocks, Optional<F32>:$tensor_scale,
    Arg<Optional<BlockScale_SharedMetadata>, "metadata of A",
        [MemRead]>:$metadata,
    BlockScale_TypeCombinationAttr:$types,
    BlockScale_InstructionAttr:$instruction,
    OptionalAttr<BlockScale_TileLayoutAttr>:$a_layout,
    OptionalAttr<BlockScale_TileLayoutAttr>:$b_layout,
    OptionalAttr<BlockScale_ScaleTileLayoutAttr>:$a_scale_layout,
    OptionalAttr<BlockScale_ScaleTileLayoutAttr>:$b_scale_layout,
    UnitAttr:$metadata_atoms);
  let results = (outs BlockScale_AccType:$result);
  let assemblyFormat = [{
    $a `,` $a_scale `,` $b `,` $b_scale `,` $acc (`blocks` $blocks^)?
    (`tensor_scale` $tensor_scale^)? (`metadata` $metadata^)?
    `types` `=` $types `instruction` `=` $instruction attr-dict
    `:` type($a) `,` type($a_scale) `,` type($b) `,` type($b_scale) `,`
    type($acc) (`,` type($metadata)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The layout of the elements of A or B, `k` and `slots` by default.
    TileLayout getLayout(Operand operand);
    /// The order of the scales of A or B, by rows by default.
    ScaleOrder getScaleOrder(Operand operand);
    /// The slot of the instruction for elements of A or B.
    Slot getSlot(Operand operand);
    /// Elements along K; of a sparse A, logical ones.
    int64_t getNumK();
  }];
}

def BlockScale_LoadFragmentsOp : BlockScale_KernelOp<"load_fragments"> {
  let summary = "load the fragments of a step along K from tiles";
  let description = [{
    Loads what each lane needs for instructions of number `step` along K, from
    tiles of A and B as `tile_mma` has them, for an accumulator of type `acc`.
    With `fragments_mma`, which multiplies them, it is a `tile_mma` whose parts
    can be moved: the fragments of a tile can be loaded while those of the tile
    before are multiplied.

    Constraints:

    * (F1) The instruction is one of a warp without scales, and the accumulator
      is in warps that are not interleaved.
    * (F2) The tiles meet the constraints T1, T2, T4, T5 and W2 of `tile_mma`,
      and have one K, a multiple of the instruction's K.
    * (F3) The step is one of K.
    * (F4) There are as many registers as fragments of A and B have.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @tile(
          %a: memref<64x64xi8, #gpu.address_space<workgroup>>,
          %b: memref<32x64xi8, #gpu.address_space<workgroup>>,
          %d: memref<64x32xf32>) {
        %c0 = arith.constant 0 : index
        %acc = blockscale.acc_zero
            : !blockscale.acc<64x32, #blockscale.warps<2x1>>
        %step = blockscale.load_fragments %a, %b step = 1
            of !blockscale.acc<64x32, #blockscale.warps<2x1>> instruction =
            <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
            layouts = <k, slots>, <k, slots>
            : memref<64x64xi8, #gpu.address_space<workgroup>>,
              memref<32x64xi8, #gpu.address_space<workgroup>>
            -> !blockscale.fragments<16>
        %sum = blockscale.fragments_mma %step, %acc instruction =
            <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
            : !blockscale.fragments<16>,
              !blockscale.acc<64x32, #blockscale.warps<2x1>>
        blockscale.acc_store %sum, %d[%c0, %c0]
            : !blockscale.acc<64x32, #blockscale.warps<2x1>>, memref<64x32xf32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins
    Arg<BlockScale_Bytes, "elements of A", [MemRead]>:$a,
    Arg<BlockScale_Bytes, "elements of B", [MemRead]>:$b,
    I64Attr:$step, TypeAttrOf<BlockScale_AccType>:$acc,
    BlockScale_InstructionAttr:$instruction,
    BlockScale_TileLayoutAttr:$a_layout, BlockScale_TileLayoutAttr:$b_layout);
  let results = (outs BlockScale_FragmentsType:$fragments);
  let assemblyFormat = [{
    $a `,` $b `step` `=` $step `of` $acc `instruction` `=` $instruction
    `layouts` `=` $a_layout `,` $b_layout attr-dict
    `:` type($a) `,` type($b) `->` type($fragments)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    AccType getAccType();
    /// The registers of A or B that a lane with a share of `acc` needs.
    static int64_t getNumRegisters(InstructionAttr instruction, AccType acc,
                                   Operand operand);
  }];
}

def BlockScale_FragmentsMmaOp : BlockScale_KernelOp<"fragments_mma", [
    Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "multiply-accumulate of the fragments of a step along K";
  let description = [{
    Adds the product of the fragments that a `load_fragments` for the same
    instruction and accumulator has loaded.

    Constraint (F5): `load_fragments` takes the instruction and the accumulator,
    and there are as many registers as its result has.
  }];
  let arguments = (ins BlockScale_FragmentsType:$fragments,
                       BlockScale_AccType:$acc,
                       BlockScale_InstructionAttr:$instruction);
  let results = (outs BlockScale_AccType:$result);
  let assemblyFormat = [{
    $fragments `,` $acc `instruction` `=` $instruction attr-dict
    `:` type($fragments) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def BlockScale_AccZeroOp : BlockScale_KernelOp<"acc_zero", [Pure]> {
  let summary = "an accumulator of zeros";
  let results = (outs BlockScale_AccType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def BlockScale_AccLoadOp : BlockScale_KernelOp<"acc_load"> {
  let summary = "load an accumulator from memory";
  let description = [{
    Loads the tile of `memory` that starts at `indices`. Elements beyond the
    last row or column of `memory` are 0. There is one index per dimension; the
    tile is in the last two. `in_bounds` says that the tile is inside of
    `memory` and that its rows are aligned to 8 bytes, or to 16 bytes if the
    accumulator is interleaved along N.
  }];
  let arguments = (ins
    Arg<BlockScale_Sums, "sums", [MemRead]>:$memory, Variadic<Index>:$indices,
    UnitAttr:$in_bounds);
  let results = (outs BlockScale_AccType:$result);
  let assemblyFormat = [{
    $memory `[` $indices `]` (`in_bounds` $in_bounds^)? attr-dict
    `:` type($memory) `->` type($result)
  }];
  let hasVerifier = 1;
}

def BlockScale_AccStoreOp : BlockScale_KernelOp<"acc_store"> {
  let summary = "store an accumulator to memory";
  let description = [{
    The reverse of `acc_load`: elements beyond the last row or column of
    `memory` are not stored.
  }];
  let arguments = (ins
    BlockScale_AccType:$acc,
    Arg<BlockScale_Sums, "sums", [MemWrite]>:$memory, Variadic<Index>:$indices,
    UnitAttr:$in_bounds);
  let assemblyFormat = [{
    $acc `,` $memory `[` $indices `]` (`in_bounds` $in_bounds^)? attr-dict
    `:` type($acc) `,` type($memory)
  }];
  let hasVerifier = 1;
}

def BlockScale_YieldOp : BlockScale_KernelOp<"yield", [
    Pure, ReturnLike, Terminator,
    ParentOneOf<["AccGenerateOp", "AccForEachOp", "AccQuantizeOp",
                 "AccFactorsOp"]>]> {
  let summary = "end the body for one element";
  let arguments = (ins Optional<F32>:$value);
  let assemblyFormat = "($value^ `:` type($value))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, Value()); }]>];
}

def BlockScale_AccGenerateOp : BlockScale_KernelOp<"acc_generate", [
    SingleBlock, RecursiveMemoryEffects]> {
  let summary = "an accumulator from a body for each element";
  let description = [{
    The body yields element (i, j) of the tile for row `row + i` and column
    `column + j`. Elements beyond `rows` and `columns` are 0, and the body does
    not run for them; with `in_bounds` there are none. The body runs in the lane
    that holds the element.

    Constraint (G1): the body takes two indices and yields an f32.
  }];
  let arguments = (ins Index:$row, Index:$column, Index:$rows, Index:$columns,
                       UnitAttr:$in_bounds);
  let results = (outs BlockScale_AccType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `at` `(` $row `,` $column `)` `of` `(` $rows `,` $columns `)`
    (`in_bounds` $in_bounds^)? $body attr-dict `:` type($result)
  }];
  let hasRegionVerifier = 1;
}

def BlockScale_AccForEachOp : BlockScale_KernelOp<"acc_for_each", [
    SingleBlock, RecursiveMemoryEffects]> {
  let summary = "a body for each element of an accumulator";
  let description = [{
    Runs the body with each element of the tile, its row and its column, as
    `acc_generate` counts them; not for elements beyond `rows` and `columns`.
    With `aligned`, contiguous elements of a lane are stored by one instruction:
    `column`, and the alignment of memory that the body stores to, are multiples
    of as many elements; `columns`, too, if the memory does not say how many
    columns it has, or without `in_bounds`.

    With `pairs`, columns come in blocks of 16, the last 8 of which belong to
    the first 8: the body gets the element of a column of the first 8, the one
    8 columns behind it, their row, and the first one's column. `column` and
    `columns` are multiples of 16 then, and a warp has to hold both. With
    `aligned`, the body stores what it makes of neighboring pairs to neighboring
    elements.

    Constraint (G2): the body takes an f32, or two with `pairs`, and two
    indices, and yields nothing.
  }];
  let arguments = (ins BlockScale_AccType:$acc, Index:$row, Index:$column,
                       Index:$rows, Index:$columns, UnitAttr:$in_bounds,
                       UnitAttr:$aligned, UnitAttr:$pairs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $acc `at` `(` $row `,` $column `)` `of` `(` $rows `,` $columns `)`
    (`in_bounds` $in_bounds^)? (`aligned` $aligned^)? (`pairs` $pairs^)? $body
    attr-dict `:` type($acc)
  }];
  let hasRegionVerifier = 1;
}

def BlockScale_AccQuantizeOp : BlockScale_KernelOp<"acc_quantize", [
    SingleBlock, RecursiveMemoryEffects, AttrSizedOperandSegments]> {
  let summary = "quantize an accumulator after an elementwise body";
  let description = [{
    The epilogue of a matmul with a quantized result. The body computes a value
    from each element of the tile, as in `acc_for_each`. Blocks of `block_size`
    values along rows are quantized by the rules of `quantize`. The quantized
    elements are stored in `elements` and their scales in `scales`, both as
    bytes; with `code_bits` 4, a byte holds two elements. If `scales` has two
    dimensions more than `elements`, it is in the 32x4x4 layout, and padding
    that the tile covers is written. `amax` becomes the maximum of its old value
    and of the magnitudes of all values.

    With `pairs`, the body gets pairs of elements, as in `acc_for_each`, and its
    values are half as many columns. `column` and `columns` count those of the
    elements.

    Constraints:
      * (G3) the body takes an f32, or two with `pairs`, and two indices, and
        yields an f32;
      * (G4) `element`, `scale` and `block_size` are a legal combination of
        `mma_scaled`, and there is a `rule` if and only if scales are e8m0;
      * (G5) `elements` has rank 2, or 3 with `batch`; `code_bits` is 8, or 4
        for f4E2M1FN;
      * `column`, `columns` and the columns of a warp's share are multiples of
        `block_size`, with `pairs` of twice that.
  }];
  let arguments = (ins
    BlockScale_AccType:$acc, Index:$row, Index:$column, Index:$rows,
    Index:$columns, Optional<Index>:$batch, Optional<F32>:$tensor_scale,
    Arg<MemRefRankOf<[I8], [2, 3]>, "elements", [MemWrite]>:$elements,
    Arg<MemRefRankOf<[I8], [2, 3, 4, 5]>, "scales", [MemWrite]>:$scales,
    Arg<Optional<MemRefRankOf<[F32], [0]>>, "largest magnitude",
        [MemRead, MemWrite]>:$amax,
    TypeAttr:$element, TypeAttr:$scale, I64Attr:$block_size,
    OptionalAttr<BlockScale_ScaleRuleAttr>:$rule, I64Attr:$code_bits,
    UnitAttr:$in_bounds, UnitAttr:$pairs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $acc `at` `(` $row `,` $column `)` `of` `(` $rows `,` $columns `)`
    (`batch` $batch^)? (`tensor_scale` `(` $tensor_scale^ `)`)? `to` $elements
    `,` $scales (`amax` $amax^)? (`in_bounds` $in_bounds^)? (`pairs` $pairs^)?
    $body attr-dict `:` type($acc) `,` type($elements) `,` type($scales) (`,` type($amax)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def BlockScale_AccFactorsOp : BlockScale_KernelOp<"acc_factors", [
    SingleBlock, RecursiveMemoryEffects]> {
  let summary = "the factors that a lane needs for its rows or columns";
  let description = [{
    A vector with a number for each row, or with `columns` for each column, of
    which a lane holds elements of an accumulator of type `acc`. The body yields
    it for the index of the row in the tile. With `size`, so many neighboring
    rows share a number, which is that of the first one.

    Constraints:

    * (A1) `size` is 1, or a multiple of a fragment (16 rows, or 8 columns) and
      a divisor of what a warp has.
    * (A2) The body takes an index and yields an f32.
    * (A3) The result has as many elements as a lane has rows or columns, or
      groups of `size` of them.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @rows(%scales: memref<64xf32>, %d: memref<64x32xf32>) {
        %c0 = arith.constant 0 : index
        %acc = blockscale.acc_zero
            : !blockscale.acc<64x32, #blockscale.warps<4x1>>
        %rows = blockscale.acc_factors of
            !blockscale.acc<64x32, #blockscale.warps<4x1>> size = 1 {
        ^bb0(%row: index):
          %scale = memref.load %scales[%row] : memref<64xf32>
          blockscale.yield %scale : f32
        } : vector<2xf32>
        %sums = blockscale.acc_promote %acc, %acc rows(%rows : vector<2xf32>)
            : !blockscale.acc<64x32, #blockscale.warps<4x1>>
        blockscale.acc_store %sums, %d[%c0, %c0]
            : !blockscale.acc<64x32, #blockscale.warps<4x1>>, memref<64x32xf32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins TypeAttrOf<BlockScale_AccType>:$acc, I64Attr:$size,
                       UnitAttr:$columns);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `of` $acc `size` `=` $size (`columns` $columns^)? $body attr-dict
    `:` type($result)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    AccType getAccType() { return cast<AccType>(getAcc()); }
    /// The elements of the result.
    static int64_t getNumFactors(AccType acc, bool areColumns, int64_t size);
  }];
}

def BlockScale_AccPromoteOp : BlockScale_KernelOp<"acc_promote", [
    Pure, AttrSizedOperandSegments,
    AllTypesMatch<["sums", "partials", "result"]>]> {
  let summary = "add partial sums to sums, with factors";
  let description = [{
    `sums + partials * (row factor * column factor)`, with factors that
    `acc_factors` has loaded; those of an absent operand are 1. This is in f32,
    with one rounding of the product of factors and one of the sum, which is for
    factors of moderate magnitudes; with `exact` it is in f64, rounded once.

    Constraint (A4): vectors have the sizes of an `acc_factors`, and `exact` has
    one of them.
  }];
  let arguments = (ins BlockScale_AccType:$sums, BlockScale_AccType:$partials,
    Optional<VectorOfRankAndType<[1], [F32]>>:$rows,
    Optional<VectorOfRankAndType<[1], [F32]>>:$columns, UnitAttr:$exact);
  let results = (outs BlockScale_AccType:$result);
  let assemblyFormat = [{
    $sums `,` $partials (`rows` `(` $rows^ `:` type($rows) `)`)?
    (`columns` `(` $columns^ `:` type($columns) `)`)?
    (`exact` $exact^)? attr-dict `:` type($sums)
  }];
  let hasVerifier = 1;
}

def BlockScale_AccInterleaveOp : BlockScale_KernelOp<"acc_interleave", [Pure]> {
  let summary = "an accumulator with more neighboring columns in a lane";
  let description = [{
    The same accumulator, interleaved along N: the lanes of a row exchange
    elements, so that each has 8 columns of it that are side by side, which a
    store writes at once.

    Constraint (A5): `acc` is in warps that are not interleaved, and the result
    in the same warps, interleaved by 4 along N.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @store(%d: memref<64x32xf32>) {
        %c0 = arith.constant 0 : index
        %acc = blockscale.acc_zero
            : !blockscale.acc<64x32, #blockscale.warps<4x1>>
        %runs = blockscale.acc_interleave %acc
            : !blockscale.acc<64x32, #blockscale.warps<4x1>>
            -> !blockscale.acc<64x32, #blockscale.warps<4x1, interleave = 1x4>>
        blockscale.acc_store %runs, %d[%c0, %c0]
            : !blockscale.acc<64x32, #blockscale.warps<4x1, interleave = 1x4>>,
              memref<64x32xf32>
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

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEKERNELOPS_TD
