//===- StepOrder.h - The order of steps -------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lines of `--order`: all instructions of warps but arithmetic and control
// flow, in the order of execution.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_STEPORDER_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_STEPORDER_H

#include "Machine/AsyncUnit.h"

namespace mlir::blockscale::sim {

class StepOrder final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::Order;

  explicit StepOrder(BlockGroup &group) : group(group) {}

  bool watchesSteps() const override;
  bool beginStep(Warp &warp, const Step &step) override;

  std::string take() { return std::move(text); }

private:
  BlockGroup &group;
  std::string text;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_STEPORDER_H
