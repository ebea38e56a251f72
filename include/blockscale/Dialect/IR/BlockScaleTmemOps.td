//===- BlockScaleTmemOps.td - Ops on tensor memory --------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that allocate tensor memory and divide it into regions.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALETMEMOPS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALETMEMOPS_TD

include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleInterfaces.td"
include "blockscale/Dialect/IR/BlockScaleTcgen05Types.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Memory to which `tmem_alloc` writes the address.
defvar BlockScale_TmemSlot = MemRefRankOf<[I32], [1]>;

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

def BlockScale_TmemAllocOp
    : BlockScale_Tcgen05Op<"tmem_alloc", "tcgen05.alloc"> {
  let summary = "allocate columns of tensor memory";
  let description = [{
    Waits until `columns` columns are free, allocates them and writes their
    address to `slot`. `tmem_base` loads it from there, after a barrier. One
    whole warp executes it.

    Constraints:

    * (A1) `columns` is a power of two from 32 to 512.
    * (A2) `slot` has one element, in the workgroup memory space.
    * (A3) `group` is 1 or 2.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @allocate()
          workgroup(%slot : memref<1xi32, #gpu.address_space<workgroup>>) {
        blockscale.tmem_alloc %slot {columns = 512 : i64}
            : memref<1xi32, #gpu.address_space<workgroup>>
        blockscale.tmem_relinquish
        gpu.barrier
        %t = blockscale.tmem_base %slot
             : memref<1xi32, #gpu.address_space<workgroup>>
            -> !blockscale.tmem<512>
        blockscale.tmem_dealloc %t : !blockscale.tmem<512>
        gpu.return
      }
    }
    ```
  }];
  let arguments = (ins BlockScale_TmemSlot:$slot, I64Attr:$columns,
                       BlockScale_Group:$group);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
  let hasVerifier = 1;
}

def BlockScale_TmemRelinquishOp
    : BlockScale_Tcgen05Op<"tmem_relinquish",
                           "tcgen05.relinquish_alloc_permit"> {
  let summary = "give up the right to allocate tensor memory";
  let description = [{
    The block executes no `tmem_alloc` any more, so that other blocks may. One
    whole warp executes it. The example is that of `tmem_alloc`.

    Constraint (A3) as for `tmem_alloc`.
  }];
  let arguments = (ins BlockScale_Group:$group);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def BlockScale_TmemBaseOp
    : BlockScale_Tcgen05Op<"tmem_base", "tcgen05.alloc"> {
  let summary = "load the address of allocated tensor memory";
  let description = [{
    Loads the address that `tmem_alloc` wrote, after a barrier. The example is
    that of `tmem_alloc`.

    Constraint (A2) as for `tmem_alloc`.
  }];
  let arguments = (ins Arg<BlockScale_TmemSlot, "address", [MemRead]>:$slot);
  let results = (outs BlockScale_TmemType:$result);
  let assemblyFormat = [{
    $slot attr-dict `:` type($slot) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def BlockScale_TmemDeallocOp
    : BlockScale_Tcgen05Op<"tmem_dealloc", "tcgen05.dealloc"> {
  let summary = "free columns of tensor memory";
  let description = [{
    A kernel must free its tensor memory before it ends, after the last use. One
    whole warp executes it. The example is that of `tmem_alloc`.

    Constraint (A3) as for `tmem_alloc`.
  }];
  let arguments = (ins BlockScale_TmemType:$tmem, BlockScale_Group:$group);
  let assemblyFormat = "$tmem attr-dict `:` qualified(type($tmem))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

class BlockScale_TmemRegionOp<string mnemonic, Type type>
    : BlockScale_Tcgen05Op<mnemonic, "tensor memory", [Pure]> {
  let arguments = (ins BlockScale_TmemType:$tmem, Index:$column);
  let results = (outs type:$result);
  let assemblyFormat = [{
    $tmem `[` $column `]` attr-dict `:` qualified(type($tmem)) `->`
    qualified(type($result))
  }];
  let hasVerifier = 1;
}

def BlockScale_TmemAccOp
    : BlockScale_TmemRegionOp<"tmem_acc", BlockScale_TmemAccType> {
  let summary = "an accumulator in tensor memory";
  let description = [{
    The accumulator from column `column` of the allocation on. It is not
    initialised: the first `tcgen05_mma` does not accumulate.

    Constraint (R1): the region is in the allocation, if `column` is a constant.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @regions(%t: !blockscale.tmem<512>, %stage: index) {
        %c0 = arith.constant 0 : index
        %sums = blockscale.tmem_acc %t[%c0]
            : !blockscale.tmem<512> -> !blockscale.tmem_acc<128x256>
        %scales = blockscale.tmem_scales %t[%stage]
            : !blockscale.tmem<512> -> !blockscale.tmem_scales<128x8>
        %a = blockscale.tmem_operand %t[%stage]
            : !blockscale.tmem<512> -> !blockscale.tmem_a<128x32>
        gpu.return
      }
    }
    ```
  }];
}

def BlockScale_TmemScalesOp
    : BlockScale_TmemRegionOp<"tmem_scales", BlockScale_TmemScalesType> {
  let summary = "scales in tensor memory";
  let description = [{
    The scales from column `column` of the allocation on. The example is that of
    `tmem_acc`.

    Constraint (R1) as for `tmem_acc`.
  }];
}

def BlockScale_TmemOperandOp
    : BlockScale_TmemRegionOp<"tmem_operand", BlockScale_TmemOperandType> {
  let summary = "elements of A in tensor memory";
  let description = [{
    The elements from column `column` of the allocation on. The example is that
    of `tmem_acc`.

    Constraint (R1) as for `tmem_acc`.
  }];
}

def BlockScale_TmemMetadataOp
    : BlockScale_TmemRegionOp<"tmem_metadata", BlockScale_TmemMetadataType> {
  let summary = "metadata of a sparse A in tensor memory";
  let description = [{
    The metadata from column `column` of the allocation on, which is a multiple
    of 4.

    Constraint (R1) as for `tmem_acc`, and a constant `column` is a multiple of
    4.

    Example:

    ```mlir
    gpu.module @kernels {
      gpu.func @regions(%tmem: !blockscale.tmem<512>) {
        %c256 = arith.constant 256 : index
        %metadata = blockscale.tmem_metadata %tmem[%c256]
            : !blockscale.tmem<512> -> !blockscale.tmem_metadata<128x32>
        gpu.return
      }
    }
    ```
  }];
}

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALETMEMOPS_TD
