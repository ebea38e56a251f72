//===- LevelPrinting.h - Levels of the lowering as text ------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_LEVELPRINTING_H
#define BLOCKSCALE_DRIVER_LEVELPRINTING_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir::blockscale {

/// The text of `module`, which has been lowered to `level`. The text can be
/// parsed again. Sets an attribute of the module with the level.
std::string printLevel(ModuleOp module, StringRef level);

/// The level of a module that `printLevel` has printed; empty for a program.
/// Emits an error if the attribute is invalid.
FailureOr<StringRef> getPrintedLevel(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_LEVELPRINTING_H
