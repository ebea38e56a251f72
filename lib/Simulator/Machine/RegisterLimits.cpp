//===- RegisterLimits.cpp - Registers that warps may have -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether the warps of a warpgroup execute the same setmaxnreg in the same
// order, and each of them all.
//
//===----------------------------------------------------------------------===//

#include "Machine/RegisterLimits.h"

#include "Machine/BlockGroup.h"

#include <algorithm>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

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
// All of a group
//===----------------------------------------------------------------------===//

RegisterLimitUnit::RegisterLimitUnit(BlockGroup &group)
    : limits(group.maxBlocks, {group.launch.kernel->function->maximumRegisters,
                               group.launch.getNumWarps()}) {}

RegisterLimits &RegisterLimitUnit::get(const Block &block) {
  return limits[block.number];
}

bool RegisterLimitUnit::endBlock(Block &block) {
  std::optional<RegisterLimits::Missing> missing = get(block).findMissing();
  if (!missing)
    return true;
  return block.group.failAt(
      block.warps[missing->warp],
      {missing->change.line, /*lane=*/0,
       "setmaxnreg expected all warps of the warpgroup, but warp " +
           std::to_string(missing->warp) + " ends without executing it"});
}
