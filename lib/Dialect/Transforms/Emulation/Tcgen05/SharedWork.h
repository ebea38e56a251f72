//===- SharedWork.h - Share work in a warp ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On hardware, one thread starts the instructions of a tensor core. In
// software, the other lanes of its warp would be idle. If elect.sync chooses
// the thread, all lanes of the warp are present, and they share the work.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SHAREDWORK_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SHAREDWORK_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::blockscale {

/// An instruction whose work lanes share.
struct SharedWork {
  /// Whether a lane is the elected one.
  Value isElected;
  /// The index of the elected lane.
  Value leader;

  /// The leader's `value`: an integer of up to 64 bits.
  Value broadcast(OpBuilder &b, Location loc, Value value) const;
};

/// Moves instructions (`isShared`) out of branches of an elected thread, if all
/// lanes can execute everything in the branch. Nested branches follow the
/// condition of the leader. Returns the instructions that it moved.
llvm::DenseMap<Operation *, SharedWork>
shareElected(Operation *root, function_ref<bool(Operation *)> isShared);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SHAREDWORK_H
