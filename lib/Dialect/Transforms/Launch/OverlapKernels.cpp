//===- OverlapKernels.cpp - Kernels that start early ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two kernels a card is idle for some microseconds, unless the second
// one may start before the first has ended (PTX ISA, "griddepcontrol").
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

using NVVM::GridDepActionKind;

/// With `isWanted`, `kernel` does what `kind` says somewhere, else at its
/// start; without, nowhere.
static void setAction(gpu::GPUFuncOp kernel, GridDepActionKind kind,
                      bool isWanted) {
  SmallVector<NVVM::GriddepcontrolOp> found;
  kernel.walk([&](NVVM::GriddepcontrolOp op) {
    if (op.getKind() == kind)
      found.push_back(op);
  });
  if (!isWanted)
    for (NVVM::GriddepcontrolOp op : found)
      op.erase();
  if (!isWanted || !found.empty())
    return;
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  NVVM::GriddepcontrolOp::create(b, kernel.getLoc(), kind);
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
      bool isFirst = launch == launches.front();
      setAction(kernel, GridDepActionKind::launch_dependents,
                launch != launches.back());
      setAction(kernel, GridDepActionKind::wait, !isFirst);
      if (!isFirst)
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
