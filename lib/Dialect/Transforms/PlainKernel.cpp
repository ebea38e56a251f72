//===- PlainKernel.cpp - One thread per result ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeAccess.h"
#include "KernelBodies.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr int64_t kThreads = 256;

KernelShape blockscale::getPlainKernelShape(const KernelProblem &problem) {
  int64_t results = problem.resultType.getNumElements();
  return {{llvm::divideCeilSigned(results, kThreads), 1, 1}, {kThreads, 1, 1}};
}

namespace {
/// Emits the body at one place, for one kernel.
class PlainKernel {
public:
  PlainKernel(gpu::GPUFuncOp kernel, const KernelProblem &problem)
      : kernel(kernel), problem(problem), loc(kernel.getLoc()),
        f64(Float64Type::get(kernel.getContext())) {}

  void build() {
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    Value index = applyMap(b, loc, AffineMap::get(2, 0, d0 * kThreads + d1),
                           {block, thread})[0];
    Value count = arith::ConstantIndexOp::create(
        b, loc, problem.resultType.getNumElements());
    Value isInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, count);
    auto guard = scf::IfOp::create(b, loc, isInside);
    gpu::ReturnOp::create(b, loc);
    OpBuilder inner = guard.getThenBodyBuilder();
    buildResult(inner, index);
  }

private:
  void buildResult(OpBuilder &b, Value index) {
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    int64_t m = problem.getM(), n = problem.getN();
    SmallVector<Value> at = applyMap(
        b, loc,
        AffineMap::get(1, 0, {d0.floorDiv(m * n), d0.floorDiv(n) % m, d0 % n},
                       b.getContext()),
        index);
    SmallVector<Value> position(at);
    if (problem.resultType.getRank() == 2)
      position.erase(position.begin());

    Value sum;
    if (problem.acc) {
      Value acc = memref::LoadOp::create(
          b, loc, kernel.getArgument(*problem.acc), position);
      sum = arith::ExtFOp::create(b, loc, f64, acc);
    } else {
      sum = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(0.0));
    }
    sum = buildBlocks(b, at[0], at[1], at[2], sum);
    Value result = arith::TruncFOp::create(b, loc, b.getF32Type(), sum);
    memref::StoreOp::create(b, loc, result, kernel.getArgument(problem.result),
                            position);
  }

  Value loadElement(OpBuilder &b, const KernelOperand &operand, Format format,
                    ValueRange indices) {
    SmallVector<Value> position = applyMap(b, loc, operand.map, indices);
    Value code = emitLoadCode(b, loc, kernel.getArgument(operand.argument),
                              operand.bits, position);
    return emitDecode(b, loc, code, format);
  }

  /// Adds the products of all blocks along K to `sum`.
  Value buildBlocks(OpBuilder &b, Value batch, Value row, Value column,
                    Value sum) {
    int64_t blockSize = problem.row.blockSize;
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value numBlocks =
        arith::ConstantIndexOp::create(b, loc, problem.xScale.columns);
    Value size = arith::ConstantIndexOp::create(b, loc, blockSize);
    auto blocks = scf::ForOp::create(b, loc, zero, numBlocks, one, sum);
    OpBuilder inBlock = OpBuilder::atBlockBegin(blocks.getBody());
    Value block = blocks.getInductionVar();
    Value xScale = loadElement(inBlock, problem.xScale, problem.row.scale,
                               {batch, row, block});
    Value yScale = loadElement(inBlock, problem.yScale, problem.row.scale,
                               {batch, column, block});
    auto elements = scf::ForOp::create(inBlock, loc, zero, size, one,
                                       blocks.getRegionIterArgs());
    scf::YieldOp::create(inBlock, loc, elements.getResults());

    OpBuilder inner = OpBuilder::atBlockBegin(elements.getBody());
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    Value k = applyMap(inner, loc, AffineMap::get(2, 0, d0 * blockSize + d1),
                       {block, elements.getInductionVar()})[0];
    Value x = loadElement(inner, problem.x, problem.row.lhs, {batch, row, k});
    Value y =
        loadElement(inner, problem.y, problem.row.rhs, {batch, column, k});
    // Each product is exact in f64: at most 16 bits of significand.
    x = arith::MulFOp::create(inner, loc, x, xScale);
    y = arith::MulFOp::create(inner, loc, y, yScale);
    Value product = arith::MulFOp::create(inner, loc, x, y);
    Value next = arith::AddFOp::create(
        inner, loc, elements.getRegionIterArgs().front(), product);
    scf::YieldOp::create(inner, loc, next);
    return blocks.getResult(0);
  }

  gpu::GPUFuncOp kernel;
  const KernelProblem &problem;
  Location loc;
  Type f64;
};
} // namespace

void blockscale::buildPlainKernel(gpu::GPUFuncOp kernel,
                                  const KernelProblem &problem) {
  PlainKernel(kernel, problem).build();
}
