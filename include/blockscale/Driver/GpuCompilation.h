//===- GpuCompilation.h - Compile for a GPU ------------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_GPUCOMPILATION_H
#define BLOCKSCALE_DRIVER_GPUCOMPILATION_H

#include "blockscale/Driver/Program.h"
#include "blockscale/Runtime/LaunchInfo.h"
#include "blockscale/Support/Chips.h"

#include <optional>

namespace mlir::blockscale {

/// How far a program is lowered.
enum class GpuStage { Tile, Kernel, Instruction, NVVM, LLVM, PTX, Cubin };

struct GpuCompileOptions {
  const Chip *target = nullptr;
  /// The chip that emulates the target's instructions; null for none.
  const Chip *emulateOn = nullptr;
  /// 0 for the lowest that works.
  unsigned ptxVersion = 0;
  bool nativeOnly = false;
  /// Of all kernels, see isScheduleText; empty to choose.
  std::string schedule;

  /// The chip that runs the code.
  const Chip &getFinalChip() const { return emulateOn ? *emulateOn : *target; }
};

struct GpuCode {
  /// The text of the stage, or the bytes of a cubin.
  std::string text;
  /// How to launch the one public function, from the stage `Kernel` on; nullopt
  /// if there is none or there are several.
  std::optional<LaunchInfo> launchInfo;
};

/// Compiles `program`, which is consumed, down to `stage`. Fails after an error
/// has been printed.
FailureOr<GpuCode> compileForGpu(Program &program, GpuStage stage,
                                 const GpuCompileOptions &options);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_GPUCOMPILATION_H
