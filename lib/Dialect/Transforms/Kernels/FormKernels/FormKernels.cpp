//===- FormKernels.cpp - From tensors to launches -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass that makes kernels for the ops of the tile level: prepare, walk,
// verify.
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/KernelAttributes.h"
#include "Kernels/FormKernels/Steps.h"
#include "Kernels/Gemm/Paths/GemmPath.h"
#include "Selection/CoarseScales.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

/// Checks that no product is left in functions of `module` that should have a
/// kernel. Reports an error about the first one, unless the walk has reported
/// one.
static LogicalResult verifyAllFormed(ModuleOp module) {
  WalkResult left = module.walk([](ProductOpInterface op) -> WalkResult {
    auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
    bool isLoops = !path && !isa<MmaScaledOp>(op) && !op.getRowGroups();
    if (isLoops || op->getParentOfType<gpu::GPUModuleOp>())
      return WalkResult::advance();
    if (!op.hasTensorSemantics())
      return op->emitOpError("not supported in this version: vectors outside "
                             "of a gpu.func on a GPU target");
    if (!path)
      return op->emitOpError("expected the attribute '")
             << kPathAttrName << "' of blockscale-select-path";
    if (!getGemmPath(path.getValue()))
      return op->emitOpError("not supported in this version: ")
             << StringRef(getPathInfo(path.getValue()).name) << " lowering";
    if (auto missing = findMissingAttribute(op, path.getValue()))
      return op->emitOpError("expected the attribute '")
             << missing->name << "' of " << missing->pass;
    return WalkResult::interrupt();
  });
  return failure(left.wasInterrupted());
}

namespace {
struct FormKernelsPass final
    : mlir::blockscale::impl::FormKernelsPassBase<FormKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(refuseCoarseScales(module)) || failed(checkSizes(module)))
      return signalPassFailure();
    packQuantizedElements(module);
    bool isFormed = succeeded(formKernels(module));
    // Any op that is left has a form without a kernel.
    bool isComplete = succeeded(verifyAllFormed(module));
    if (!isFormed || !isComplete || failed(foldSizes(module)))
      signalPassFailure();
  }
};
} // namespace
