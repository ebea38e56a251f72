//===- PrintedLevels.h - Levels as text, and back ------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_PRINTEDLEVELS_H
#define BLOCKSCALE_LIB_DRIVER_PRINTEDLEVELS_H

#include "blockscale/Driver/GpuCompilation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::blockscale {

/// The names of the stages that are MLIR: tile kernel instr nvvm.
StringRef getLevelName(GpuStage stage);

/// The signature of the one public function of a program, which has only
/// launches at later levels.
struct Signature {
  std::string name;
  FunctionType type;
  /// In the form of a launch info.
  std::string schedules;
};

/// The only public function with a body; null if there is none or several.
func::FuncOp findOnlyFunction(ModuleOp module);

/// An error about options, without a location in the module.
InFlightDiagnostic emitOptionError(ModuleOp module);

/// Writes the signature into its function, which is at the kernel level.
void attachSignature(ModuleOp module, const Signature &signature);

/// Reads the signature from the only public function of a module at the kernel
/// level or a later one; nullopt if there is no such function. Fails after an
/// error.
FailureOr<std::optional<Signature>> readSignature(ModuleOp module);

/// The level of a printed module; nullopt for a program. Checks the options
/// against it, and sets those that were not given. Fails after an error.
FailureOr<std::optional<GpuStage>> readLevel(ModuleOp module,
                                             GpuCompileOptions &options);

/// The PTX version of the targets of kernels; 0 if there is none.
unsigned getAttachedPtx(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DRIVER_PRINTEDLEVELS_H
