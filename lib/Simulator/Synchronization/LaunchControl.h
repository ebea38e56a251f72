//===- LaunchControl.h - clusterlaunchcontrol -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block requests to cancel a cluster of the grid that has not begun; that
// cluster never begins, and the block does its work. The response arrives like
// a bulk copy.
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

/// Keeps which blocks must not send another request.
class LaunchControlUnit final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::LaunchControl;

  explicit LaunchControlUnit(BlockGroup &) {}

  /// A block has got the response that there is no cluster left.
  void noteRefusal(const Block &block) { refused.insert(&block); }
  bool wasRefused(const Block &block) const { return refused.contains(&block); }

private:
  llvm::DenseSet<const Block *> refused;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_LAUNCHCONTROL_H
