//===- OverlapKernels.cpp - Kernels that start early ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two kernels a card is idle for some microseconds, unless the second
// one may start before the first has ended (PTX ISA, "griddepcontrol"). It does
// when each block of the first one has: told to start earlier, with
// launch_dependents, its blocks take room from those that still have to run
// (eight products of 1024 x 1024 x 256 on an H200: 51 us, else 64, and 61
// without any of this). What is in front of the first kernel is not known here:
// it waits before it tells anybody.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_OVERLAPKERNELSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

static SmallVector<NVVM::GriddepcontrolOp>
findGridOps(gpu::GPUFuncOp kernel, NVVM::GridDepActionKind kind) {
  SmallVector<NVVM::GriddepcontrolOp> found;
  kernel.walk([&](NVVM::GriddepcontrolOp op) {
    if (op.getKind() == kind)
      found.push_back(op);
  });
  return found;
}

static void waitAtStart(gpu::GPUFuncOp kernel) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  NVVM::GriddepcontrolOp::create(b, kernel.getLoc(),
                                 NVVM::GridDepActionKind::wait);
}

/// Makes `kernel` wait for the one in front: where it does so already, else at
/// its start.
static void setWait(gpu::GPUFuncOp kernel) {
  if (findGridOps(kernel, NVVM::GridDepActionKind::wait).empty())
    waitAtStart(kernel);
}

/// The first kernel of a function waits only if it starts the one behind early,
/// and before that: what is in front of the function has ended then for all.
/// Whether it waits.
static bool setFirstWait(gpu::GPUFuncOp kernel) {
  for (NVVM::GriddepcontrolOp wait :
       findGridOps(kernel, NVVM::GridDepActionKind::wait))
    wait.erase();
  if (findGridOps(kernel, NVVM::GridDepActionKind::launch_dependents).empty())
    return false;
  waitAtStart(kernel);
  return true;
}

/// The memory that a parameter is of.
static Value getMemory(Value operand) {
  if (auto map = operand.getDefiningOp<TensorMapOp>())
    operand = map.getSource();
  while (auto view = operand.getDefiningOp<ViewLikeOpInterface>())
    operand = view.getViewSource();
  return operand;
}

namespace {

struct OverlapKernelsPass final
    : mlir::blockscale::impl::OverlapKernelsPassBase<OverlapKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<TargetAttr> target = lookupTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (!*target || !hasDependentLaunches((*target).getFinalChip()))
      return;
    SymbolTableCollection symbols;
    for (auto function : getOperation().getOps<func::FuncOp>())
      overlap(function, symbols);
  }

private:
  static void overlap(func::FuncOp function, SymbolTableCollection &symbols) {
    auto launches = llvm::to_vector(function.getOps<gpu::LaunchFuncOp>());
    llvm::DenseSet<Value> seen;
    for (gpu::LaunchFuncOp launch : launches) {
      auto kernel = symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(
          launch, launch.getKernelAttr());
      if (!kernel)
        continue;
      bool isEarly = true;
      if (launch != launches.front())
        setWait(kernel);
      else if (isEarly = setFirstWait(kernel); isEarly)
        // What its arguments hold may be written up to there.
        for (Value operand : launch.getKernelOperands())
          seen.insert(getMemory(operand));
      if (isEarly)
        launch->setAttr(kProgrammaticAttrName,
                        UnitAttr::get(kernel->getContext()));
      markShared(launch, kernel, seen);
    }
  }

  /// What a kernel in front may still write is not the same from the start of
  /// `kernel` to its end, which `noalias` would promise: LLVM reads that with
  /// instructions for memory that does not change.
  static void markShared(gpu::LaunchFuncOp launch, gpu::GPUFuncOp kernel,
                         llvm::DenseSet<Value> &seen) {
    for (auto [i, operand] : llvm::enumerate(launch.getKernelOperands()))
      if (seen.contains(getMemory(operand)))
        kernel.removeArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName());
    for (Value operand : launch.getKernelOperands())
      seen.insert(getMemory(operand));
  }
};

} // namespace
