//===- GpuFunction.h - A function as a device takes it ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of compileAndRun, for callers that run several variants of a
// function. All errors are diagnostics of the context.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_GPUFUNCTION_H
#define BLOCKSCALE_LIB_DRIVER_GPUFUNCTION_H

#include "GpuBuffers.h"
#include "blockscale/Driver/GpuRun.h"

namespace mlir::blockscale {

/// Everything that all variants share.
struct GpuFunction {
  GpuSignature signature;
  /// The locations of the arguments in the program.
  SmallVector<Location> locations;
  std::vector<std::string> files;
  GpuCompileOptions compile;
};

/// Removes everything but `entry` and what it uses from `program`.
FailureOr<GpuFunction> prepareForGpu(Program &program, func::FuncOp entry,
                                     const GpuRunOptions &options,
                                     GpuDevice &device);

/// Lowers `module`, a prepared program, in place.
FailureOr<GpuCode> compileFunction(ModuleOp module,
                                   const GpuFunction &function);

/// Launches `code` of `module` and returns the results.
FailureOr<std::vector<NpyArray>>
runFunction(ModuleOp module, const GpuCode &code, const GpuFunction &function,
            std::vector<NpyArray> arguments, GpuDevice &device);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DRIVER_GPUFUNCTION_H
