//===- CpuPipeline.cpp - Execution on the CPU -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of the passes:
//
//   1. Checks of dynamic sizes come first, while the ops that they belong to
//   still
//      exist. (A softmax has no checks itself; the ops that it becomes have.)
//      Folds come before decomposition, which would hide pairs of swizzles.
//   2. Casts of narrow floats are expanded before any constant folding, and
//   those
//      that decomposition creates are expanded after it.
//   3. Named linalg ops become generic before their elements become bytes,
//   because
//      a named op on bytes would be integer arithmetic.
//   4. Narrow floats become bytes before bufferization, and after elementwise
//      arithmetic on whole tensors has become loops over elements.
//   5. There is no CSE between decomposition and bufferization: it would merge
//   the
//      empty tensors that are destinations of different ops, and the analysis
//      of one large alias set takes cubic time.
//   6. bf16 arithmetic is computed in f32, with our own truncations, because
//   those
//      of machines flush subnormals or call a library.
//   7. Loops are not unrolled into vectors, so that code does not grow with the
//      tile.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pipelines/Pipelines.h"

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::blockscale;

void blockscale::buildTilePipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createDecomposeSoftmaxPass());
  pm.addPass(createExpandCastsPass());
  pm.addPass(createGenerateRuntimeVerificationPass());
  pm.addNestedPass<func::FuncOp>(createCheckReshapesPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void blockscale::buildCpuLoopsPipeline(OpPassManager &pm) {
  pm.addPass(createDecomposePass());
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(createExpandCastsPass());
  pm.addPass(createNarrowFloatsToBytesPass());
  pm.addPass(createConvertTensorToLinalgPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createSplatsToFillsPass());

  pm.addNestedPass<func::FuncOp>(createProtectArgumentsPass());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createCanonicalizerPass());
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addPass(createStridedCopiesToLoopsPass());

  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void blockscale::buildCpuLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createExpandsToCastsPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  arith::ArithEmulateUnsupportedFloatsOptions bf16;
  bf16.sourceTypeStrs.push_back("bf16");
  pm.addPass(arith::createArithEmulateUnsupportedFloats(bf16));
  pm.addPass(math::createMathExtendToSupportedTypes());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createCallMathLibraryPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createStoreBitsPass());
}

void blockscale::buildCpuPipeline(OpPassManager &pm) {
  buildTilePipeline(pm);
  buildCpuLoopsPipeline(pm);
  buildCpuLLVMPipeline(pm);
}
