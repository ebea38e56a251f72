//===- ComparisonInstructions.h - Comparisons and selections ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Members of the family of comparisons that have files of their own.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_COMPARISONINSTRUCTIONS_H
#define BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_COMPARISONINSTRUCTIONS_H

#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

/// slct: Selections.cpp.
void translateSelectBySign(Translator &t, Modifiers &modifiers);

/// testp: NumberTests.cpp.
void translateTest(Translator &t, Modifiers &modifiers);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_COMPARISONINSTRUCTIONS_H
