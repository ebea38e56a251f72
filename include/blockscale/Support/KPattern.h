//===- KPattern.h - Instructions along a swizzle row ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions whose K does not divide a swizzle row of shared memory are
// combined with others.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_KPATTERN_H
#define BLOCKSCALE_SUPPORT_KPATTERN_H

#include "blockscale/Support/InstructionTable.h"

namespace mlir::blockscale {

/// The sequence of K of the instructions that multiply one swizzle row: that of
/// `instruction`, and for the rest, the K that other chips have. If K of
/// `instruction` divides the row, there is only that.
std::vector<unsigned> getKPattern(const Instruction &instruction);

/// The K of instructions with such a pattern, as in schedules.
unsigned getWideK();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_KPATTERN_H
