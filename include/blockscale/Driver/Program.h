//===- Program.h - A module and its entry function --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_PROGRAM_H
#define BLOCKSCALE_DRIVER_PROGRAM_H

#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Runtime/Error.h"
#include "blockscale/Support/Accumulation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>
#include <optional>

namespace mlir {
class SourceMgrDiagnosticHandler;
} // namespace mlir

namespace mlir::blockscale {

/// A parsed source file. Diagnostics of the parser and of passes are printed to
/// standard error, or to a stream that lives longer, with their source lines.
class Program {
public:
  /// Reads and parses the file at `path` ("-" is standard input). Null if that
  /// fails, after the errors have been printed.
  static std::unique_ptr<Program> parse(StringRef path);
  ~Program();

  /// Parses the program again, and raises it if it was raised, with the same
  /// licence. Diagnostics are printed to `diagnostics`.
  std::unique_ptr<Program> parseAgain(llvm::raw_ostream &diagnostics) const;

  ModuleOp getModule() { return *module; }

  /// The function `name`; with an empty name, the only public function. An
  /// error if there is no such function, `isAmbiguous` if there is more than
  /// one public function to choose from.
  Result<func::FuncOp> getEntry(StringRef name, bool &isAmbiguous);

  /// Drops schedules of the transform dialect, which describe rewrites and do
  /// not compute anything.
  void dropSchedules();

  /// Makes `entry` the only public function and drops what it does not use.
  LogicalResult keepOnly(func::FuncOp entry);

  /// Raises contractions of dequantized operands to `mma_scaled`.
  LogicalResult raise(bool assumePositiveScales);

  /// Gives products that have no licence this one. To be called after `raise`,
  /// so that what that makes gets it, too.
  LogicalResult license(const Accumulation &permitted);

  /// Runs the passes that `build` adds. Every failure emits an error.
  LogicalResult run(function_ref<void(OpPassManager &)> build);

private:
  explicit Program(llvm::raw_ostream &diagnostics);
  static std::unique_ptr<Program>
  parse(std::unique_ptr<llvm::MemoryBuffer> buffer,
        llvm::raw_ostream &diagnostics);

  std::unique_ptr<MLIRContext> context;
  llvm::SourceMgr sourceMgr;
  std::unique_ptr<SourceMgrDiagnosticHandler> diagnosticHandler;
  OwningOpRef<ModuleOp> module;
  /// The options with which the module was raised, if it was.
  std::optional<RaisePassOptions> raiseOptions;
  Accumulation licence;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_PROGRAM_H
