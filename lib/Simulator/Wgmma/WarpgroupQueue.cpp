//===- WarpgroupQueue.cpp - wgmma in flight in a warp ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks each use of a register that a wgmma may use against the wgmma in
// flight and the last fence.
//
//===----------------------------------------------------------------------===//

#include "Wgmma/WarpgroupQueue.h"

#include "Machine/BlockGroup.h"
#include "Wgmma/WarpgroupForm.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static std::string describe(uint32_t line) {
  return "wgmma.mma_async in line " + std::to_string(line);
}

llvm::StringRef WarpgroupQueue::getName(Role role) {
  switch (role) {
  case Role::Accumulator:
    return "D";
  case Role::Input:
    return "A";
  default:
    return "the metadata";
  }
}

WarpgroupQueue::RegisterUse &WarpgroupQueue::getUse(Warp &warp, Slot slot) {
  uses.resize(warp.frames.size());
  std::vector<RegisterUse> &frame = uses.back();
  if (frame.empty())
    frame.resize(warp.frames.back().code->numRegisters);
  return frame[slot];
}

bool WarpgroupQueue::access(Warp &warp, const Step &step) {
  const Code &code = *warp.frames.back().code;
  if (code.registersOfSteps.empty())
    return true;
  for (Slot slot : code.registersOfSteps[&step - code.steps.data()]) {
    RegisterUse &use = getUse(warp, slot);
    if (isInFlight(use))
      return warp.error(__builtin_ctz(warp.active),
                        step.name + " uses a register that is part of " +
                            getName(use.role) + " of the " +
                            describe(use.line) +
                            ": expected wgmma.wait_group for it before");
    use = {Role::Thread, step.line, ++now};
  }
  return true;
}

bool WarpgroupQueue::checkRegister(Warp &warp, const WarpgroupForm &form,
                                   Slot slot, Role role, unsigned index) {
  const RegisterUse &use = getUse(warp, slot);
  bool isSameShape = use.form && use.form->name == form.name;
  // The same D in succession, or an input that both read.
  bool isOrdered =
      use.role == role && (role != Role::Accumulator || isSameShape);
  std::string name =
      "register " + std::to_string(index) + " of " + getName(role).str();
  if (isInFlight(use) && !isOrdered) {
    bool isShape = use.role == role;
    return warp.error(
        0, name + " is part of " + getName(use.role) + " of the " +
               describe(use.line) +
               (isShape ? ", which has another shape or other types" : "") +
               ": expected wgmma.wait_group for it before");
  }
  if (use.time > lastFence && !isOrdered)
    return warp.error(0, name + " is used in line " + llvm::Twine(use.line) +
                             ": expected wgmma.fence between that and this "
                             "wgmma.mma_async");
  return true;
}

bool WarpgroupQueue::checkRegisters(Warp &warp, const WarpgroupForm &form,
                                    const WarpgroupRegisters &registers) {
  if (!lastFence)
    return warp.error(
        0, "expected wgmma.fence before the first wgmma.mma_async of a "
           "warp");
  for (auto [i, slot] : llvm::enumerate(registers.d))
    if (!checkRegister(warp, form, slot, Role::Accumulator, i))
      return false;
  for (auto [i, slot] : llvm::enumerate(registers.a))
    if (!checkRegister(warp, form, slot, Role::Input, i))
      return false;
  for (auto [i, slot] : llvm::enumerate(registers.metadata))
    if (!checkRegister(warp, form, slot, Role::Metadata, i))
      return false;
  return true;
}

void WarpgroupQueue::issue(Warp &warp, const WarpgroupForm &form,
                           const WarpgroupRegisters &registers, uint64_t number,
                           SharedReads reads) {
  ++numIssued;
  ++now;
  uint32_t line = warp.current->line;
  for (Slot slot : registers.d)
    getUse(warp, slot) = {Role::Accumulator, line, now, numIssued, &form};
  for (Slot slot : registers.a)
    getUse(warp, slot) = {Role::Input, line, now, numIssued, &form};
  for (Slot slot : registers.metadata)
    getUse(warp, slot) = {Role::Metadata, line, now, numIssued, &form};
  operations.push_back({line, warp.frames.size(), number, std::move(reads)});
}

std::optional<uint64_t> WarpgroupQueue::getLastAwaited(uint64_t keep) const {
  if (groups.size() <= keep)
    return std::nullopt;
  uint64_t last = groups[groups.size() - keep - 1];
  if (last == numCompleted)
    return std::nullopt;
  return operations[last - numCompleted - 1].number;
}

void WarpgroupQueue::endReads(Warp &warp, uint64_t last) {
  for (; numRead != operations.size(); ++numRead) {
    Operation &operation = operations[numRead];
    if (operation.number > last ||
        !operation.reads->checkUnchanged(warp, 0,
                                         "the " + describe(operation.line),
                                         "wgmma.wait_group for it"))
      return;
    operation.reads.reset();
  }
}

void WarpgroupQueue::wait(uint64_t keep) {
  while (groups.size() > keep) {
    for (; numCompleted < groups.front(); ++numCompleted) {
      operations.pop_front();
      --numRead;
    }
    groups.pop_front();
  }
}

bool WarpgroupQueue::leave(Warp &warp) {
  if (uses.size() == warp.frames.size())
    uses.pop_back();
  auto operation = llvm::find_if(operations, [&](const Operation &each) {
    return each.depth == warp.frames.size();
  });
  if (operation != operations.end())
    return warp.error(0, "the function ends while the " +
                             describe(operation->line) +
                             " may still use its registers: expected "
                             "wgmma.commit_group and wgmma.wait_group before");
  return true;
}
