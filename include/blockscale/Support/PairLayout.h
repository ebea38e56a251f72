//===- PairLayout.h - Pairs of converted codes ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where codes that become numbers of 16 bits on their way are: a step is 32
// elements along K, two mma.sync.m16n8k16. For each group of 8 rows (M of A, N
// of B) a lane holds 8 of its elements, in four pairs; the first two are its
// share of the first instruction. Which elements along K these are is free, as
// long as A and B agree: sums may be in any order.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_PAIRLAYOUT_H
#define BLOCKSCALE_SUPPORT_PAIRLAYOUT_H

#include "blockscale/Support/InstructionTable.h"

namespace mlir::blockscale {

inline constexpr unsigned kStepElements = 32;
inline constexpr unsigned kInstructionsPerStep = 2;
/// Of one instruction, for a group of 8 rows.
inline constexpr unsigned kPairsPerInstruction = 2;

/// Which elements along K a pair has: with thread t = lane mod 4, of
/// instruction i of a step,
///
/// * of codes in bytes, pair q has those from 16 i + 4 t + 2 q on, as a word of
///   four codes gives them;
/// * of packed codes, pair p those from 8 t + 2 q on, where q = 2 i + p.
///
/// With `isSwapped`, q is exclusive or with t / 2 (t, of packed codes): then
/// rows that lanes of one load pass for transposed codes are in different
/// banks.
struct PairOrder {
  bool isPacked;
  bool isSwapped;
};

/// The order for operands whose kind is `kind`.
PairOrder getPairOrder(Kind kind, bool anyIsTransposed);

/// The first of the two elements of a step that thread `thread` holds as pair
/// number `pair` of instruction number `instruction`.
unsigned getPairElement(PairOrder order, unsigned thread, unsigned instruction,
                        unsigned pair);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_PAIRLAYOUT_H
