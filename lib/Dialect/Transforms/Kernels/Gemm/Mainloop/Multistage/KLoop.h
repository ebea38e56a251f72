//===- KLoop.h - The multistage loop along K --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The software pipeline of a multistage mainloop (cp.async): stages are filled
// several steps ahead of the one that is multiplied. Callbacks fill, wait and
// multiply.
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

  /// Emits the loop over `steps` steps (at least one) with its prologue, which
  /// fills the first stages; returns `acc` plus all products.
  Value emit(OpBuilder &b, Value steps, Value acc);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_KLOOP_H
