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
// without any of this).
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

/// Makes `kernel` wait for the one in front, if it has one: where it does so
/// already, else at its start.
static void setWait(gpu::GPUFuncOp kernel, bool hasFront) {
  constexpr auto kWait = NVVM::GridDepActionKind::wait;
  SmallVector<NVVM::GriddepcontrolOp> waits;
  kernel.walk([&](NVVM::GriddepcontrolOp op) {
    if (op.getKind() == kWait)
      waits.push_back(op);
  });
  if (!hasFront)
    for (NVVM::GriddepcontrolOp wait : waits)
      wait.erase();
  if (!hasFront || !waits.empty())
    return;
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  NVVM::GriddepcontrolOp::create(b, kernel.getLoc(), kWait);
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
      setWait(kernel, /*hasFront=*/!isFirst);
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
