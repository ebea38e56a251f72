//===- OverlapKernels.cpp - Kernels that start early ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programmatic dependent launch. Between two kernels a card is idle for some
// microseconds, unless the second one may start before the first has ended (PTX
// ISA, "griddepcontrol"). Here it starts when each block of the first one has
// ended. If launch_dependents starts it earlier, its blocks occupy SMs that
// blocks of the first one still need. (Eight matmuls of 1024 x 1024 x 256 on an
// H200 take 51 us; 64 us with the earlier start, and 61 us without dependent
// launch.) The kernel in front of the function is not known here, so the first
// kernel waits for it before it starts others early.
//
// Of alternatives that exclude each other, each is as if the others were not
// there. A kernel in front of which all others may be left out is not known to
// be the first: it waits like a later one, and its arguments are like those of
// the first.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Launch/ConditionalLaunch.h"
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

/// Makes `kernel` wait for the previous one: at its existing wait, else at its
/// start.
static void setWait(gpu::GPUFuncOp kernel) {
  if (findGridOps(kernel, NVVM::GridDepActionKind::wait).empty())
    waitAtStart(kernel);
}

/// The first kernel of a function waits only if it starts the next one early,
/// and waits before it does so. Then kernels in front of the function have
/// ended for all of its kernels. Returns whether it waits.
static bool setFirstWait(gpu::GPUFuncOp kernel) {
  for (NVVM::GriddepcontrolOp wait :
       findGridOps(kernel, NVVM::GridDepActionKind::wait))
    wait.erase();
  if (findGridOps(kernel, NVVM::GridDepActionKind::launch_dependents).empty())
    return false;
  waitAtStart(kernel);
  return true;
}

/// The memory that an operand refers to.
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
    // The launches so far that may be left out, and the memory of all others.
    SmallVector<gpu::LaunchFuncOp> conditional;
    llvm::DenseSet<Value> seen;
    bool isFirst = true;
    for (auto launch : function.getOps<gpu::LaunchFuncOp>()) {
      overlap(launch, isFirst, conditional, seen, symbols);
      if (!getConditionalGrid(launch).conditions.empty()) {
        conditional.push_back(launch);
        continue;
      }
      isFirst = false;
      addMemory(launch, seen);
    }
  }

  /// `isFirst` says that all launches in front are `conditional`; `seen` is the
  /// memory of the others.
  static void overlap(gpu::LaunchFuncOp launch, bool isFirst,
                      ArrayRef<gpu::LaunchFuncOp> conditional,
                      const llvm::DenseSet<Value> &seen,
                      SymbolTableCollection &symbols) {
    auto kernel = symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(
        launch, launch.getKernelAttr());
    if (!kernel)
      return;
    llvm::DenseSet<Value> shared;
    bool hasOthers = !isFirst, mayBeFirst = isFirst;
    for (gpu::LaunchFuncOp other : conditional) {
      if (excludeEachOther(other, launch))
        continue;
      addMemory(other, shared);
      hasOthers = true;
      mayBeFirst &= !runsWheneverOther(other, launch);
    }
    bool isEarly = true;
    if (hasOthers)
      setWait(kernel);
    else
      isEarly = setFirstWait(kernel);
    // Kernels in front of the function may write memory of its arguments until
    // its wait.
    if (isEarly && mayBeFirst)
      addMemory(launch, shared);
    if (isEarly)
      launch->setAttr(kProgrammaticAttrName,
                      UnitAttr::get(kernel->getContext()));
    for (auto [i, operand] : llvm::enumerate(launch.getKernelOperands())) {
      Value memory = getMemory(operand);
      if (seen.contains(memory) || shared.contains(memory))
        removeNoAlias(kernel, i);
    }
  }

  static void addMemory(gpu::LaunchFuncOp launch,
                        llvm::DenseSet<Value> &memory) {
    for (Value operand : launch.getKernelOperands())
      memory.insert(getMemory(operand));
  }

  /// Removes `noalias` from a parameter for memory that an earlier kernel may
  /// still write. It would promise that the memory does not change from the
  /// start of `kernel` to its end, and LLVM would load it with non-coherent
  /// loads.
  static void removeNoAlias(gpu::GPUFuncOp kernel, unsigned param) {
    kernel.removeArgAttr(param, LLVM::LLVMDialect::getNoAliasAttrName());
  }
};

} // namespace
