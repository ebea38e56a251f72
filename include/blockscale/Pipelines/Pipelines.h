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

/// From the tile level to loops of upstream dialects on memory, in which narrow
/// floats are bytes.
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
      llvm::cl::desc("Emulate the target's block-scaled instructions in "
                     "software on this chip")};
  Option<unsigned> ptxVersion{
      *this, "ptx-version",
      llvm::cl::desc("PTX version, 87 for 8.7; the lowest if not given")};
  Option<bool> nativeOnly{
      *this, "native-only",
      llvm::cl::desc("Refuse an op that no block-scaled instruction computes")};
  Option<int64_t> accumulate{
      *this, "accumulate",
      llvm::cl::desc("Give products without the attribute accumulate one with "
                     "this chunk, 32, 64 or 128")};
  Option<bool> rebase{
      *this, "rebase",
      llvm::cl::desc("Whether that attribute permits rebasing, too")};
  Option<bool> noWorkspace{
      *this, "no-workspace",
      llvm::cl::desc("Choose no path whose kernels need memory other than "
                     "arguments and results")};
  Option<bool> explain{
      *this, "explain",
      llvm::cl::desc("Print schedules, the bounds of units and estimates")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("The schedule of all mma_scaled on tensors, "
                     "tile=MxNxK,warps=MxN,stages=S[,split_k=N]")};
};

/// One pipeline for each level of the lowering for GPUs, which starts from the
/// level before. The module holds functions on tensors, `gpu.module`s with
/// kernels, or both.
///
/// Tile: each `mma_scaled` has a path that the target supports.
void buildGpuTilePipeline(OpPassManager &pm, const GpuPipelineOptions &options);
/// The last part of it, which keeps paths and schedules that are selected
/// already, and checks them.
void buildGpuSelectionPipeline(OpPassManager &pm,
                               const GpuPipelineOptions &options);
/// Kernel: functions have launches only; arguments and results are buffers.
void buildGpuKernelPipeline(OpPassManager &pm,
                            const GpuPipelineOptions &options);
/// Instruction: kernels are code of a single lane.
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
