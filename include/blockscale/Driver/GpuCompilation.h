//===- GpuCompilation.h - Compile for a GPU ------------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a module to PTX, launch info and remarks, in one call: the compilation
// of the programs here, for compilers that have a module of their own.
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
// context; those about options have an UnknownLoc. docs/FromCpp.md has a whole
// program.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_GPUCOMPILATION_H
#define BLOCKSCALE_DRIVER_GPUCOMPILATION_H

#include "blockscale/Runtime/LaunchInfo.h"
#include "blockscale/Support/Accumulation.h"
#include "blockscale/Support/Chips.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::blockscale {

/// How far a module is lowered.
enum class GpuStage { Tile, Kernel, Instruction, NVVM, LLVM, PTX, Cubin };

/// How to handle contractions of dequantized operands (`blockscale-raise`).
enum class Raising {
  /// They do not change, without a remark.
  None,
  /// They do not change, with a remark that names the pass.
  Report,
  /// They become `mma_scaled`; a remark says why one does not.
  Raise,
  /// The same, and f8E4M3FN scales are assumed to be positive.
  RaisePositiveScales,
};

struct GpuCompileOptions {
  /// The chip that instructions are chosen for, a GPU of `getChips()`. Must not
  /// be null.
  const Chip *target = nullptr;
  /// The chip that emulates the target's instructions; null for none.
  const Chip *emulateOn = nullptr;
  /// Ten times the PTX version, 87 for 8.7; 0 for the lowest that works.
  unsigned ptxVersion = 0;
  /// An op that no block-scaled instruction computes is an error.
  bool nativeOnly = false;
  /// The licence of products that have none (docs/Numerics.md).
  Accumulation accumulation = {};
  /// A function that needs memory other than its arguments and results is an
  /// error; paths that need such memory are not chosen.
  bool noWorkspace = false;
  /// Prints schedules, the bounds of units and estimates on standard error.
  bool explain = false;
  /// The schedule of all kernels, see isScheduleText; empty to choose.
  std::string schedule = {};
  Raising raising = Raising::Report;
  GpuStage stage = GpuStage::PTX;
  /// Levels, up to `NVVM`, after which the module is printed on standard error.
  std::vector<GpuStage> printAfter = {};

  /// The chip that runs the code.
  const Chip &getFinalChip() const { return emulateOn ? *emulateOn : *target; }
};

/// A decision of the compiler that a user may want to know, such as why no
/// instruction computes an op. One line, without a full stop.
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

/// Compiles `module`, which has functions on tensors and `gpu.module`s, or is
/// at a printed level, down to `options.stage`. The module is lowered in place
/// and has the last level of MLIR afterwards; clone it to keep the original.
/// Dialects and interface models that the passes need are added to its context.
/// Emits an error on failure. Only one call at a time in a process: LLVM's
/// handler of fatal errors, which become errors here, is shared by all threads.
FailureOr<GpuCode> compileForGpu(ModuleOp module,
                                 const GpuCompileOptions &options);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_GPUCOMPILATION_H
