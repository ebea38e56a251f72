//===- CudaRun.h - Compile for a CUDA card and run --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_CUDARUN_H
#define BLOCKSCALE_DRIVER_CUDARUN_H

#include "blockscale/Driver/Program.h"
#include "blockscale/Runtime/Npy.h"
#include "blockscale/Support/Chips.h"

#include <optional>
#include <vector>

namespace mlir::blockscale {

struct CudaRunOptions {
  /// The chip to compile for; null for that of the card.
  const Chip *target = nullptr;
  /// 0 for the lowest that works.
  unsigned ptxVersion = 0;
  bool nativeOnly = false;
  /// Also measure, after the run whose results count.
  bool wantsTime = false;
};

struct CudaRun {
  std::vector<NpyArray> results;
  /// Median over some repetitions; 0 if it was not asked for.
  double milliseconds = 0;
  /// What one run computes in all `mma_scaled`, 2 * M * N * K each and for each
  /// batch; nullopt where there are none, or not known how often they are run.
  std::optional<double> flops;
};

/// The target to compile for on a card of this compute capability (90 is 9.0),
/// with all instructions that the card has.
Result<const Chip *> getChipOfCard(unsigned capability);

/// Runs `entry` of `program`, which is consumed, on the first CUDA card, with
/// `arguments` that have been checked against `getArgumentTypes`. Arguments and
/// results are as for `runOnCpu`; fp4, and fp6 where the function asks for
/// that, is packed and unpacked here. Fails after an error has been printed.
FailureOr<CudaRun> compileAndRunOnCuda(Program &program, func::FuncOp entry,
                                       std::vector<NpyArray> arguments,
                                       const CudaRunOptions &options);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_CUDARUN_H
