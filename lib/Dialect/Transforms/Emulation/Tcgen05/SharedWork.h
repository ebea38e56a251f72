//===- SharedWork.h - Lanes that help one thread --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread tells a tensor core what to do. In software, the other lanes of
// its warp do nothing meanwhile: where that thread is chosen by elect.sync, all
// lanes are there, and they share what it asks for.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SHAREDWORK_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SHAREDWORK_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::blockscale {

/// What is known of an instruction that lanes share.
struct SharedWork {
  /// Whether a lane is the one that was chosen.
  Value isElected;
  /// The number of that lane.
  Value leader;

  /// The leader's `value`: an integer of up to 64 bits.
  Value broadcast(OpBuilder &b, Location loc, Value value) const;
};

/// Takes instructions (`isShared`) out of branches of an elected thread, if all
/// that is in there can be executed by all lanes; branches inside of those go
/// where the leader goes. What was taken out is in the result.
llvm::DenseMap<Operation *, SharedWork>
shareElected(Operation *root, function_ref<bool(Operation *)> isShared);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SHAREDWORK_H
