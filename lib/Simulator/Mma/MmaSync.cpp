//===- MmaSync.cpp - Matrix instructions of a warp ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One execution of mma: unpacks registers to matrices, multiplies, and packs
// the result.
//
//===----------------------------------------------------------------------===//

#include "Mma/MmaSync.h"

#include "Mma/MatrixOperands.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

MmaOutcome sim::executeMma(const MmaForm &form, const MmaOperands &operands,
                           const AdderRule *adder) {
  MmaMatrices matrices;
  MmaOutcome outcome = readOperands(form, operands, matrices);
  if (outcome.error)
    return outcome;
  // All operands have been read: d may be registers of a, b or c.
  uint64_t bits[kMaxM * kN];
  multiplyMatrices(form, matrices, adder, bits);
  writeResults(form, matrices, bits, operands.d);
  return outcome;
}
