//===- BlockScaleTcgen05Ops.td - Instructions of tcgen05 ---*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instruction level of the path tcgen05: operands in shared memory that
// descriptors describe, scales and accumulators in tensor memory. The
// description of an op says whether one thread or a warp executes it; the
// verifier cannot check that. BlockScaleTmemOps.td has the ops for allocation.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALETCGEN05OPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALETCGEN05OPS_TD

include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleInterfaces.td"
include "blockscale/Dialect/IR/BlockScaleTcgen05Types.td"
include "blockscale/Dialect/IR/BlockScaleTmemOps.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar BlockScale_MBarriers = MemRefRankOf<[I64], [1]>;
defvar BlockScale_Matrices = MemRefRankOf<[I8], [2, 3]>;
defvar BlockScale_TmemRegion = AnyTypeOf<[BlockScale_TmemAccType,
                                          BlockScale_TmemOperandType]>;
defvar BlockScale_TmemRows = VectorOfRankAndType<[1], [F32, I32]>;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

def BlockScale_InstructionDescriptorOp
    : BlockScale_Tcgen05Op<"instruction_descriptor", "tcgen05.mma", [Pure]> {
  let summary = "the instruction descriptor of `tcgen05.mma`";
  let description = [{
    The 32 bits of PTX ISA, "Instruction descriptor"; `Descriptors.h` has its
    fields. `tcgen05_mma` makes its own; this op is for code that uses the NVVM
    op. It folds to a constant.

    Constraints:

    * (I1) The instruction is one of tcgen05.
    * (I2) Scale ids are legal for the instruction: 0, 1, 2, 3 for one scale
      along K, 0, 2 for two and 0 for four; 0 without scales.
    * (I3) A and B are transposed (contiguous along M or N) only where elements
      have a byte (kind mxf8f6f4) or two (without scales).
    * (I4) N is legal for the instruction: a multiple of 16 if B is transposed
      and its elements have a byte.

    Example:

    ```mlir
    func.func @word() -> i32 {
      %word = blockscale.instruction_descriptor
          <tcgen05, 128x128x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
          {a_scale_id = 1 : i64, b_scale_id = 1 : i64, transpose_b}
      return %word : i32
    }
    ```
  }];
  let arguments = (ins
    BlockScale_InstructionAttr:$instruction,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    UnitAttr:$negate_a, UnitAttr:$negate_b,
    DefaultValuedAttr<I64Attr, "0">:$a_scale_id,
    DefaultValuedAttr<I64Attr, "0">:$b_scale_id);
  let results = (outs I32:$result);
  let assemblyFormat = "$instruction attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = instructionDeclaration # [{
    /// The bits of the descriptor.
    uint32_t getWord();
  }];
}

