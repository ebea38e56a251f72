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

/// What is known of the one public function of a program, which is launches
/// then.
struct Signature {
  std::string name;
  FunctionType type;
  /// As a launch info has them.
  std::string schedules;
};

/// Writes into the function of `signature`, which is at the kernel level, what
/// it was.
void attachSignature(ModuleOp module, const Signature &signature);

/// Reads that from the only public function of a module at the kernel level or
/// a later one; nullopt where there is not one. Fails after an error.
FailureOr<std::optional<Signature>> readSignature(ModuleOp module);

/// The level of a module that was printed; nullopt for a program. Holds the
/// options against it, and takes from it what they leave open. Fails after an
/// error.
FailureOr<std::optional<GpuStage>> readLevel(ModuleOp module,
                                             GpuCompileOptions &options);

/// The PTX version of the targets of kernels; 0 where there is none.
unsigned getAttachedPtx(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DRIVER_PRINTEDLEVELS_H
