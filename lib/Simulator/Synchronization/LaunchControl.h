//===- LaunchControl.h - Clusters that others take --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block asks for a cluster of the grid that has not begun: that never begins
// then, and the block does its work. The response comes as a bulk copy does.
//
// Source: PTX ISA, sections 9.7.13.18 "clusterlaunchcontrol.try_cancel" and
// 9.7.13.19 "clusterlaunchcontrol.query_cancel".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_LAUNCHCONTROL_H
#define BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_LAUNCHCONTROL_H

#include "Machine/AsyncUnit.h"

#include "llvm/ADT/DenseSet.h"

namespace mlir::blockscale::sim {

/// Knows which blocks must not ask any more.
class LaunchControlUnit final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::LaunchControl;

  explicit LaunchControlUnit(BlockGroup &) {}

  /// A block has been told that there is no cluster left.
  void noteRefusal(const Block &block) { refused.insert(&block); }
  bool wasRefused(const Block &block) const { return refused.contains(&block); }

private:
  llvm::DenseSet<const Block *> refused;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_LAUNCHCONTROL_H
