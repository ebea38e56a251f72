//===- GpuCompilation.h - Compile for a GPU ------------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a module to PTX, how to launch it, and what is to be said about it, in
// one call: what the programs here do, for compilers that have a module of
// their own.
//
//   DialectRegistry registry;
//   registerPipelineDialects(registry);
//   MLIRContext context(registry);
//   OwningOpRef<ModuleOp> module = ...;
//
//   GpuCompileOptions options;
//   options.target = lookupChip("sm_120a");
//   FailureOr<GpuCode> code = compileForGpu(*module, options);
//   if (failed(code))
//     return failure(); // A handler of the context got the errors.
//   use(code->text, serializeLaunchInfo(*code->launchInfo));
//
// Nothing is printed. Errors and remarks are diagnostics of the module's
// context; those that are about options and not about a place have an
// UnknownLoc. docs/FromCpp.md has a whole program.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_GPUCOMPILATION_H
#define BLOCKSCALE_DRIVER_GPUCOMPILATION_H

#include "blockscale/Runtime/LaunchInfo.h"
#include "blockscale/Support/Chips.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::blockscale {

/// How far a module is lowered.
enum class GpuStage { Tile, Kernel, Instruction, NVVM, LLVM, PTX, Cubin };

/// What is done with contractions of decoded operands (`blockscale-raise`).
enum class Raising {
  /// They stay as they are, in silence.
  None,
  /// They stay as they are, with a remark that names the pass.
  Report,
  /// They become `mma_scaled`; a remark says why one does not.
  Raise,
  /// The same, and f8E4M3FN scales are taken to be positive.
  RaisePositiveScales,
};

struct GpuCompileOptions {
  /// The chip that instructions are chosen for, of `getChips()`; no CPU. Must
  /// not be null.
  const Chip *target = nullptr;
  /// The chip that emulates the target's instructions; null for none.
  const Chip *emulateOn = nullptr;
  /// Ten times the PTX version, 87 for 8.7; 0 for the lowest that works.
  unsigned ptxVersion = 0;
  /// An op that no block-scaled instruction computes is an error.
  bool nativeOnly = false;
  /// A function that needs memory beside its arguments and results is an error;
  /// paths that need some are not taken.
  bool noWorkspace = false;
  /// Prints schedules, the bounds of units and estimates on standard error.
  bool explain = false;
  /// Of all kernels, see isScheduleText; empty to choose.
  std::string schedule = {};
  Raising raising = Raising::Report;
  GpuStage stage = GpuStage::PTX;
  /// Levels, up to `NVVM`, after which the module is printed on standard error.
  std::vector<GpuStage> printAfter = {};

  /// The chip that runs the code.
  const Chip &getFinalChip() const { return emulateOn ? *emulateOn : *target; }
};

/// Something that the compiler did and that a user may want to know, such as
/// why an op is not computed by an instruction. One line, without a full stop.
struct GpuRemark {
  Location location;
  std::string message;
};

struct GpuCode {
  /// The text of the stage, or the bytes of a cubin. PTX ends in a newline.
  std::string text;
  /// How to launch the one public function, from the stage `Kernel` on; nullopt
  /// if there is none or there are several.
  std::optional<LaunchInfo> launchInfo;
  /// In the order in which they were emitted.
  std::vector<GpuRemark> remarks;
};

/// Compiles `module`, which holds functions on tensors and `gpu.module`s, or is
/// at a level that was printed, down to `options.stage`. The module is lowered
/// in place and holds the last level of MLIR afterwards: clone it to keep it.
/// Dialects and interface models that the passes need are added to its context.
/// Fails after an error has been emitted. One call at a time in a process:
/// LLVM's handler of fatal errors, which become errors here, is one for all
/// threads.
FailureOr<GpuCode> compileForGpu(ModuleOp module,
                                 const GpuCompileOptions &options);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_GPUCOMPILATION_H
