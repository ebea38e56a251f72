//===- VariableUses.h - What kernels do with variables ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Variables of a module start anew with each run of the simulator, so that a
// launch must not need what one before it has left there.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FAKECUDART_VARIABLEUSES_H
#define BLOCKSCALE_TEST_FAKECUDART_VARIABLEUSES_H

#include "PtxCode.h"

#include <set>

namespace capture {

/// Of a kernel and all functions that it may call.
struct VariableUses {
  /// Those that are named, in code or in the initial value of one of them.
  std::set<const PtxVariable *> reached;
  /// Those of them, in global memory, of which it is not certain that they are
  /// only read.
  std::set<const PtxVariable *> changed;
  /// Whether it calls `malloc` or `free`.
  bool hasHeap = false;
};

VariableUses findVariableUses(const PtxCode &code, std::string_view kernel);

} // namespace capture

#endif // BLOCKSCALE_TEST_FAKECUDART_VARIABLEUSES_H