def BlockScale_MatrixDescriptorOp
    : BlockScale_InstructionOp<"matrix_descriptor", [Pure]> {
  let summary = "the descriptor of a matrix in shared memory";
  let description = [{
    The 64 bits of PTX ISA, "Shared memory descriptor", for the matrix that
    starts `offset` bytes after the start of `memory`. With `wgmma`, the
    descriptor is for the instructions of that name and has no version.

    | shape       | a swizzle row is   | along it | from one to the next |
    |-------------|--------------------|----------|----------------------|
    | `R x L`     | `k`: a row of A, B | K        | M or N               |
    |             | `mn`: a step of K  | M or N   | K                    |
    | `C x R x L` | the same; C such columns side by side | | |

    Swizzle rows (L) of 32, 64 or 128 bytes are swizzled as in
    `#blockscale.tile_layout`; rows of 16 bytes are not swizzled. With `k` and a
    swizzle, each column holds matrices of its own, and `offset` chooses one of
    them; with `mn`, and with rows of 16 bytes, a matrix continues in the next
    column.

    An instruction reads 32 bytes along K (`k`), which are in one swizzle row if
    there is a swizzle, or 32 rows (`mn`).

    Constraints:

    * (S1) `memory` has a static shape, the identity layout and the workgroup
      memory space, and no more bytes than a block can have there on any chip.
    * (S2) Swizzle rows have 16 bytes, or have 32, 64 or 128 and are swizzled.
    * (S3) A column has a multiple of 8 rows. There is at least one column; with
      `k` and rows of 16 bytes, at least two.
    * (S4) Elements are in `slots`, or `padded` after 16 elements; with `mn`
      they have a byte or two, which `tcgen05_mma` checks.
    * (S5) A constant `offset` is a multiple of 16 in the first of 8 rows; with
      `k`, the 32 bytes of an instruction are in one swizzle row.

    Memory is aligned to 8 rows; the conversion sees to that for workgroup
    attributions and dynamic shared memory.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @words(
          %a: memref<128x128xi8, #gpu.address_space<workgroup>>,
          %b: memref<2x64x128xi8, #gpu.address_space<workgroup>>,
          %step: index, %out: memref<2xi64>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %0 = blockscale.matrix_descriptor %a[%step]
            layout = <k, slots, swizzled>
            : memref<128x128xi8, #gpu.address_space<workgroup>>
        %1 = blockscale.matrix_descriptor %b[%c0]
            layout = <mn, slots, swizzled>
            : memref<2x64x128xi8, #gpu.address_space<workgroup>>
        memref.store %0, %out[%c0] : memref<2xi64>
        memref.store %1, %out[%c1] : memref<2xi64>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins BlockScale_Matrices:$memory, Index:$offset,
                       BlockScale_TileLayoutAttr:$layout, UnitAttr:$wgmma);
  let results = (outs I64:$result);
  let assemblyFormat = [{
    $memory `[` $offset `]` `layout` `=` $layout (`wgmma` $wgmma^)? attr-dict
    `:` type($memory)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getLowestPtxVersion() {
      return getWgmma() ? kBulkCopyPtx : kTensorMemoryPtx;
    }
    bool isSupportedOn(const Chip &chip) { return chip.has(getUser()); }
    std::string describeInstruction() {
      return std::string(getPathInfo(getUser()).opcode);
    }

    /// The path whose instructions use the descriptor.
    Path getUser() { return getWgmma() ? Path::Wgmma : Path::Tcgen05; }
    /// The columns and swizzle rows of the memory.
    MatrixShape getMatrixShape();
  }];
}

//===----------------------------------------------------------------------===//
// Asynchronous instructions
//===----------------------------------------------------------------------===//

def BlockScale_CopyScalesOp
    : BlockScale_Tcgen05Op<"copy_scales", "tcgen05.cp"> {
  let summary = "copy scales from shared to tensor memory";
  let description = [{
    Copies one atom of the 32x4x4 layout, the 512 bytes from `offset` on, to
    rows `128 row_atom` to `128 row_atom + 127` and blocks `4 word` to `4 word +
    3` of the scales. One thread executes it. The copy completes before a later
    `tcgen05_mma` of the thread starts, and `tcgen05_commit` tracks it. It reads
    through the async proxy.

    With `group = 2`, both blocks of the pair of CTAs copy from their own shared
    memory to their own tensor memory. For scales with two copies, two
    consecutive atoms are copied, to all rows; `row_atom` is 0.

    Constraints:

    * (P1) `memory` holds bytes, and has a static shape, the identity layout and
      the workgroup memory space.
    * (P2) The rows and the blocks are in the scales.
    * (P3) A constant `offset` is a multiple of 16, and the atom is in `memory`.
    * (P4) `group` is 1 or 2.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @copy(%atoms: memref<2x512xi8, #gpu.address_space<workgroup>>,
                     %scales: !blockscale.tmem_scales<256x4>) {
        %c0 = arith.constant 0 : index
        %c512 = arith.constant 512 : index
        blockscale.copy_scales %atoms[%c0], %scales
            {row_atom = 0 : i64, word = 0 : i64}
            : memref<2x512xi8, #gpu.address_space<workgroup>>,
              !blockscale.tmem_scales<256x4>
        blockscale.copy_scales %atoms[%c512], %scales
            {row_atom = 1 : i64, word = 0 : i64}
            : memref<2x512xi8, #gpu.address_space<workgroup>>,
              !blockscale.tmem_scales<256x4>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins MemRefOf<[I8]>:$memory, Index:$offset,
                       BlockScale_TmemScalesType:$scales,
                       I64Attr:$row_atom, I64Attr:$word,
                       BlockScale_Group:$group);
  let assemblyFormat = [{
    $memory `[` $offset `]` `,` $scales attr-dict `:` type($memory) `,`
    qualified(type($scales))
  }];
  let hasVerifier = 1;
}

def BlockScale_CopyMetadataOp
    : BlockScale_Tcgen05Op<"copy_metadata", "tcgen05.cp"> {
  let summary = "copy metadata from shared to tensor memory";
  let description = [{
    Copies one atom of `tile_metadata`, the 128 rows of 16 bytes from `offset`
    on, to the bytes `16 atom` to `16 atom + 15` of all rows of the metadata.
    One thread executes it. It is ordered and tracked as `copy_scales`. With
    `group = 2`, both blocks of the pair of CTAs copy from their own shared
    memory to their own tensor memory.

    Constraints:

    * (P1) `memory` holds bytes, and has a static shape, the identity layout and
      the workgroup memory space.
    * (P2) The bytes are in the metadata.
    * (P3) A constant `offset` is a multiple of 16, and the atom is in `memory`.
    * (P4) `group` is 1 or 2.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @copy(%atoms: memref<2x2048xi8, #gpu.address_space<workgroup>>,
                     %metadata: !blockscale.tmem_metadata<128x32>) {
        %c0 = arith.constant 0 : index
        %c2048 = arith.constant 2048 : index
        blockscale.copy_metadata %atoms[%c0], %metadata {atom = 0 : i64}
            : memref<2x2048xi8, #gpu.address_space<workgroup>>,
              !blockscale.tmem_metadata<128x32>
        blockscale.copy_metadata %atoms[%c2048], %metadata {atom = 1 : i64}
            : memref<2x2048xi8, #gpu.address_space<workgroup>>,
              !blockscale.tmem_metadata<128x32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins MemRefOf<[I8]>:$memory, Index:$offset,
                       BlockScale_TmemMetadataType:$metadata, I64Attr:$atom,
                       BlockScale_Group:$group);
  let assemblyFormat = [{
    $memory `[` $offset `]` `,` $metadata attr-dict `:` type($memory) `,`
    qualified(type($metadata))
  }];
  let hasVerifier = 1;
}

def BlockScale_Tcgen05MmaOp
    : BlockScale_Tcgen05Op<"tcgen05_mma", "tcgen05.mma",
                           [AttrSizedOperandSegments]> {
  let summary = "one `tcgen05.mma` instruction";
  let description = [{
    `acc = (a * a_scale) x (b * b_scale)`, plus `acc` where `accumulate` is
    true. Instructions of 16-bit elements, whose kind in PTX is `f16`, have no
    scales. One thread executes it. It is asynchronous: threads wait for a
    `tcgen05_commit` before they read `acc` or overwrite the operands. It reads
    shared memory through the async proxy.

    `a` and `b` are descriptors from `matrix_descriptor`; `a` may also be in
    tensor memory. In brackets after the scales is the first block along K that
    the instruction uses. A is M x K, and B N x K: contiguous along K, or along
    M with `transpose_a` and along N with `transpose_b`.

    A sparse instruction (`tcgen05.mma.sp`) reads the kept elements of A, half of
    K, and `metadata`; in brackets is which instruction's metadata it uses, of
    those that lie one after the other.

    Constraints:

    * (T1) The instruction is one of tcgen05.
    * (T2) The accumulator has the M and N of the instruction.
    * (T3) There are scales if the instruction has them. Those of A have 128
      rows; those of B 128 for N up to 128, else 256.
      With `group = 2`, a block has the scales of its own rows of A, and all
      scales of B; if M is 128, those of B have two copies of 256 rows.
    * (T4) Blocks are in the regions of scales, and their scale ids (the block
      modulo 4) are 0, 1, 2, 3 for one scale along K, 0, 2 for two and 0 for
      four.
    * (T5) `transpose_a` and `transpose_b` are for elements of a byte (kind
      mxf8f6f4) or two (without scales), and `transpose_a` for A in shared
      memory.
    * (T6) N is legal for the instruction: a multiple of 16 if B is transposed
      and its elements have a byte.
    * (T7) `group` is 1 or 2, and equals that of the accumulator.
    * (T8) With a pair of CTAs and K = 96, M is 256. The scales of such an
      instruction extend into the next four blocks; with M = 128, the hardware
      expects these in nearer columns than copies store them. With a pair of
      CTAs and a sparse A, M is 256, too.
    * (T9) There is metadata if the instruction is sparse, and `metadata_step`
      is one of its instructions. A sparse A is in shared memory.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @step(%acc: !blockscale.tmem_acc<128x256>, %a: i64, %b: i64,
                     %sa: !blockscale.tmem_scales<128x4>,
                     %sb: !blockscale.tmem_scales<256x4>) {
        %true = arith.constant true
        blockscale.tcgen05_mma
            <tcgen05, 128x256x64, mxf4, e2m1, e2m1, ue8m0, 2>
            %acc, %a, %b, %sa[2], %sb[2], %true
            : !blockscale.tmem_acc<128x256>, i64,
              !blockscale.tmem_scales<128x4>, !blockscale.tmem_scales<256x4>
        blockscale.tcgen05_mma
            <tcgen05, 128x256x16, unscaled, bf16, bf16, none, 0>
            %acc, %a, %b, %true {transpose_b}
            : !blockscale.tmem_acc<128x256>, i64
        gpu.return
      }
      gpu.func @sparse_step(%acc: !blockscale.tmem_acc<128x256>, %a: i64,
                            %b: i64, %sa: !blockscale.tmem_scales<128x4>,
                            %sb: !blockscale.tmem_scales<256x4>,
                            %metadata: !blockscale.tmem_metadata<128x32>) {
        %true = arith.constant true
        blockscale.tcgen05_mma
            <tcgen05, 128x256x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
            %acc, %a, %b, %sa[3], %sb[3], %true metadata %metadata[3]
            : !blockscale.tmem_acc<128x256>, i64,
              !blockscale.tmem_scales<128x4>, !blockscale.tmem_scales<256x4>,
              !blockscale.tmem_metadata<128x32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins
    BlockScale_InstructionAttr:$instruction,
    BlockScale_TmemAccType:$acc,
    AnyTypeOf<[I64, BlockScale_TmemOperandType]>:$a, I64:$b,
    Optional<BlockScale_TmemScalesType>:$a_scale,
    DefaultValuedAttr<I64Attr, "0">:$a_block,
    Optional<BlockScale_TmemScalesType>:$b_scale,
    DefaultValuedAttr<I64Attr, "0">:$b_block,
    I1:$accumulate, Optional<BlockScale_TmemMetadataType>:$metadata,
    DefaultValuedAttr<I64Attr, "0">:$metadata_step,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    BlockScale_Group:$group);
  let assemblyFormat = [{
    $instruction $acc `,` $a `,` $b `,`
    custom<BlocksAndAccumulate>($a_scale, $a_block, $b_scale, $b_block,
                                $accumulate)
    (`metadata` $metadata^ `[` $metadata_step `]`)?
    attr-dict `:` qualified(type($acc)) `,` type($a)
    (`,` qualified(type($a_scale))^ `,` qualified(type($b_scale)))?
    (`,` qualified(type($metadata))^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getLowestPtxVersion();
    bool isSupportedOn(const Chip &chip);
    std::string describeInstruction();
    /// The fields of its instruction descriptor.
    InstructionFields getFields();
  }];
}

def BlockScale_Tcgen05CommitOp
    : BlockScale_Tcgen05Op<"tcgen05_commit", "tcgen05.commit"> {
  let summary = "signal the end of asynchronous instructions";
  let description = [{
    Arrives once at mbarrier `index`, when all `copy_scales` and `tcgen05_mma`
    that the same thread has executed before are complete. After a wait for the
    mbarrier, threads that read tensor memory execute `tcgen05_fence after`.
    With `blocks`, it arrives once at that mbarrier of each block of the cluster
    whose rank is a bit of it.

    Constraints:

    * (B1) `barriers` has a static shape, the identity layout and the workgroup
      memory space.
    * (B2) A constant `index` is in it.
    * (B3) `group` is 1 or 2.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @commit(%barriers: memref<4xi64, #gpu.address_space<workgroup>>,
                       %stage: index) {
        blockscale.tcgen05_commit %barriers[%stage]
            : memref<4xi64, #gpu.address_space<workgroup>>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins BlockScale_MBarriers:$barriers, Index:$index,
                       Optional<I16>:$blocks, BlockScale_Group:$group);
  let assemblyFormat = [{
    $barriers `[` $index `]` (`blocks` $blocks^)? attr-dict `:` type($barriers)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

def BlockScale_TmemLoadOp
    : BlockScale_Tcgen05Op<"tmem_load", "tcgen05.ld"> {
  let summary = "load columns of tensor memory to registers";
  let description = [{
    Thread t of warp w (along x) loads the columns from `column` on of lane `32
    (w mod 4) + t` of the region. In an accumulator of one block, that lane is
    row `32 (w mod 4) + t`. All lanes of a warp execute it together, with the
    same `column`. A `tmem_wait load` must come before the columns are written
    or freed.

    With `lane`, the warp loads 16 of its 32 lanes, from that one on, as
    accumulator fragments of mma.sync: registers 4 n to 4 n + 3 of thread t are
    the columns 8 n + 2 (t mod 4) and the next one of lane t div 4, then of lane
    8 + t div 4.

    Constraints:

    * (L1) The vector has 1, 2, 4, 8, 16, 32, 64 or 128 elements, at least 4
      with `lane`.
    * (L2) The columns are in the region, if `column` is a constant.
    * (L3) `lane` is 0 or 16.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @double(%acc: !blockscale.tmem_acc<128x256>, %column: index) {
        %0 = blockscale.tmem_load %acc[%column]
            : !blockscale.tmem_acc<128x256> -> vector<32xf32>
        blockscale.tmem_wait load
        %1 = arith.addf %0, %0 : vector<32xf32>
        blockscale.tmem_store %1, %acc[%column]
            : vector<32xf32>, !blockscale.tmem_acc<128x256>
        blockscale.tmem_wait store
        blockscale.tcgen05_fence before
        gpu.barrier
        blockscale.tcgen05_fence after
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins BlockScale_TmemRegion:$acc, Index:$column,
                       OptionalAttr<I64Attr>:$first_lane);
  let results = (outs BlockScale_TmemRows:$result);
  let assemblyFormat = [{
    $acc `[` $column `]` (`lane` $first_lane^)? attr-dict `:` type($acc) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

def BlockScale_TmemStoreOp
    : BlockScale_Tcgen05Op<"tmem_store", "tcgen05.st"> {
  let summary = "store registers to columns of tensor memory";
  let description = [{
    The reverse of `tmem_load`. A `tmem_wait store` must come before the columns
    are read. The example is that of `tmem_load`.

    Constraints (L1) and (L2) as for `tmem_load`.
  }];
  let arguments = (ins BlockScale_TmemRows:$value, BlockScale_TmemRegion:$acc,
                       Index:$column);
  let assemblyFormat = [{
    $value `,` $acc `[` $column `]` attr-dict `:` type($value) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def BlockScale_TmemWaitOp
    : BlockScale_Tcgen05Op<"tmem_wait", "tcgen05.wait"> {
  let summary = "wait for loads or stores of tensor memory";
  let description = [{
    Waits until all `tmem_load`, or all `tmem_store`, that the warp has executed
    are complete. All lanes of a warp execute it together. The example is that
    of `tmem_load`.
  }];
  let arguments = (ins BlockScale_TmemWaitKindAttr:$kind);
  let assemblyFormat = "$kind attr-dict";
}

def BlockScale_Tcgen05FenceOp
    : BlockScale_Tcgen05Op<"tcgen05_fence", "tcgen05.fence"> {
  let summary = "order tensor memory with other threads";
  let description = [{
    A thread executes it with `before` in front of a barrier or an arrival, and
    another thread with `after` behind the barrier or a wait. Accesses to tensor
    memory before the first fence are then ordered before those after the second
    one. The example is that of `tmem_load`.
  }];
  let arguments = (ins BlockScale_Tcgen05FenceKindAttr:$kind);
  let assemblyFormat = "$kind attr-dict";
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALETCGEN05OPS_TD
