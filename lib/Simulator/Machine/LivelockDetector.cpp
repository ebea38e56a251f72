//===- LivelockDetector.cpp - Lanes that go in circles --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane does what its registers and memory say: if both are as before, it
// comes to the same place again, and there is no use in letting it run.
//
//===----------------------------------------------------------------------===//

#include "Machine/LivelockDetector.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Turns before a place is looked at the first time, and visits of it before
/// registers are kept.
static constexpr uint64_t kFirstLook = 16;
static constexpr unsigned kVisits = 4;
/// Turns after which lanes that have not come to a place again have left their
/// circle.
static constexpr uint64_t kTurnsOfCircle = 64;

void LivelockDetector::look(const LaneSet &set, size_t newDepth) {
  pc = set.pc;
  lanes = set.lanes;
  depth = newDepth;
  numVisits = 0;
}

void LivelockDetector::leave() {
  numLeft += isCircling;
  isCircling = false;
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
  if (isCircling && numTurns - lastRound > kTurnsOfCircle)
    leave();
  if (!isCircling && llvm::isPowerOf2_64(numTurns)) {
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
    if (isCircling)
      leave();
    return false;
  }
  // Who has been told has put off the turn, and is still where it was.
  bool hasMoved = !isCircling || numTurns != lastRound + 1 || !wasTold;
  isCircling = true;
  lastRound = numTurns;
  wasTold = hasMoved;
  return hasMoved;
}
