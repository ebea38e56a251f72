//===- KLoop.h - The loop along K -------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stages are filled ahead of those that are multiplied. What fills, what waits
// and what multiplies is told from outside.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_KLOOP_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_KLOOP_H

#include "Kernels/Gemm/Mainloop/Multistage/StageSync.h"
#include "Kernels/Gemm/Mainloop/Multistage/Stages.h"

namespace mlir::blockscale {

struct KLoop {
  Location loc;
  const Stages &stages;
  StageSync &sync;
  /// Starts to fill the stage at byte `offset` with step number `step`.
  function_ref<void(OpBuilder &, Value offset, Value step)> fill;
  /// Adds the product of the stage at byte `offset` to `acc`.
  function_ref<Value(OpBuilder &, Value offset, Value acc)> multiply;

  /// Emits the loop over `steps` steps, of which there is at least one, with
  /// what is filled before it; gives the sum of `acc` and all products.
  Value emit(OpBuilder &b, Value steps, Value acc);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_KLOOP_H
