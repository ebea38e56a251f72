//===- VerifyKernels.cpp - All products have kernels ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The check behind the walk.
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/VerifyKernels.h"

#include "Kernels/FormKernels/KernelAttributes.h"
#include "Kernels/Gemm/Paths/GemmPath.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::blockscale;

LogicalResult blockscale::verifyAllFormed(ModuleOp module) {
  WalkResult left = module.walk([](ProductOpInterface op) -> WalkResult {
    auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
    bool isLoops = !path && !isa<MmaScaledOp>(op);
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
