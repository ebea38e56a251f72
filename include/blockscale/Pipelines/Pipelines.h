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
#include "mlir/Pass/PassOptions.h"

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

/// Options of the pipelines for GPUs.
struct GpuPipelineOptions : PassPipelineOptions<GpuPipelineOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("The chip, as blockscale-compile names it")};
  Option<std::string> emulateOn{
      *this, "emulate-on",
      llvm::cl::desc("Replace the target's block-scaled instructions by "
                     "software, for this chip")};
  Option<unsigned> ptxVersion{
      *this, "ptx-version",
      llvm::cl::desc("PTX version, 87 for 8.7; the lowest if not given")};
  Option<bool> nativeOnly{
      *this, "native-only",
      llvm::cl::desc("Refuse an op that no block-scaled instruction computes")};
  Option<bool> noWorkspace{
      *this, "no-workspace",
      llvm::cl::desc("Take no path whose kernels need memory beside arguments "
                     "and results")};
  Option<bool> explain{
      *this, "explain",
      llvm::cl::desc("Print schedules, the bounds of units and estimates")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("The schedule of all mma_scaled on tensors, "
                     "tile=MxNxK,warps=MxN,stages=S[,split_k=N]")};
};

/// The levels of the lowering for GPUs, each from the one before. The module
/// holds functions on tensors, `gpu.module`s with kernels, or both.
///
/// Tile: each `mma_scaled` has a path that the target takes.
void buildGpuTilePipeline(OpPassManager &pm, const GpuPipelineOptions &options);
/// Its last part, which keeps what has been selected, and checks it.
void buildGpuSelectionPipeline(OpPassManager &pm,
                               const GpuPipelineOptions &options);
/// Kernel: functions hold launches, arguments and results are buffers.
void buildGpuKernelPipeline(OpPassManager &pm,
                            const GpuPipelineOptions &options);
/// Instruction: kernels hold what one lane does.
void buildGpuInstructionPipeline(OpPassManager &pm,
                                 const GpuPipelineOptions &options);
/// NVVM: kernels are in the LLVM and NVVM dialects.
void buildGpuNVVMPipeline(OpPassManager &pm, const GpuPipelineOptions &options);

/// All four: `blockscale-to-nvvm`.
void buildGpuPipeline(OpPassManager &pm, const GpuPipelineOptions &options);

/// Registers `blockscale-to-cpu` and `blockscale-to-nvvm`.
void registerPipelines();

/// Adds to `registry` the dialects that the pipelines make and the external
/// interface implementations that they use (bufferization, run-time
/// verification, value bounds).
void registerPipelineDialects(DialectRegistry &registry);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_PIPELINES_PIPELINES_H
