//===- SkipConditions.cpp - Kernels that may have nothing to do -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All threads of a block read the flags together, each a share of them.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/TileScheduler/SkipConditions.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

Value blockscale::emitIsNeeded(OpBuilder &b, gpu::GPUFuncOp kernel,
                               const KernelProblem &problem, Value thread,
                               int64_t numThreads) {
  Location loc = kernel.getLoc();
  Value zero = makeIndex(b, loc, 0);
  Value threads = makeIndex(b, loc, numThreads);
  Value any = makeWord(b, loc, 0);
  for (unsigned argument : problem.skipConditions) {
    Value flags = kernel.getArgument(argument);
    Value count = memref::DimOp::create(b, loc, flags, zero);
    auto loop = scf::ForOp::create(b, loc, thread, count, threads, any);
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    Value word =
        memref::LoadOp::create(inner, loc, flags, loop.getInductionVar());
    Value both =
        arith::OrIOp::create(inner, loc, loop.getRegionIterArg(0), word);
    scf::YieldOp::create(inner, loc, both);
    any = loop.getResult(0);
  }
  auto reduction = NVVM::BarrierReductionAttr::get(b.getContext(),
                                                   NVVM::BarrierReduction::OR);
  any = NVVM::BarrierOp::create(b, loc, TypeRange(b.getI32Type()), Value(),
                                Value(), reduction, any)
            .getResult(0);
  Value none = makeWord(b, loc, 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, any, none);
}
