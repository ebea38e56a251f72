//===- KPattern.h - Instructions of several K in a line ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A column of the instruction table. Instructions whose K does not divide a
// line of shared memory take turns with others.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_KPATTERN_H
#define BLOCKSCALE_SUPPORT_KPATTERN_H

#include "blockscale/Support/InstructionTable.h"

namespace mlir::blockscale {

/// K of the instructions that together take a line, one after the other: those
/// of `instruction`, and the K that other chips have, for what is left. Just
/// that of `instruction` where it divides a line.
std::vector<unsigned> getKPattern(const Instruction &instruction);

/// The K of instructions that have such a pattern; schedules ask for it.
unsigned getWideK();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_KPATTERN_H
