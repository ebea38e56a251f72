//===- SplitKReduction.cpp - The reduction kernel of split-K --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The second kernel of a split-K GEMM. One thread computes one element of the
// result: it adds the partial results of all split-K ranges, always in the
// order of the ranges, so that every run gives the same bits. Then the usual
// epilogue follows.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Epilogue/Epilogue.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Columns of a block, one for each thread.
static constexpr int64_t kColumns = 128;

namespace {
class SplitKReduction {
public:
  SplitKReduction(gpu::GPUFuncOp kernel, const KernelProblem &problem)
      : kernel(kernel), problem(problem), loc(kernel.getLoc()),
        partials(kernel.getArgument(0)) {}

  void build() {
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Value rows = memref::DimOp::create(b, loc, partials, 1);
    Value columns = memref::DimOp::create(b, loc, partials, 2);
    Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    AffineExpr d0 = b.getAffineDimExpr(0);
    Value inRow = applyExprs(b, loc, {d0.ceilDiv(kColumns)}, columns)[0];
    Value index = arith::DivUIOp::create(b, loc, block, inRow);
    Value first = arith::RemUIOp::create(b, loc, block, inRow);
    first = applyExprs(b, loc, {d0 * kColumns}, first)[0];
    Value row = index, matrix = makeIndex(b, loc, 0);
    if (problem.hasBatch) {
      row = arith::RemUIOp::create(b, loc, index, rows);
      matrix = arith::DivUIOp::create(b, loc, index, rows);
    }
    SmallVector<Value> position = {row, addIndices(b, loc, first, thread)};
    Value isInside = isBelow(b, loc, position[1], columns);
    OpBuilder then = scf::IfOp::create(b, loc, isInside).getThenBodyBuilder();
    Value sum = emitSum(then, matrix, position);
    if (problem.hasBatch)
      position.insert(position.begin(), matrix);
    if (problem.acc || problem.producer)
      sum = arith::AddFOp::create(
          then, loc, sum, emitInitialElement(then, kernel, problem, position));
    emitEpilogueElement(then, kernel, problem, position, sum);
    gpu::ReturnOp::create(b, loc);
  }

private:
  Value load(OpBuilder &b, Value matrix, ArrayRef<Value> position) {
    return memref::LoadOp::create(b, loc, partials,
                                  ValueRange{matrix, position[0], position[1]});
  }

  /// The number of split-K ranges, if known.
  std::optional<int64_t> getNumRanges() {
    int64_t matrices = cast<MemRefType>(partials.getType()).getDimSize(0);
    int64_t batch = problem.hasBatch ? problem.resultType.getDimSize(0) : 1;
    if (ShapedType::isDynamic(matrices) || ShapedType::isDynamic(batch))
      return std::nullopt;
    return matrices / batch;
  }

  /// The sum of the partial results of all ranges, at `position` of matrix
  /// number `matrix` of the batch.
  Value emitSum(OpBuilder &b, Value matrix, ArrayRef<Value> position) {
    Value batch = makeIndex(b, loc, 1);
    if (problem.hasBatch)
      batch =
          memref::DimOp::create(b, loc, kernel.getArgument(problem.result), 0);
    if (std::optional<int64_t> count = getNumRanges())
      return emitSum(b, matrix, batch, *count, position);
    Value end = memref::DimOp::create(b, loc, partials, 0);
    Value sum = load(b, matrix, position);
    Value second = addIndices(b, loc, matrix, batch);
    auto loop = scf::ForOp::create(b, loc, second, end, batch, sum);
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    Value next = load(inner, loop.getInductionVar(), position);
    sum = arith::AddFOp::create(inner, loc, loop.getRegionIterArg(0), next);
    scf::YieldOp::create(inner, loc, sum);
    return loop.getResult(0);
  }

  /// The same for `count` ranges, whose loads are all in flight at once.
  Value emitSum(OpBuilder &b, Value matrix, Value batch, int64_t count,
                ArrayRef<Value> position) {
    SmallVector<Value> loaded;
    for (int64_t range = 0; range != count; ++range) {
      loaded.push_back(load(b, matrix, position));
      matrix = addIndices(b, loc, matrix, batch);
    }
    Value sum = loaded.front();
    for (Value next : ArrayRef(loaded).drop_front())
      sum = arith::AddFOp::create(b, loc, sum, next);
    return sum;
  }

  gpu::GPUFuncOp kernel;
  const KernelProblem &problem;
  Location loc;
  Value partials;
};
} // namespace

KernelShape blockscale::getSplitKReductionShape() {
  KernelShape shape;
  shape.tile = {1, kColumns, 1};
  shape.threads = {kColumns, 1, 1};
  shape.order = BlockOrder::Linear;
  return shape;
}

void blockscale::buildSplitKReduction(gpu::GPUFuncOp kernel,
                                      const KernelProblem &problem) {
  SplitKReduction(kernel, problem).build();
}
