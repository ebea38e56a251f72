//===- TensorMapOperands.h - Tensor maps of instructions --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPOPERANDS_H
#define BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPOPERANDS_H

#include "Memory/MemoryOperands.h"

namespace mlir::blockscale::sim {

/// Takes out the mode and the rank of a tensor copy; fails for modes other than
/// .tile.
std::optional<unsigned> takeTensorMode(Translator &t, Modifiers &modifiers);

/// The operand `[map, {c0, c1}]`: the register of the address, and those of the
/// coordinates, which are added to `coordinates`; false after an error. `base`
/// may be an element of `coordinates`.
bool takeTensorMap(Translator &t, const PtxOperand &operand, unsigned rank,
                   AddressSpace &space, int64_t &offset, Slot &base,
                   llvm::SmallVectorImpl<Slot> &coordinates);

/// A tensor map as an operand.
struct TensorMapUse {
  AddressSpace space;
  int64_t offset;
  Slot base;
};

/// The tensor map at the address of a lane; null after a failure.
const BoundTensorMap *findTensorMap(Warp &warp, unsigned lane,
                                    const TensorMapUse &use);
/// The same with coordinates, which must be of its rank.
const BoundTensorMap *findTensorMap(Warp &warp, unsigned lane,
                                    const TensorMapUse &use,
                                    llvm::ArrayRef<Slot> slots,
                                    llvm::SmallVectorImpl<int32_t> &values);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPOPERANDS_H
