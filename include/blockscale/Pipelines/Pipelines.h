//===- Pipelines.h - Pass pipelines -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PIPELINES_PIPELINES_H
#define BLOCKSCALE_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

namespace mlir::blockscale {

/// Tile level: folds, and checks of dynamic sizes at run time.
void buildTilePipeline(OpPassManager &pm);

/// From there to loops of upstream dialects on memory, in which narrow floats
/// are bytes.
void buildCpuLoopsPipeline(OpPassManager &pm);

/// From loops to the LLVM dialect.
void buildCpuLLVMPipeline(OpPassManager &pm);

/// All three: `blockscale-to-cpu`.
void buildCpuPipeline(OpPassManager &pm);

/// Registers `blockscale-to-cpu`.
void registerPipelines();

/// Adds to `registry` the dialects that the pipelines make and the external
/// interface implementations that they use (bufferization, run-time
/// verification, value bounds).
void registerPipelineDialects(DialectRegistry &registry);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_PIPELINES_PIPELINES_H
