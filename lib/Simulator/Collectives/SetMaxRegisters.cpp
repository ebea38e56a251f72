//===- SetMaxRegisters.cpp - setmaxnreg -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// setmaxnreg only makes warps wait for registers. RegisterLimits.h has its
// rules.
//
// Source: PTX ISA, section 9.7.20.5 "setmaxnreg".
//
//===----------------------------------------------------------------------===//

#include "Collectives/CollectiveInstructions.h"
#include "Machine/BlockGroup.h"
#include "Machine/RegisterLimits.h"
#include "Ptx/Targets.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The fewest registers that a thread may have.
static constexpr int64_t kFewestRegisters = 24;

static void executeSetMaxRegisters(Warp &warp, const Step &step) {
  if (!warp.requireWholeWarp("setmaxnreg"))
    return;
  warp.block.group.get<RegisterLimitUnit>().change(
      warp, step.getForm<RegisterLimits::Change>());
}

void sim::translateSetMaxRegisters(Translator &t, Modifiers &modifiers) {
  llvm::StringRef name = t.program.module.target;
  if (!hasFeature(name, Feature::RegisterLimits))
    return t.fail("expected a target such as sm_90a for setmaxnreg, got " +
                  name);
  std::optional<unsigned> kind = modifiers.takeOneOf({"inc", "dec"});
  if (!kind || !modifiers.take("sync") || !modifiers.take("aligned") ||
      !modifiers.take("u32"))
    return t.fail("expected .inc.sync.aligned.u32 or .dec.sync.aligned.u32 "
                  "behind setmaxnreg");
  if (!t.finish(modifiers) || !t.expectOperands(1))
    return;
  const PtxOperand &operand = t.current->operands[0];
  int64_t count = t.constant(operand, "the number of registers");
  if (count < kFewestRegisters || count > kMostRegisters ||
      count % kRegisterUnit != 0)
    return t.fail(operand.location,
                  "expected a multiple of 8 from 24 to 256 as the number of "
                  "registers, got " +
                      llvm::Twine(count));
  RegisterLimits::Change change = {kind == 0u, static_cast<uint32_t>(count),
                                   t.current->location.line};
  t.emit(executeSetMaxRegisters, StepClass::Synchronization, {},
         t.keep(change));
}
