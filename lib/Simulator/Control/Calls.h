//===- Calls.h - Calls of functions -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_CONTROL_CALLS_H
#define BLOCKSCALE_LIB_SIMULATOR_CONTROL_CALLS_H

#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

/// `call`, of a function by its name or through a register.
void translateCall(Translator &t, Modifiers &modifiers);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_CONTROL_CALLS_H
