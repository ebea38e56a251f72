//===- ProgramOps.h - Errors in the program's words ----------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes replace ops, and what replaces them keeps their places. An error about
// a replacement names what stands at that place in the program.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_PROGRAMOPS_H
#define BLOCKSCALE_DRIVER_PROGRAMOPS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::blockscale {

/// As long as it lives, errors name ops of the module that it was made of.
class ProgramOps {
public:
  explicit ProgramOps(ModuleOp module);

private:
  /// The name of the op at `location`; empty if there was none.
  StringRef lookup(Location location) const;
  /// Emits `diagnostic` in the program's words if it has others.
  LogicalResult translate(Diagnostic &diagnostic);

  MLIRContext *context;
  llvm::DenseMap<Location, StringRef> names;
  llvm::StringSet<> known;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_PROGRAMOPS_H
