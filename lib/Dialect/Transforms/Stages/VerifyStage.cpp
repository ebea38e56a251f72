//===- VerifyStage.cpp - Contracts of levels ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds ops of a higher level that a pass has left, before the code generator
// fails at them. The level of each op (BlockScaleLevels.td) determines the
// stages at which ops of this dialect are legal; a table here does so for other
// dialects.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
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

/// Whether `op` is a launch, an op on buffers, or arithmetic and checks of
/// sizes.
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
/// The ops of other dialects that are legal on the host and in kernels at a
/// stage.
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
/// The number of stages, from the first one on, at which ops of a level are
/// legal on the host, and in kernels.
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

/// Other conditions of a stage on an op: a matmul on the host has a path, and
/// kernels have no tensors.
static bool isReady(Operation *op, bool isInKernel) {
  if (!isInKernel)
    return !isa<MmaScaledOp>(op) || op->hasAttr(kPathAttrName);
  return llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
}

/// Whether `op` is legal at its position at stage `stage`.
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
