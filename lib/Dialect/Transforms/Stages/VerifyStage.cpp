//===- VerifyStage.cpp - Contracts of levels ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass that leaves an op of a level above is found at once, and not by the
// code generator. What a stage allows of this dialect follows from the level of
// each op (BlockScaleLevels.td); what it allows of others is a table here.
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

//===----------------------------------------------------------------------===//
// Ops of other dialects
//===----------------------------------------------------------------------===//

static bool isAnything(Operation *) { return true; }

/// Launches, their buffers, and what numbers of blocks and sizes are computed
/// with, and are checked to be.
static bool isLaunchingOp(Operation *op) {
  if (isa<func::FuncOp, func::ReturnOp, gpu::LaunchFuncOp, memref::AllocOp,
          cf::AssertOp, ViewLikeOpInterface>(op))
    return true;
  return isMemoryEffectFree(op) &&
         llvm::all_of(op->getResultTypes(),
                      [](Type type) { return type.isIntOrIndexOrFloat(); });
}

static bool isLLVMOp(Operation *op) {
  return isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(
      op->getDialect());
}

namespace {
/// What of other dialects may be on the host and in kernels at a stage.
struct Stage {
  StringLiteral name;
  bool (*isAllowedOnHost)(Operation *);
  bool (*isAllowedInKernel)(Operation *);
};
} // namespace

static constexpr Stage stages[] = {
    {"tile", isAnything, isAnything},
    {"kernel", isLaunchingOp, isAnything},
    {"instr", isLaunchingOp, isAnything},
    {"nvvm", isLaunchingOp, isLLVMOp},
};

//===----------------------------------------------------------------------===//
// Ops of this dialect
//===----------------------------------------------------------------------===//

namespace {
/// At how many stages, from the first one on, ops of a level may be on the
/// host, and in kernels.
struct Extent {
  OpLevel level;
  unsigned onHost;
  unsigned inKernels;
};
} // namespace

static constexpr Extent extents[] = {
    {OpLevel::Tile, 1, 2}, // in kernels as vectors
    {OpLevel::Host, std::size(stages), 0},
    {OpLevel::Kernel, 0, 2},
    {OpLevel::Instruction, 0, 3},
};
static_assert(std::size(extents) == getMaxEnumValForOpLevel() + 1);

/// What a stage asks of an op beside its level: what is computed on the host
/// has a path to its kernel, and kernels have no tensors.
static bool isReady(Operation *op, bool isInKernel) {
  if (!isInKernel)
    return !isa<MmaScaledOp>(op) || op->hasAttr(kPathAttrName);
  return llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
}

/// Whether `op` may be where it is at stage number `stage`.
static bool isAllowed(Operation *op, unsigned stage, bool isInKernel) {
  std::optional<OpLevel> level = getOpLevel(op->getName());
  if (!level)
    return isInKernel ? stages[stage].isAllowedInKernel(op)
                      : stages[stage].isAllowedOnHost(op);
  const Extent *extent = llvm::find_if(
      extents, [&](const Extent &row) { return row.level == *level; });
  return stage < (isInKernel ? extent->inKernels : extent->onHost) &&
         isReady(op, isInKernel);
}

namespace {

struct VerifyStagePass final
    : mlir::blockscale::impl::VerifyStagePassBase<VerifyStagePass> {
  using Base::Base;

  void runOnOperation() override {
    const Stage *found =
        llvm::find_if(stages, [&](const Stage &s) { return s.name == stage; });
    if (found == std::end(stages)) {
      InFlightDiagnostic error = emitError(getOperation()->getLoc());
      error << "unknown stage '" << stage << "', expected one of";
      for (const Stage &known : stages)
        error << ' ' << known.name;
      return signalPassFailure();
    }
    unsigned number = found - std::begin(stages);
    WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
      if (isa<ModuleOp, gpu::GPUModuleOp>(op))
        return WalkResult::advance();
      bool isInKernel = op->getParentOfType<gpu::GPUModuleOp>() != nullptr;
      if (isAllowed(op, number, isInKernel))
        return WalkResult::advance();
      return op->emitError("'") << op->getName() << "' is not allowed "
                                << (isInKernel ? "in a kernel" : "on the host")
                                << " at the stage '" << stage << "'";
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
