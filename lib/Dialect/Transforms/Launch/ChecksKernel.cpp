//===- ChecksKernel.cpp - A kernel for checks alone -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check that fails is a call. If a kernel has a call anywhere, ptxas 13.0
// makes each wgmma wait for the previous one (C7510). Therefore the checks of
// such a kernel are in a separate kernel in front of it.
//
//===----------------------------------------------------------------------===//

#include "Launch/ChecksKernel.h"

#include "Launch/KernelPurpose.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::blockscale;

bool blockscale::isSlowedByCalls(gpu::GPUFuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<WarpgroupMmaOp, WarpgroupMmaMixedOp, WarpgroupMmaGemvOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

gpu::LaunchFuncOp blockscale::createChecksLaunch(gpu::LaunchFuncOp first,
                                                 gpu::GPUModuleOp kernels) {
  Location loc = first.getLoc();
  auto function = first->getParentOfType<func::FuncOp>();
  OpBuilder b = OpBuilder::atBlockEnd(kernels.getBody());
  auto kernel = gpu::GPUFuncOp::create(
      b, loc, (function.getSymName() + "__" + kChecksPurpose).str(),
      b.getFunctionType({}, {}));
  SymbolTable(kernels).insert(kernel); // Renames it if needed.
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel->setAttr(kPurposeAttrName, b.getStringAttr(kChecksPurpose));
  kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({1, 1, 1}));
  b.setInsertionPointToEnd(&kernel.getBody().front());
  gpu::ReturnOp::create(b, loc);

  b.setInsertionPoint(first);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  gpu::KernelDim3 single = {one, one, one};
  return gpu::LaunchFuncOp::create(b, loc, kernel, single, single,
                                   /*dynamicSharedMemorySize=*/Value(),
                                   /*kernelOperands=*/ValueRange());
}
