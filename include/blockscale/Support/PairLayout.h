//===- PairLayout.h - Pairs of dequantized elements -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of elements that are dequantized in registers to 16-bit values. A
// step is 32 elements along K, two mma.sync.m16n8k16. For each group of 8 rows
// (M of A, N of B) a lane holds 8 of its elements, in four pairs; the first two
// are its share of the first instruction. Any elements along K may be in a
// pair, as long as A and B agree, because sums may be in any order.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_PAIRLAYOUT_H
#define BLOCKSCALE_SUPPORT_PAIRLAYOUT_H

#include "blockscale/Support/InstructionTable.h"

namespace mlir::blockscale {

inline constexpr unsigned kStepElements = 32;
inline constexpr unsigned kInstructionsPerStep = 2;
/// The pairs of a lane for one instruction and a group of 8 rows.
inline constexpr unsigned kPairsPerInstruction = 2;

/// The elements along K of a pair. With thread t = lane mod 4, and for
/// instruction i of a step,
///
/// * for elements in bytes, pair q has those from 16 i + 4 t + 2 q on, the
///   order of a 32-bit word of four elements;
/// * for packed elements, pair p has those from 8 t + 2 q on, where
///   q = 2 i + p.
///
/// With `isSwapped` (if an operand is contiguous along rows), q is replaced by
/// q xor (t / 2), or by q xor t for packed elements. Then the rows that lanes
/// pass for one transposed load are in different banks.
///
/// For a sparse instruction, A has the kept elements of a chunk in one lane,
/// and B half of the elements of a chunk in each of two neighboring lanes. So
/// pairs of B, or with pairs that are kept the pairs of both operands, have
/// other elements (see PairShape). The order is that of bytes, not swapped.
enum class PairShape : unsigned char {
  /// Two neighbors, those above.
  Neighbors,
  /// Those from 16 i + 8 (t / 2) + 4 q + 2 (t mod 2) on: q and the low bit of t
  /// change places.
  Crossed,
  /// 16 i + 4 t + q, and the second one behind it: the even or the odd elements
  /// of two kept pairs, or of two of the four pairs that may be kept.
  Alternate,
};

struct PairOrder {
  bool isPacked;
  bool isSwapped;
  PairShape shape = PairShape::Neighbors;
};

/// The order for operands whose kind is `kind`.
PairOrder getPairOrder(Kind kind, bool anyIsTransposed);

/// The order of A or B for a sparse instruction.
PairOrder getSparsePairOrder(Granularity granularity, bool isA);

/// The elements from the first to the second one of a pair.
unsigned getPairDistance(PairOrder order);

/// The first of the two elements of a step that thread `thread` holds in pair
/// `pair` of instruction `instruction`.
unsigned getPairElement(PairOrder order, unsigned thread, unsigned instruction,
                        unsigned pair);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_PAIRLAYOUT_H
