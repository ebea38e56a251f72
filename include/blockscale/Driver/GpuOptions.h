//===- GpuOptions.h - The options of compileForGpu as a table ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of options: the name, which is that of the flag of
// blockscale-compile, the type of the value, the description, and a setter of
// the field of GpuCompileOptions from text. Compilers with options of their own
// get the same checks and messages as the programs here:
//
//   GpuCompileOptions options;
//   if (Error error = setGpuOption(options, "target", "sm_75"))
//     return fail(error.message()); // "unknown target 'sm_75', expected ..."
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_GPUOPTIONS_H
#define BLOCKSCALE_DRIVER_GPUOPTIONS_H

#include "blockscale/Driver/GpuCompilation.h"
#include "blockscale/Runtime/Error.h"
#include "mlir/Support/LLVM.h"

namespace mlir::blockscale {

enum class GpuOptionType {
  /// The name of a GPU, such as "sm_120a".
  Chip,
  /// A version of PTX, "8.7" or "87".
  PtxVersion,
  /// "true" or "false"; "" is true, as a flag without a value.
  Flag,
  /// A schedule, such as "tile=128x128x128,warps=2x2,stages=3".
  Schedule,
  /// One of `values`.
  Choice,
};

struct GpuOption {
  StringRef name;
  GpuOptionType type;
  /// The values of a choice, separated by spaces.
  StringRef values;
  /// The default.
  StringRef byDefault;
  StringRef means;
  /// Sets the field. The message says what was expected and got; `shown` is the
  /// name of the option in it, for example the flag of a program.
  Error (*set)(GpuCompileOptions &options, StringRef shown, StringRef value);
};

ArrayRef<GpuOption> getGpuOptions();

/// Sets the option of this name. An error if there is none.
Error setGpuOption(GpuCompileOptions &options, StringRef name, StringRef value);

/// Parses a version of PTX, times ten: 87 for "8.7" and "87".
Result<unsigned> readPtxVersion(StringRef text);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_GPUOPTIONS_H
