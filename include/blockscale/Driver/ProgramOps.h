//===- ProgramOps.h - Errors at ops of the program --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes replace ops by others with the same location. An error about a
// replacement names the op at that location in the program.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_PROGRAMOPS_H
#define BLOCKSCALE_DRIVER_PROGRAMOPS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::blockscale {

/// During its lifetime, errors name ops of the module that it was created from.
class ProgramOps {
public:
  explicit ProgramOps(ModuleOp module);

private:
  /// The name of the op at `location`; empty if there was none.
  StringRef lookup(Location location) const;
  /// Emits `diagnostic` with the op of the program, if it names another op.
  LogicalResult translate(Diagnostic &diagnostic);

  MLIRContext *context;
  llvm::DenseMap<Location, StringRef> names;
  llvm::StringSet<> known;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_PROGRAMOPS_H
