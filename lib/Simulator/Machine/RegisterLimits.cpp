//===- RegisterLimits.cpp - Rules of setmaxnreg ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks that the warps of a warpgroup execute the same setmaxnreg instructions
// in the same order, and keeps which warps wait for registers.
//
//===----------------------------------------------------------------------===//

#include "Machine/RegisterLimits.h"

#include "Machine/BlockGroup.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The registers of an SM, all of which a block can have.
static constexpr uint32_t kRegistersOfSm = 65536;

static std::string describe(const RegisterLimits::Change &change) {
  return (change.isIncrease ? ".inc to " : ".dec to ") +
         std::to_string(change.count);
}

std::optional<RegisterLimits::Problem>
RegisterLimits::change(unsigned warp, const Change &next) {
  unsigned number = warp / kWarpsOfGroup, first = number * kWarpsOfGroup;
  if (groups.size() <= number)
    groups.resize(number + 1);
  Warpgroup &group = groups[number];
  if (group.mayDiffer)
    return std::nullopt;
  size_t &made = group.numMade[warp - first];
  if (made != group.changes.size()) {
    const Change &expected = group.changes[made];
    if (expected.isIncrease != next.isIncrease || expected.count != next.count)
      return Problem{"setmaxnreg expected " + describe(expected) +
                         ", as another warp of the warpgroup has in line " +
                         std::to_string(expected.line) + ", got " +
                         describe(next),
                     /*isDifference=*/expected.isIncrease == next.isIncrease};
    ++made;
    return std::nullopt;
  }
  for (unsigned i = 0; i != kWarpsOfGroup && first + i != numWarps; ++i)
    if (group.numMade[i] != made)
      return Problem{
          "setmaxnreg expected that all warps of the warpgroup have executed "
          "that in line " +
              std::to_string(group.changes[group.numMade[i]].line) +
              " and synchronized, but warp " + std::to_string(first + i) +
              " has not executed it",
          /*isDifference=*/false};
  std::optional<uint32_t> current = declared;
  if (!group.changes.empty())
    current = group.changes.back().count;
  bool isWrong = current && (next.isIncrease ? next.count < *current
                                             : next.count > *current);
  if (isWrong)
    return Problem{
        std::string("setmaxnreg") + (next.isIncrease ? ".inc" : ".dec") +
            " expected at " + (next.isIncrease ? "least " : "most ") +
            std::to_string(*current) + " registers, which a thread has, got " +
            std::to_string(next.count),
        /*isDifference=*/false};
  group.changes.push_back(next);
  ++made;
  return std::nullopt;
}

std::optional<RegisterLimits::Missing> RegisterLimits::findMissing() const {
  for (unsigned number = 0; number != groups.size(); ++number) {
    const Warpgroup &group = groups[number];
    unsigned first = number * kWarpsOfGroup;
    if (group.mayDiffer)
      continue;
    for (unsigned i = 0; i != kWarpsOfGroup && first + i != numWarps; ++i)
      if (group.numMade[i] != group.changes.size())
        return Missing{first + i, group.changes[group.numMade[i]]};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Registers of a block
//===----------------------------------------------------------------------===//

uint32_t sim::getFirstRegisters(std::optional<uint32_t> declared,
                                unsigned numWarps) {
  uint32_t limit = kRegistersOfSm / (kLanes * numWarps);
  limit = std::min(limit - limit % kRegisterUnit, kMostRegisters);
  // The declared number is rounded up when a warp gets its registers.
  uint32_t own = declared.value_or(limit);
  return std::min<uint32_t>(llvm::alignTo(own, kRegisterUnit), limit);
}

bool RegisterPool::resize(unsigned warp, uint32_t count) {
  uint32_t &own = counts[warp];
  if (count > own + numFree)
    return false;
  numFree += own - count;
  own = count;
  return true;
}

uint32_t RegisterPool::getLack(unsigned warp, uint32_t count) const {
  return (count - counts[warp]) * kLanes;
}

//===----------------------------------------------------------------------===//
// All blocks of a group
//===----------------------------------------------------------------------===//

RegisterLimitUnit::RegisterLimitUnit(BlockGroup &group)
    : limits(group.maxBlocks, {group.launch.kernel->function->maximumRegisters,
                               group.launch.getNumWarps()}),
      pools(group.maxBlocks,
            {getFirstRegisters(group.launch.kernel->function->maximumRegisters,
                               group.launch.getNumWarps()),
             group.launch.getNumWarps()}),
      awaited(group.maxBlocks * group.launch.getNumWarps()) {}

bool RegisterLimitUnit::checkUse(Warp &warp,
                                 const RegisterLimits::Change &next) {
  RegisterLimits &own = limits[warp.block.number];
  std::optional<RegisterLimits::Problem> problem = own.change(warp.index, next);
  if (!problem)
    return true;
  if (!problem->isDifference)
    return warp.error(/*lane=*/0, problem->text);
  if (!warp.block.reportStrict(warp, /*lane=*/0, problem->text,
                               "PTX ISA, setmaxnreg"))
    return false;
  own.allowDifferences(warp.index);
  return true;
}

void RegisterLimitUnit::wakeWaiters(Block &block) {
  for (Warp &warp : block.warps) {
    if (awaited[warp.number] == 0)
      continue;
    block.group.noteProgress();
    if (warp.state == WarpState::Waiting)
      warp.state = WarpState::Ready;
  }
}

void RegisterLimitUnit::change(Warp &warp, const RegisterLimits::Change &next) {
  uint32_t &count = awaited[warp.number];
  if (count == 0 && !checkUse(warp, next))
    return;
  RegisterPool &pool = pools[warp.block.number];
  // A .dec never waits, even if the current number of the warp is not known.
  uint32_t wanted = next.isIncrease
                        ? next.count
                        : std::min(next.count, pool.getCount(warp.index));
  bool isDone = pool.resize(warp.index, wanted);
  count = isDone ? 0 : wanted;
  if (isDone)
    wakeWaiters(warp.block);
  else
    warp.wait("for registers", /*retries=*/true);
}

std::optional<std::string> RegisterLimitUnit::describeWait(const Warp &warp) {
  uint32_t count = awaited[warp.number];
  if (count == 0)
    return std::nullopt;
  const RegisterPool &pool = pools[warp.block.number];
  return "for " + std::to_string(pool.getLack(warp.index, count)) +
         " registers (setmaxnreg.inc to " + std::to_string(count) +
         "), of which " + std::to_string(pool.getNumFree()) + " are free";
}

void RegisterLimitUnit::endWarp(Warp &warp) {
  pools[warp.block.number].release(warp.index);
  wakeWaiters(warp.block);
}

bool RegisterLimitUnit::endBlock(Block &block) {
  std::optional<RegisterLimits::Missing> missing =
      limits[block.number].findMissing();
  if (!missing)
    return true;
  return block.group.failAt(
      block.warps[missing->warp],
      {missing->change.line, /*lane=*/0,
       "setmaxnreg expected all warps of the warpgroup, but warp " +
           std::to_string(missing->warp) + " ends without executing it"});
}
