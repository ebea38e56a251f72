//===- GpuPipeline.cpp - Kernels for GPUs ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of the passes:
//
//   1. Functions are inlined and loops unrolled first, because a function
//   becomes
//      one sequence of launches. Scalar results become tensors.
//   2. Paths are chosen, and kernels formed, while ops on operands (transposes,
//      unswizzles, unpacked buffers) still exist, so that kernels can fold
//      them. The remaining ones become loops.
//   3. Narrow floats become bytes before bufferization, as on the CPU; formed
//      kernels have bytes from the start.
//   4. After bufferization, loops and copies on the host become separate
//   kernels,
//      and only launches remain.
//   5. mma_sync is converted before vectors become LLVM structures.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/BlockScaleToNVVM.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Checks the contract of a level: one walk, which is cheap.
static void addStageCheck(OpPassManager &pm, StringRef stage) {
  VerifyStagePassOptions options;
  options.stage = stage.str();
  pm.addPass(createVerifyStagePass(options));
}

static void addCleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void blockscale::buildGpuTilePipeline(OpPassManager &pm,
                                      const GpuPipelineOptions &options) {
  // Before any constant folding.
  pm.addPass(createExpandCastsPass());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  addCleanUp(pm);
  // After folding, loop bounds are constant. Unrolled ops are processed like
  // others.
  pm.addNestedPass<func::FuncOp>(createUnrollHostLoopsPass());
  pm.addPass(createScalarResultsPass());
  AttachTargetPassOptions target;
  target.target = options.target;
  target.emulateOn = options.emulateOn;
  pm.addPass(createAttachTargetPass(target));
  buildGpuSelectionPipeline(pm, options);
}

void blockscale::buildGpuSelectionPipeline(OpPassManager &pm,
                                           const GpuPipelineOptions &options) {
  SelectPathPassOptions select;
  select.nativeOnly = options.nativeOnly;
  select.noWorkspace = options.noWorkspace;
  select.accumulate = options.accumulate;
  select.rebase = options.rebase;
  pm.addPass(createSelectPathPass(select));
  pm.addPass(createLegalizePass());
  SelectSchedulePassOptions schedule;
  schedule.schedule = options.schedule;
  schedule.noWorkspace = options.noWorkspace;
  pm.addPass(createSelectSchedulePass(schedule));
  if (options.explain)
    pm.addPass(createExplainSchedulesPass());
  addStageCheck(pm, "tile");
}

void blockscale::buildGpuKernelPipeline(OpPassManager &pm,
                                        const GpuPipelineOptions &options) {
  pm.addPass(createPackBuffersPass());
  pm.addPass(createCarryPackingPass());
  DecomposeSoftmaxPassOptions softmax;
  softmax.keepRows = true;
  pm.addNestedPass<func::FuncOp>(createDecomposeSoftmaxPass(softmax));
  pm.addNestedPass<func::FuncOp>(createJoinElementwisePass());
  pm.addPass(createFormKernelsPass());
  pm.addNestedPass<func::FuncOp>(createDecomposePass());
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createCheckLoopSizesPass());
  pm.addNestedPass<func::FuncOp>(createCheckReshapesPass());
  pm.addPass(createExpandCastsPass()); // Casts from decomposition.
  pm.addPass(createNarrowFloatsToBytesPass());
  pm.addPass(createConvertTensorToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createSplatsToFillsPass());

  pm.addNestedPass<func::FuncOp>(createProtectArgumentsPass());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  // The next pass assumes that each buffer is one result.
  pm.addNestedPass<func::FuncOp>(createSeparateResultsPass());
  bufferization::BufferResultsToOutParamsPassOptions results;
  results.hoistStaticAllocs = true;
  results.hoistDynamicAllocs = true;
  results.modifyPublicFunctions = true;
  pm.addPass(bufferization::createBufferResultsToOutParamsPass(results));

  StridedCopiesToLoopsPassOptions copies;
  copies.all = true;
  pm.addNestedPass<func::FuncOp>(createStridedCopiesToLoopsPass(copies));
  pm.addNestedPass<func::FuncOp>(createWrapScalarOpsPass());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToParallelLoopsPass());
  pm.addPass(createNarrowIntegersToBytesPass());
  pm.addNestedPass<func::FuncOp>(createFlattenParallelLoopsPass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createNestChecksPass());
  pm.addNestedPass<func::FuncOp>(createConvertParallelLoopToGpuPass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addPass(createGpuKernelOutliningPass());
  pm.addPass(createCollectKernelsPass());
  pm.addPass(createOverlapKernelsPass());
  addCleanUp(pm);
  if (options.explain)
    pm.addPass(createExplainKernelsPass());
  addStageCheck(pm, "kernel");
}

void blockscale::buildGpuInstructionPipeline(
    OpPassManager &pm, const GpuPipelineOptions &options) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addNestedPass<gpu::GPUFuncOp>(createLowerAsyncPass());
  kernels.addNestedPass<gpu::GPUFuncOp>(createToFragmentsPass());
  // Kernels of users may have instructions that their chip lacks.
  pm.addPass(createEmulateMmaPass());
  // No canonicalization: scf's patterns visit the many values of a loop along K
  // repeatedly, and would find nothing to do.
  pm.addPass(createCSEPass());
  addStageCheck(pm, "instr");
}

void blockscale::buildGpuNVVMPipeline(OpPassManager &pm,
                                      const GpuPipelineOptions &options) {
  pm.addPass(createConvertBlockScaleToNVVMPass());
  // Emulation uses the descriptors that the passes before create.
  pm.addPass(createEmulateTcgen05Pass());

  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createConvertNVGPUToNVVMPass());
  kernels.addPass(createExpandMathPass());
  kernels.addPass(createLowerLeftoversPass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertKernelsToNVVMPass());
  kernels.addNestedPass<LLVM::LLVMFuncOp>(createMarkTensorMapsPass());
  kernels.addPass(createConvertNVVMToLLVMPass());
  // Further cleanup is left to LLVM.
  kernels.addPass(createReconcileUnrealizedCastsPass());

  AttachNVVMTargetPassOptions target;
  target.ptxVersion = options.ptxVersion;
  pm.addPass(createAttachNVVMTargetPass(target));
  addStageCheck(pm, "nvvm");
}

void blockscale::buildGpuPipeline(OpPassManager &pm,
                                  const GpuPipelineOptions &options) {
  buildGpuTilePipeline(pm, options);
  buildGpuKernelPipeline(pm, options);
  buildGpuInstructionPipeline(pm, options);
  buildGpuNVVMPipeline(pm, options);
}
