//===- BlockScaleAsyncOps.td - Asynchronous kernels --------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops for warp-specialized kernels: warps have roles, and pass stages of shared
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
    ones the second, and so on; any further warps execute none. After the op,
    all warps execute the code that follows.

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
  let summary = "initialize an mbarrier";
  let description = [{
    Initializes mbarrier `index` of `barriers`; its phases end with `count`
    arrivals. One thread executes it, and then `nvvm.fence.mbarrier.init`,
    before a barrier of the block. The example is that of `roles`.

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
    Each thread that executes it arrives once. With `bytes`, the phase also
    waits until `tensor_load` has copied as many more bytes. With `block`, the
    mbarrier is that of the block of the cluster with that rank. The threads of
    that block see what this thread wrote before only if both the arrival and
    their wait have `cluster`. The example is that of `roles`; for blocks of a
    cluster, that of `cluster_barrier`.

    Constraints (B1) and (B2) as for `barrier_init`.

    * (B4) `bytes` is from 0 to 2^20 - 1.
    * (B5) `block` excludes `bytes`, and `cluster` requires `block`.
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
    Waits until the phase with the parity `parity` has ended. The first phase,
    and every second one after it, has the parity 0. Before the first phase
    ends, a wait for parity 1 returns at once. With `cluster`, the thread sees
    what threads of other blocks wrote before they arrived with `cluster`. The
    example is that of `roles`.

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
    : BlockScale_BulkOp<"cluster_barrier", "barrier.cluster"> {
  let summary = "a barrier of all threads of a cluster";
  let description = [{
    All threads of all blocks of the cluster wait for each other, and then see
    what the others wrote before. All lanes of a warp execute it together.

    Blocks use each other's mbarriers and memory only between two of these: the
    first one comes after the mbarriers are initialized, and no block ends
    before the last one.

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
  let hasVerifier = 0;
}

def BlockScale_BlockMemoryOp
    : BlockScale_BulkOp<"block_memory", "mapa", [Pure]> {
  let summary = "the shared memory of another block of the cluster";
  let description = [{
    The same memory in the block of the cluster with the rank `block`.

    Constraints:

    * (M1) `memory` has a static shape, the identity layout and the workgroup
      memory space.
    * (M2) The result has its shape and elements, and the memory space 7 (shared
      memory of the cluster).

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
    Copies the box that starts at `coordinates` (innermost last, like the sizes
    of the map) to the bytes of `memory` from `offset` on, and counts its bytes
    at mbarrier `index`. One thread executes it. Elements outside of the tensor
    are filled as the map says. `hint` is a policy for the L2 cache, such as
    `createpolicy` makes.

    With `blocks`, the box is multicast to each block of the cluster whose rank
    is a bit of it: to the same offset of the block's own memory, and the bytes
    are counted at the block's own mbarrier. With `group = 2`, the blocks with
    the ranks 2 i and 2 i + 1 are a pair of CTAs, and bytes for both of them are
    counted at the mbarrier of block 2 i.

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
// Accumulators in tensor memory
//===----------------------------------------------------------------------===//

def BlockScale_AsyncTileMmaOp
    : BlockScale_KernelOp<"async_tile_mma", [AttrSizedOperandSegments]> {
  let summary = "asynchronous multiply-accumulate of a tile in tensor memory";
  let description = [{
    Adds the product of two tiles in shared memory to an accumulator in tensor
    memory, or overwrites it if `accumulate` is false. Scales are in tensor
    memory; 16-bit elements have none. One thread executes it; the product is
    complete when a `tcgen05_commit` of that thread has arrived.

    Tiles are those of `matrix_descriptor`, with all of K of the tile. With
    `steps`, only the first `steps` instructions along K are executed.

    With `instruction_k = 96`, a swizzle row of 128 bytes of packed fp4 is
    multiplied by two instructions with K = 96 and one with K = 64, instead of
    four with K = 64.

    If the accumulator is that of a pair of CTAs (`group = 2`), each of the two
    blocks has half of the rows of A and half of those of B, at the same offset
    of its own memory.

    With a sparse instruction, A has the kept elements, half of K, and
    `metadata` is in tensor memory.

    Constraints:

    * (A1) The instruction, the accumulator and the scales meet the constraints
      of `tcgen05_mma`, with all of K.
    * (A2) Tiles meet the constraints of `matrix_descriptor`; elements are
      `padded` for fp4 and fp6 of kind mxf8f6f4, else in `slots`.
    * (A3) Tiles have the M and N of the instruction; in a pair of CTAs, half of
      it.
    * (A4) Both have the same K, a multiple of 32 bytes; a sparse A has half of
      the bytes of B.
    * (A5) With `instruction_k`, the types have a wide instruction with this K,
      swizzle rows of both have 128 bytes, N is a multiple of 16, and there are
      no `steps`.
    * (A6) The metadata holds the fields of all instructions.

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
    MemRefRankOf<[I8], [2, 3]>:$a, Optional<BlockScale_TmemScalesType>:$a_scale,
    MemRefRankOf<[I8], [2, 3]>:$b, Optional<BlockScale_TmemScalesType>:$b_scale,
    BlockScale_TmemAccType:$acc, I1:$accumulate,
    Optional<BlockScale_TmemMetadataType>:$metadata, Optional<Index>:$steps,
    BlockScale_InstructionAttr:$instruction,
    BlockScale_TileLayoutAttr:$a_layout, BlockScale_TileLayoutAttr:$b_layout,
    OptionalAttr<I64Attr>:$instruction_k);
  let assemblyFormat = [{
    custom<TilesAndScales>($a, $a_scale, $b, $b_scale, $acc, $accumulate)
    (`metadata` $metadata^)? (`steps` $steps^)? `instruction` `=` $instruction
    `layouts` `=` $a_layout `,` $b_layout
    (`instruction_k` `=` $instruction_k^)? attr-dict
    `:` custom<TileAndScaleTypes>(ref($a_scale), type($a), type($a_scale),
                                  type($b), type($b_scale), type($acc))
    (`,` qualified(type($metadata))^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes along K of A that an instruction with K = 32 (an element per byte),
    /// K = 64 (packed fp4) or K = 16 (16-bit elements) reads.
    static constexpr int64_t kStepBytes = 32;
    /// The bytes of an element; 1 for packed ones.
    int64_t getUnit();
    /// The bytes along K that an instruction reads of B.
    int64_t getBytesOfB();
    /// The number of such instructions along K.
    int64_t getNumSteps();
  }];
}

def BlockScale_AccReadOp : BlockScale_KernelOp<"acc_read"> {
  let summary = "read an accumulator from tensor memory to registers";
  let description = [{
    Loads the columns of an accumulator in tensor memory from `column` on to the
    registers of the first four warps of the block, which execute it together,
    after the product is complete and after `tcgen05_fence after`. The op waits
    for its loads.

    Rows of the result are the 128 lanes of tensor memory. With the data path
    layouts D and A, they are rows of the accumulator. With B, the layout of
    pairs of CTAs with M = 128, the last 64 lanes hold the second half of the
    columns of the rows in the first 64.

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
