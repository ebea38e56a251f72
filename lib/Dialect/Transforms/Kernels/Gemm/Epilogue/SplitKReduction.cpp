//===- SplitKReduction.cpp - The reduction kernel of split-K --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The second kernel of a split-K GEMM. For each element of the result, a thread
// adds the partial results of all split-K ranges, always in the order of the
// ranges, so that every run gives the same bits. Then the usual epilogue
// follows.
//
// With dynamic sizes, loads depend on each other: the number of ranges is not
// known. So a thread has several elements then, and adds several ranges at a
// time, whose loads are in flight at once.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Epilogue/Epilogue.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Neighboring columns, one for each thread.
static constexpr int64_t kThreads = 128;

/// Elements of a thread, in columns that are kThreads apart.
static int64_t countElements(const KernelProblem &problem) {
  return problem.resultType.hasStaticShape() ? 1 : 4;
}
static int64_t countColumns(const KernelProblem &problem) {
  return kThreads * countElements(problem);
}

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
    int64_t ofBlock = countColumns(problem);
    Value inRow = applyExprs(b, loc, {d0.ceilDiv(ofBlock)}, columns)[0];
    Value index = arith::DivUIOp::create(b, loc, block, inRow);
    Value first = arith::RemUIOp::create(b, loc, block, inRow);
    first = applyExprs(b, loc, {d0 * ofBlock}, first)[0];
    Value row = index, matrix = makeIndex(b, loc, 0);
    if (problem.hasBatch) {
      row = arith::RemUIOp::create(b, loc, index, rows);
      matrix = arith::DivUIOp::create(b, loc, index, rows);
    }
    Value column = addIndices(b, loc, first, thread);
    if (countElements(problem) == 1) {
      OpBuilder then = emitIfBelow(b, column, columns);
      emitElement(then, matrix, row, column,
                  emitSums(then, matrix, row, column)[0]);
      gpu::ReturnOp::create(b, loc);
      return;
    }
    // Behind the last column, threads load that of the last one.
    Value last = addIndex(b, loc, columns, -1);
    SmallVector<Value> ofThread, loaded;
    for (int64_t i = 0; i != countElements(problem); ++i) {
      ofThread.push_back(addIndex(b, loc, column, i * kThreads));
      loaded.push_back(arith::MinUIOp::create(b, loc, ofThread.back(), last));
    }
    SmallVector<Value> sums = emitSums(b, matrix, row, loaded);
    // All loads of the epilogue are in front of all stores, which wait for
    // them.
    for (auto [column, sum] : llvm::zip_equal(loaded, sums))
      sum = emitResultElement(b, kernel, problem,
                              getPosition(matrix, row, column),
                              addInitial(b, matrix, row, column, sum));
    for (auto [each, sum] : llvm::zip_equal(ofThread, sums)) {
      OpBuilder then = emitIfBelow(b, each, columns);
      memref::StoreOp::create(then, loc, sum,
                              kernel.getArgument(problem.result),
                              getPosition(matrix, row, each));
    }
    gpu::ReturnOp::create(b, loc);
  }

