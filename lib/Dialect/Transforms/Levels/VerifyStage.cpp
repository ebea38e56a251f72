//===- VerifyStage.cpp - Contracts of levels ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What may be left at each level is a table; a pass that leaves more is found
// at once and not by the code generator.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_VERIFYSTAGEPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// What may be in kernels and on the host at a level.
struct Stage {
  StringRef name;
  bool (*isAllowedInKernel)(Operation *);
  bool (*isAllowedOnHost)(Operation *);
};
} // namespace

static bool isOurs(Operation *op) {
  return isa_and_nonnull<BlockScaleDialect>(op->getDialect());
}

static bool isAnything(Operation *) { return true; }

static bool isTileOp(Operation *op) {
  if (auto mma = dyn_cast<MmaScaledOp>(op))
    return mma->hasAttr(kPathAttrName);
  return !isa<TileMmaOp, AccZeroOp, AccLoadOp, AccStoreOp, AccGenerateOp,
              AccForEachOp, AccQuantizeOp, InstructionOpInterface>(op);
}

static bool isKernelOp(Operation *op) {
  if (isa<MmaScaledOp, UnswizzleScalesOp, SwizzleScalesOp>(op))
    return isa<VectorType>(op->getResult(0).getType());
  return !isa<PackOp, UnpackOp, LaunchOp>(op);
}

/// Launches, their buffers, and what numbers of blocks and sizes are computed
/// with, and are checked to be.
static bool isLaunchingOp(Operation *op) {
  if (isa<func::FuncOp, func::ReturnOp, gpu::LaunchFuncOp, memref::AllocOp,
          cf::AssertOp, ResultSizesOp, TensorMapOp, ViewLikeOpInterface>(op))
    return true;
  return isMemoryEffectFree(op) &&
         llvm::all_of(op->getResultTypes(),
                      [](Type type) { return type.isIntOrIndexOrFloat(); });
}

static bool isInstructionOp(Operation *op) {
  return !isOurs(op) || isa<InstructionOpInterface>(op);
}

static bool isLLVMOp(Operation *op) {
  return isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(
      op->getDialect());
}

static constexpr Stage stages[] = {
    {"tile", isAnything, isTileOp},
    {"kernel", isKernelOp, isLaunchingOp},
    {"instr", isInstructionOp, isLaunchingOp},
    {"nvvm", isLLVMOp, isLaunchingOp},
};

namespace {

struct VerifyStagePass final
    : mlir::blockscale::impl::VerifyStagePassBase<VerifyStagePass> {
  using Base::Base;

  void runOnOperation() override {
    const Stage *found =
        llvm::find_if(stages, [&](const Stage &s) { return s.name == stage; });
    if (found == std::end(stages)) {
      emitError(getOperation()->getLoc(), "unknown stage '")
          << stage << "', expected one of tile kernel instr nvvm";
      return signalPassFailure();
    }
    WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
      if (isa<ModuleOp, gpu::GPUModuleOp>(op))
        return WalkResult::advance();
      bool isKernel = op->getParentOfType<gpu::GPUModuleOp>() != nullptr;
      if (isKernel ? found->isAllowedInKernel(op) : found->isAllowedOnHost(op))
        return WalkResult::advance();
      return op->emitError("'") << op->getName() << "' is not allowed "
                                << (isKernel ? "in a kernel" : "on the host")
                                << " at the stage '" << stage << "'";
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
