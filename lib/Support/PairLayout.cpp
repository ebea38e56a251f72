//===- PairLayout.cpp - Pairs of dequantized elements ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/PairLayout.h"

using namespace mlir;
using namespace mlir::blockscale;

PairOrder blockscale::getPairOrder(Kind kind, bool anyIsTransposed) {
  return {!hasContainers(kind), anyIsTransposed};
}

PairOrder blockscale::getSparsePairOrder(Granularity granularity, bool isA) {
  if (granularity == Granularity::Pairs)
    return {false, false, PairShape::Alternate};
  return {false, false, isA ? PairShape::Neighbors : PairShape::Crossed};
}

unsigned blockscale::getPairDistance(PairOrder order) {
  return order.shape == PairShape::Alternate ? 2 : 1;
}

unsigned blockscale::getPairElement(PairOrder order, unsigned thread,
                                    unsigned instruction, unsigned pair) {
  if (order.shape == PairShape::Crossed)
    return 16 * instruction + 8 * (thread / 2) + 4 * pair + 2 * (thread % 2);
  if (order.shape == PairShape::Alternate)
    return 16 * instruction + 4 * thread + pair;
  if (order.isPacked) {
    unsigned q = kPairsPerInstruction * instruction + pair;
    return 8 * thread + 2 * (order.isSwapped ? q ^ thread : q);
  }
  unsigned q = order.isSwapped ? pair ^ (thread / 2) : pair;
  return 16 * instruction + 4 * thread + 2 * q;
}