private:
  OpBuilder emitIfBelow(OpBuilder &b, Value column, Value columns) {
    Value isInside = isBelow(b, loc, column, columns);
    return scf::IfOp::create(b, loc, isInside).getThenBodyBuilder();
  }

  SmallVector<Value> getPosition(Value matrix, Value row, Value column) {
    SmallVector<Value> position = {row, column};
    if (problem.hasBatch)
      position.insert(position.begin(), matrix);
    return position;
  }

  Value addInitial(OpBuilder &b, Value matrix, Value row, Value column,
                   Value sum) {
    if (!problem.acc && !problem.producer)
      return sum;
    return arith::AddFOp::create(
        b, loc, sum,
        emitInitialElement(b, kernel, problem,
                           getPosition(matrix, row, column)));
  }

  void emitElement(OpBuilder &b, Value matrix, Value row, Value column,
                   Value sum) {
    emitEpilogueElement(b, kernel, problem, getPosition(matrix, row, column),
                        addInitial(b, matrix, row, column, sum));
  }

  SmallVector<Value> load(OpBuilder &b, Value matrix, Value row,
                          ValueRange columns) {
    return llvm::map_to_vector(columns, [&](Value column) -> Value {
      return memref::LoadOp::create(b, loc, partials,
                                    ValueRange{matrix, row, column});
    });
  }

  SmallVector<Value> add(OpBuilder &b, ValueRange sums, ValueRange others) {
    return llvm::map_to_vector(
        llvm::zip_equal(sums, others), [&](auto each) -> Value {
          auto [sum, other] = each;
          return arith::AddFOp::create(b, loc, sum, other);
        });
  }

  /// The number of split-K ranges, if known.
  std::optional<int64_t> getNumRanges() {
    int64_t matrices = cast<MemRefType>(partials.getType()).getDimSize(0);
    int64_t batch = problem.hasBatch ? problem.resultType.getDimSize(0) : 1;
    if (ShapedType::isDynamic(matrices) || ShapedType::isDynamic(batch))
      return std::nullopt;
    return matrices / batch;
  }

  /// The sums of the partial results of all ranges, in `row` and `columns` of
  /// matrix number `matrix` of the batch.
  SmallVector<Value> emitSums(OpBuilder &b, Value matrix, Value row,
                              ValueRange columns) {
    Value batch = makeIndex(b, loc, 1);
    if (problem.hasBatch)
      batch =
          memref::DimOp::create(b, loc, kernel.getArgument(problem.result), 0);
    if (std::optional<int64_t> count = getNumRanges())
      return emitSums(b, matrix, batch, *count, row, columns);
    Value end = memref::DimOp::create(b, loc, partials, 0);
    SmallVector<Value> sums = load(b, matrix, row, columns);
    Value second = addIndices(b, loc, matrix, batch);
    // Groups of ranges, whose loads are in flight at once; then single ones.
    constexpr int64_t kGroup = 4;
    auto times = [&](int64_t count) {
      return b.createOrFold<arith::MulIOp>(loc, batch,
                                           makeIndex(b, loc, count));
    };
    Value others = times(kGroup - 1), group = times(kGroup);
    Value last = arith::MaxUIOp::create(b, loc, end, others);
    last = arith::SubIOp::create(b, loc, last, others);
    SmallVector<Value> carried(sums);
    carried.push_back(second);
    auto groups = scf::ForOp::create(b, loc, second, last, group, carried);
    OpBuilder inner = OpBuilder::atBlockBegin(groups.getBody());
    sums = llvm::to_vector_of<Value>(groups.getRegionIterArgs().drop_back());
    sums = addRanges(inner, sums, groups.getInductionVar(), batch, kGroup, row,
                     columns);
    sums.push_back(addIndices(inner, loc, groups.getInductionVar(), group));
    scf::YieldOp::create(inner, loc, sums);
    auto singles = scf::ForOp::create(b, loc, groups.getResults().back(), end,
                                      batch, groups.getResults().drop_back());
    inner = OpBuilder::atBlockBegin(singles.getBody());
    scf::YieldOp::create(
        inner, loc,
        addRanges(inner, llvm::to_vector_of<Value>(singles.getRegionIterArgs()),
                  singles.getInductionVar(), batch, 1, row, columns));
    return llvm::to_vector_of<Value>(singles.getResults());
  }

  /// The same for `count` ranges, whose loads are all in flight at once.
  SmallVector<Value> emitSums(OpBuilder &b, Value matrix, Value batch,
                              int64_t count, Value row, ValueRange columns) {
    return addRanges(b, {}, matrix, batch, count, row, columns);
  }

  /// `sums`, none for zeros, and those of `count` ranges from `matrix` on,
  /// whose loads are all in flight at once.
  SmallVector<Value> addRanges(OpBuilder &b, SmallVector<Value> sums,
                               Value matrix, Value batch, int64_t count,
                               Value row, ValueRange columns) {
    SmallVector<SmallVector<Value>> loaded;
    for (int64_t range = 0; range != count; ++range) {
      loaded.push_back(load(b, matrix, row, columns));
      matrix = addIndices(b, loc, matrix, batch);
    }
    for (ArrayRef<Value> next : loaded)
      sums = sums.empty() ? SmallVector<Value>(next) : add(b, sums, next);
    return sums;
  }

  gpu::GPUFuncOp kernel;
  const KernelProblem &problem;
  Location loc;
  Value partials;
};
} // namespace

KernelShape blockscale::getSplitKReductionShape(const KernelProblem &problem) {
  KernelShape shape;
  shape.tile = {1, countColumns(problem), 1};
  shape.threads = {kThreads, 1, 1};
  shape.order = BlockOrder::Linear;
  return shape;
}

void blockscale::buildSplitKReduction(gpu::GPUFuncOp kernel,
                                      const KernelProblem &problem) {
  SplitKReduction(kernel, problem).build();
}
