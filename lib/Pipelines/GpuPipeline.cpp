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
//   1. Functions are inlined and loops unrolled first: a function is one
//      sequence of launches. No scalar is left between host and kernels.
//   2. Paths are chosen while ops are whole; what feeds an operand (a
//      transpose, an unswizzle, a packed buffer) is still there to be read
//      through when kernels are formed. What is left of it becomes loops.
//   3. Narrow floats become bytes before there is memory of them, as on the
//      CPU; kernels that were formed have bytes from the start.
//   4. After bufferization, loops and copies on the host become kernels of
//      their own, and only launches remain.
//   5. mma_sync is converted before vectors become structures of LLVM.
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

/// The contract of a level: one walk, which costs next to nothing.
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
  // Before anything folds constants.
  pm.addPass(createExpandCastsPass());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  addCleanUp(pm);
  // Constants are in sight, and what is unrolled are ops like any other.
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
  pm.addPass(createExpandCastsPass()); // What decomposition has made.
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
  // The next pass takes each buffer for one result only.
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
  // Kernels of others may ask for instructions that their chip lacks.
  pm.addPass(createEmulateMmaPass());
  // Patterns of scf look at each of the many values of a loop along K in turn,
  // again and again, and there is nothing left for them to find.
  pm.addPass(createCSEPass());
  addStageCheck(pm, "instr");
}

void blockscale::buildGpuNVVMPipeline(OpPassManager &pm,
                                      const GpuPipelineOptions &options) {
  pm.addPass(createConvertBlockScaleToNVVMPass());
  // What executes the words of instructions comes behind those who make them.
  pm.addPass(createEmulateTcgen05Pass());

  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createConvertNVGPUToNVVMPass());
  kernels.addPass(createExpandMathPass());
  kernels.addPass(createLowerLeftoversPass());
  kernels.addPass(createSCFToControlFlowPass());
  ConvertGpuOpsToNVVMOpsOptions toLLVM;
  toLLVM.useBarePtrCallConv = true;
  toLLVM.allowPatternRollback = false; // Half the time.
  kernels.addPass(createConvertGpuOpsToNVVMOps(toLLVM));
  kernels.addNestedPass<LLVM::LLVMFuncOp>(createMarkTensorMapsPass());
  kernels.addPass(createConvertNVVMToLLVMPass());
  // What could be cleaned up here, LLVM does.
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
