//===- LivelockDetector.cpp - Livelock detector ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of a lane depend on its registers and on memory alone. If a set of
// lanes comes back to an instruction with the same registers and nothing has
// changed in memory, it is in a loop that it cannot leave by itself, and other
// lanes should run.
//
//===----------------------------------------------------------------------===//

#include "Machine/LivelockDetector.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Turns before an instruction is watched for the first time, and visits of it
/// before registers are kept.
static constexpr uint64_t kFirstLook = 16;
static constexpr unsigned kVisits = 4;
/// Lanes that have not come back to the watched instruction after so many turns
/// have left the loop.
static constexpr uint64_t kTurnsOfLoop = 64;

void LivelockDetector::look(const LaneSet &set, size_t newDepth) {
  pc = set.pc;
  lanes = set.lanes;
  depth = newDepth;
  numVisits = 0;
}

void LivelockDetector::leave() {
  numLeft += isLooping;
  isLooping = false;
  lanes = 0;
}

void LivelockDetector::forget() {
  uint64_t left = numLeft;
  *this = LivelockDetector();
  numLeft = left;
}

bool LivelockDetector::begin(const LaneSet &set, size_t newDepth,
                             const std::vector<Lanes> &newRegisters,
                             const std::vector<Predicate> &newPredicates) {
  if (++numTurns < kFirstLook)
    return false;
  if (isLooping && numTurns - lastRound > kTurnsOfLoop)
    leave();
  if (!isLooping && llvm::isPowerOf2_64(numTurns)) {
    look(set, newDepth);
    return false;
  }
  if (!isHere(set, newDepth) || ++numVisits < kVisits)
    return false;
  auto isSame = [](const auto &lhs, const auto &rhs) {
    return lhs.value == rhs.value;
  };
  if (numVisits == kVisits) {
    registers = newRegisters;
    predicates = newPredicates;
    return false;
  }
  if (!llvm::equal(registers, newRegisters, isSame) ||
      !llvm::equal(predicates, newPredicates, isSame)) {
    if (isLooping)
      leave();
    return false;
  }
  // A set for which a livelock was reported has postponed its turn, and has not
  // moved since.
  bool hasMoved = !isLooping || numTurns != lastRound + 1 || !wasReported;
  isLooping = true;
  lastRound = numTurns;
  wasReported = hasMoved;
  return hasMoved;
}
