//===- StepOrder.cpp - The order of steps ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A line for each step: the block, the warp and the line of the PTX text.
//
//===----------------------------------------------------------------------===//

#include "Machine/StepOrder.h"

#include "Machine/BlockGroup.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

bool StepOrder::watchesSteps() const {
  return group.launch.options->wantsOrder;
}

bool StepOrder::beginStep(Warp &warp, const Step &step) {
  if (step.kind == StepClass::Memory || step.kind == StepClass::Matrix ||
      step.kind == StepClass::Synchronization)
    text += print(warp.block.index) + " " + std::to_string(warp.index) + " " +
            std::to_string(step.line) + "\n";
  return true;
}
