//===- BlockScaleAsyncOps.td - Asynchronous kernels --------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels are made of in which warps have roles, and hand stages of shared
// memory and accumulators to each other.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEASYNCOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEASYNCOPS_TD

include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleLevels.td"
include "blockscale/Dialect/IR/BlockScaleTcgen05Types.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def BlockScale_RolesOp : BlockScale_KernelOp<"roles", [
    RecursiveMemoryEffects, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "regions for warps of a block";
  let description = [{
    The first warps of the block, along x, execute the first region, the next
    ones the second, and so on; those beyond execute none. Behind the op all of
    them go on together.

    Constraints:

    * (Y1) There is a positive number of warps for each region.
    * (Y2) They are at most the 32 that a block can have.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @hand_over(%out: memref<128xi32>)
          workgroup(%barriers : memref<1xi64, #gpu.address_space<workgroup>>) {
        %c0 = arith.constant 0 : index
        %c0_i32 = arith.constant 0 : i32
        %thread = gpu.thread_id x
        %first = arith.cmpi eq, %thread, %c0 : index
        scf.if %first {
          blockscale.barrier_init %barriers[%c0], 32
              : memref<1xi64, #gpu.address_space<workgroup>>
        }
        gpu.barrier
        blockscale.roles warps = [4, 1] {
          blockscale.barrier_wait %barriers[%c0], %c0_i32
              : memref<1xi64, #gpu.address_space<workgroup>>
          memref.store %c0_i32, %out[%thread] : memref<128xi32>
        }, {
          blockscale.barrier_arrive %barriers[%c0]
              : memref<1xi64, #gpu.address_space<workgroup>>
        }
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$warps);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let assemblyFormat = "`warps` `=` $warps $bodies attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Barriers and copies
//===----------------------------------------------------------------------===//

defvar BlockScale_Barriers = MemRefRankOf<[I64], [1]>;

class BlockScale_BulkOp<string mnemonic, string opcode,
                        list<Trait> traits = []>
    : BlockScale_InstructionOp<mnemonic, traits> {
  let extraClassDeclaration = [{
    unsigned getLowestPtxVersion() { return kBulkCopyPtx; }
    bool isSupportedOn(const Chip &chip) { return hasBulkCopies(chip); }
    std::string describeInstruction() { return "}] # opcode # [{"; }
  }];
  let hasVerifier = 1;
}

def BlockScale_BarrierInitOp
    : BlockScale_BulkOp<"barrier_init", "mbarrier.init"> {
  let summary = "make an mbarrier";
  let description = [{
    The mbarrier number `index` of `barriers`, whose phases end with `count`
    arrivals. One thread executes it, and fences it (`nvvm.fence.mbarrier.init`)
    in front of a barrier of the block. The example is that of `roles`.

    Constraints:

    * (B1) `barriers` has a static shape, the identity layout and the workgroup
      memory space.
    * (B2) A constant `index` is in it.
    * (B3) `count` is from 1 to 2^20 - 1.
  }];
  let arguments = (ins BlockScale_Barriers:$barriers, Index:$index,
                       I64Attr:$count);
  let assemblyFormat = [{
    $barriers `[` $index `]` `,` $count attr-dict `:` type($barriers)
  }];
}

def BlockScale_BarrierArriveOp
    : BlockScale_BulkOp<"barrier_arrive", "mbarrier.arrive"> {
  let summary = "arrive at an mbarrier";
  let description = [{
    One arrival of each thread that executes it. With `bytes`, the phase ends
    when so many bytes more have been copied by `tensor_load`. With `block`, the
    mbarrier is that of the block of the cluster with that rank; the threads of
    that block see what this one wrote before it arrived only with `cluster`,
    and `cluster` at their wait. The example is that of `roles`, and of blocks
    of a cluster that of `cluster_barrier`.

    Constraints (B1) and (B2) as for `barrier_init`.

    * (B4) `bytes` is from 0 to 2^20 - 1.
    * (B5) There is no `block` where there are `bytes`, and a `block` where there
      is `cluster`.
  }];
  let arguments = (ins BlockScale_Barriers:$barriers, Index:$index,
                       Optional<I32>:$block, OptionalAttr<I64Attr>:$bytes,
                       UnitAttr:$cluster);
  let assemblyFormat = [{
    $barriers `[` $index `]` (`of` $block^)? (`expect` $bytes^)?
    (`cluster` $cluster^)? attr-dict `:` type($barriers)
  }];
  let builders = [OpBuilder<(ins "Value":$barriers, "Value":$index,
                             "IntegerAttr":$bytes), [{
    build($_builder, $_state, barriers, index, /*block=*/Value(), bytes);
  }]>];
}

def BlockScale_BarrierWaitOp
    : BlockScale_BulkOp<"barrier_wait", "mbarrier.try_wait"> {
  let summary = "wait for a phase of an mbarrier";
  let description = [{
    Waits until the phase with the parity `parity` has ended: the first one, and
    every second one after it, has the parity 0. At first, the phase in front of
    it, of parity 1, counts as ended. With `cluster`, the thread sees what those
    of other blocks wrote before they arrived with `cluster`. The example is
    that of `roles`.

    Constraints (B1) and (B2) as for `barrier_init`.
  }];
  let arguments = (ins BlockScale_Barriers:$barriers, Index:$index,
                       I32:$parity, UnitAttr:$cluster);
  let assemblyFormat = [{
    $barriers `[` $index `]` `,` $parity (`cluster` $cluster^)? attr-dict `:`
    type($barriers)
  }];
}

def BlockScale_ClusterBarrierOp
    : BlockScale_InstructionOp<"cluster_barrier"> {
  let summary = "a barrier of all threads of a cluster";
  let description = [{
    All threads of all blocks of the cluster wait for each other; what one did
    in front of it, the others see behind it. Warps execute it as a whole.

    Blocks use each other's mbarriers and memory between two of these: behind
    the first one mbarriers are made, and up to the last one no block has ended.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @hand_over(%peer: i32)
          workgroup(%barriers : memref<1xi64, #gpu.address_space<workgroup>>) {
        %c0 = arith.constant 0 : index
        %c0_i32 = arith.constant 0 : i32
        %thread = gpu.thread_id x
        %first = arith.cmpi eq, %thread, %c0 : index
        scf.if %first {
          blockscale.barrier_init %barriers[%c0], 32
              : memref<1xi64, #gpu.address_space<workgroup>>
          nvvm.fence.mbarrier.init
        }
        blockscale.cluster_barrier
        blockscale.roles warps = [1, 1] {
          blockscale.barrier_wait %barriers[%c0], %c0_i32
              : memref<1xi64, #gpu.address_space<workgroup>>
        }, {
          blockscale.barrier_arrive %barriers[%c0] of %peer
              : memref<1xi64, #gpu.address_space<workgroup>>
        }
        blockscale.cluster_barrier
        gpu.return
      }
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
  let extraClassDeclaration = [{
    unsigned getLowestPtxVersion() { return kBulkCopyPtx; }
    bool isSupportedOn(const Chip &chip) { return hasBulkCopies(chip); }
    std::string describeInstruction() { return "barrier.cluster"; }
  }];
}

def BlockScale_BlockMemoryOp
    : BlockScale_BulkOp<"block_memory", "mapa", [Pure]> {
  let summary = "the shared memory of another block of the cluster";
  let description = [{
    What `memory` is in the block of the cluster with the rank `block`.

    Constraints:

    * (M1) `memory` has a static shape, the identity layout and the workgroup
      memory space.
    * (M2) The result has its shape and elements, and the memory space 7, that
      of the cluster.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @exchange(%peer: i32)
          workgroup(%own : memref<32xi8, #gpu.address_space<workgroup>>) {
        %thread = gpu.thread_id x
        %code = arith.constant 1 : i8
        %other = blockscale.block_memory %own of %peer
            : memref<32xi8, #gpu.address_space<workgroup>> to memref<32xi8, 7>
        memref.store %code, %other[%thread] : memref<32xi8, 7>
        blockscale.cluster_barrier
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins MemRefOf<[I8]>:$memory, I32:$block);
  let results = (outs MemRefOf<[I8]>:$result);
  let assemblyFormat = [{
    $memory `of` $block attr-dict `:` type($memory) `to` type($result)
  }];
}

def BlockScale_TensorLoadOp
    : BlockScale_BulkOp<"tensor_load", "cp.async.bulk.tensor",
                        [AttrSizedOperandSegments]> {
  let summary = "copy a box of a tensor map to shared memory";
  let description = [{
    Copies the box that starts at `coordinates` (innermost last, as sizes of the
    map are) to the bytes of `memory` from `offset` on, and counts its bytes at
    the mbarrier number `index`. One thread executes it. What lies outside of the
    tensor is filled as the map says. `hint` tells the L2 cache what to do with
    it: an operand of `createpolicy`, or one of the constants that the driver
    documents for it.

    With `blocks`, each block of the cluster whose rank is a bit of it gets the
    box, at the same place of its own memory, and counts the bytes at its own
    mbarrier. With `group = 2`, blocks with the ranks 2 i and 2 i + 1 are a pair,
    and what either of them gets counts at the mbarrier of 2 i.

    Constraints (B1) and (B2) as for `barrier_init`.

    * (L1) `memory` holds bytes in the workgroup memory space, with a static
      shape and the identity layout; `offset` is a multiple of 128 (of 1024
      where the map swizzles 128 bytes).
    * (L2) There are 1 to 5 coordinates.
    * (L3) `group` is 1 or 2.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @load(%map: !llvm.ptr, %row: i32, %column: i32)
          workgroup(%tile : memref<128x128xi8, #gpu.address_space<workgroup>>,
                    %barriers : memref<1xi64, #gpu.address_space<workgroup>>) {
        %c0 = arith.constant 0 : index
        blockscale.barrier_arrive %barriers[%c0] expect 16384
            : memref<1xi64, #gpu.address_space<workgroup>>
        blockscale.tensor_load %map[%row, %column] to %tile[%c0],
            %barriers[%c0]
            : memref<128x128xi8, #gpu.address_space<workgroup>>,
              memref<1xi64, #gpu.address_space<workgroup>>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins LLVM_DefaultPointer:$map, Variadic<I32>:$coordinates,
                       MemRefOf<[I8]>:$memory, Index:$offset,
                       BlockScale_Barriers:$barriers, Index:$index,
                       Optional<I16>:$blocks, OptionalAttr<I64Attr>:$hint,
                       BlockScale_Group:$group);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $memory `[` $offset `]` `,`
    $barriers `[` $index `]` (`blocks` $blocks^)? (`hint` $hint^)? attr-dict `:`
    type($memory) `,` type($barriers)
  }];
}

//===----------------------------------------------------------------------===//
// Products in tensor memory
//===----------------------------------------------------------------------===//

def BlockScale_AsyncTileMmaOp : BlockScale_KernelOp<"async_tile_mma"> {
  let summary = "asynchronous multiply-accumulate of a tile in tensor memory";
  let description = [{
    Adds the product of two tiles in shared memory to an accumulator in tensor
    memory, or writes it where `accumulate` is false. Scales are in tensor
    memory. One thread executes it; the product is there when a `tcgen05_commit`
    of that thread has arrived.

    Tiles are those of `matrix_descriptor`, with all of K of the tile. With
    `steps`, instructions from that number on are left out.

    With `wide`, a line of 128 bytes of packed fp4 takes two instructions with
    K = 96 and one with K = 64, in the place of four with K = 64.

    Where the accumulator is that of a pair of blocks (`group = 2`), tiles are
    what each of both has at the same place of its memory: half of the rows of
    A, and half of those of B.

    Constraints:

    * (A1) The instruction, the accumulator and the scales are such as
      `tcgen05_mma` asks for, with all of K.
    * (A2) Tiles are such as `matrix_descriptor` asks for, and `padded` for fp4
      and fp6 of kind mxf8f6f4, else of `slots`.
    * (A3) Tiles have the M and N of the instruction, each block of a pair half
      of it.
    * (A4) Both have the same K, a multiple of 32 bytes.
    * (A5) With `wide`, the kind is one of packed fp4, lines of both have 128
      bytes, N is a multiple of 16, and there are no `steps`.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @tile(
          %a: memref<128x128xi8, #gpu.address_space<workgroup>>,
          %b: memref<64x128xi8, #gpu.address_space<workgroup>>,
          %acc: !blockscale.tmem_acc<128x64>,
          %sa: !blockscale.tmem_scales<128x4>,
          %sb: !blockscale.tmem_scales<128x4>, %accumulate: i1) {
        blockscale.async_tile_mma %a, %sa, %b, %sb, %acc, %accumulate
            instruction = <tcgen05, 128x64x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
            layouts = <k, slots, swizzled>, <k, slots, swizzled>
            : memref<128x128xi8, #gpu.address_space<workgroup>>,
              !blockscale.tmem_scales<128x4>,
              memref<64x128xi8, #gpu.address_space<workgroup>>,
              !blockscale.tmem_scales<128x4>, !blockscale.tmem_acc<128x64>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins
    MemRefRankOf<[I8], [2, 3]>:$a, BlockScale_TmemScalesType:$a_scale,
    MemRefRankOf<[I8], [2, 3]>:$b, BlockScale_TmemScalesType:$b_scale,
    BlockScale_TmemAccType:$acc, I1:$accumulate, Optional<Index>:$steps,
    BlockScale_InstructionAttr:$instruction,
    BlockScale_TileLayoutAttr:$a_layout, BlockScale_TileLayoutAttr:$b_layout,
    UnitAttr:$wide);
  let assemblyFormat = [{
    $a `,` $a_scale `,` $b `,` $b_scale `,` $acc `,` $accumulate
    (`steps` $steps^)? `instruction` `=` $instruction
    `layouts` `=` $a_layout `,` $b_layout (`wide` $wide^)? attr-dict
    `:` type($a) `,` type($a_scale) `,` type($b) `,` type($b_scale) `,`
    type($acc)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes along K that each instruction takes at the most: those of K = 32
    /// of bytes, or of K = 64 of packed fp4.
    static constexpr int64_t kStepBytes = 32;
    /// Instructions along K that take so many.
    int64_t getNumSteps();
  }];
}

def BlockScale_AccReadOp : BlockScale_KernelOp<"acc_read"> {
  let summary = "sums of tensor memory in registers";
  let description = [{
    The columns of an accumulator in tensor memory from `column` on, in the
    registers of the first four warps of the block, which execute it together.
    The product is complete, and `tcgen05_fence after` has been executed; the
    op waits for its loads.

    Rows of the result are the 128 lanes of the block. With the layouts D and A,
    those are rows of the sums; with B, that of pairs with M = 128, the last 64
    of them are the second half of the columns of the first 64.

    Constraint (R1): the result has 128 rows, N a multiple of 8, and the layout
    `#blockscale.warps<4x1>`; or it is the transpose of that, in the layout
    `#blockscale.lane_columns`.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @store(%sums: !blockscale.tmem_acc<128x64>, %column: index,
                      %d: memref<128x64xf32>) {
        %c0 = arith.constant 0 : index
        %part = blockscale.acc_read %sums[%column]
            : !blockscale.tmem_acc<128x64>
            -> !blockscale.acc<128x32, #blockscale.warps<4x1>>
        blockscale.acc_store %part, %d[%c0, %column]
            : !blockscale.acc<128x32, #blockscale.warps<4x1>>,
              memref<128x64xf32>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins BlockScale_TmemAccType:$source, Index:$column);
  let results = (outs BlockScale_AccType:$result);
  let assemblyFormat = [{
    $source `[` $column `]` attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def BlockScale_AccAddOp : BlockScale_KernelOp<"acc_add", [
    Pure, SameOperandsAndResultType]> {
  let summary = "the sum of two accumulators";
  let arguments = (ins BlockScale_AccType:$lhs, BlockScale_AccType:$rhs);
  let results = (outs BlockScale_AccType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEASYNCOPS_TD
