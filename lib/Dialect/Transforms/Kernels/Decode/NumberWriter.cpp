//===- NumberWriter.cpp - Numbers of bf16 in memory -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each lane makes 8 numbers at a time, of as many rounds of loads as hide the
// latency of memory.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Decode/NumberWriter.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

/// One load for each lane where there are few numbers, so that more lanes have
/// some.
static constexpr int64_t kFewNumbers = int64_t(1) << 20;
static constexpr int64_t kWarps = 8;

NumberWriter::NumberWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                           const DecodeProblem &problem)
    : b(b), loc(kernel.getLoc()), kernel(kernel), problem(problem),
      emit(b, loc),
      lane(gpu::LaneIdOp::create(b, loc, /*upperBound=*/IntegerAttr())),
      numbers(kernel.getArgument(problem.result)) {
  // The product behind has loads to begin with.
  if (problem.boxElements != 0)
    NVVM::GriddepcontrolOp::create(b, loc,
                                   NVVM::GridDepActionKind::launch_dependents);
}

Value NumberWriter::size(unsigned fromEnd) {
  auto type = cast<MemRefType>(numbers.getType());
  return memref::DimOp::create(b, loc, numbers, type.getRank() - fromEnd);
}

Value NumberWriter::add(Value value, int64_t number) {
  return addIndex(b, loc, value, number);
}

SmallVector<Value> NumberWriter::compute(ArrayRef<AffineExpr> exprs,
                                         ValueRange values) {
  return applyExprs(b, loc, exprs, values);
}

void NumberWriter::store(const Place &place, ArrayRef<Value> pairs) {
  auto guard = scf::IfOp::create(b, loc, place.isInside);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(guard.thenBlock());
  auto storePairs = [&](ArrayRef<Value> of, Value column) {
    auto count = static_cast<int64_t>(of.size());
    Value all = vector::FromElementsOp::create(
        b, loc, VectorType::get(count, b.getI32Type()), of);
    all = vector::BitCastOp::create(
        b, loc, VectorType::get(2 * count, b.getBF16Type()), all);
    SmallVector<Value> position = {place.row, column};
    if (problem.isTransposed)
      std::swap(position[0], position[1]);
    if (cast<MemRefType>(numbers.getType()).getRank() == 3)
      position.insert(position.begin(), place.batch);
    vector::StoreOp::create(b, loc, all, numbers, position,
                            /*nontemporal=*/false, llvm::MaybeAlign(4 * count));
  };
  if (problem.boxElements == 0)
    return storePairs(pairs, place.column);
  // Numbers 4 i to 4 i + 3 of a quarter are two pairs of instruction i.
  constexpr int64_t kQuarters = 4, kOfQuarter = 4, kStep = 16, kSecond = 8;
  int64_t box = problem.boxElements, quarter = box / kQuarters;
  AffineExpr d0 = b.getAffineDimExpr(0);
  for (int64_t i = 0; i != kNumbers / kOfQuarter; ++i) {
    AffineExpr inBox = d0 % box, first = d0.floorDiv(box) * box;
    AffineExpr instruction = (inBox % quarter).floorDiv(kOfQuarter) + i;
    AffineExpr to = first + instruction * kStep + inBox.floorDiv(quarter) * 2;
    for (int64_t pair : {0, 1})
      storePairs(pairs[2 * i + pair],
                 compute({to + pair * kSecond}, place.column)[0]);
  }
}

Value NumberWriter::forEach(Value from, Value to, Value step, Value word,
                            function_ref<Value(Value, Value)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, step, word);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(b, loc, next);
  return loop.getResult(0);
}

Value NumberWriter::forEachTask(
    Value lines, Value parts, Value lost,
    function_ref<Value(Value, Value, Value, Value)> body) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value all = lines;
  bool hasBatch = cast<MemRefType>(numbers.getType()).getRank() == 3;
  if (hasBatch)
    all = b.createOrFold<arith::MulIOp>(loc, lines, size(3));
  Value tasks = b.createOrFold<arith::MulIOp>(loc, all, parts);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value first = compute({d0 * kWarps + d1.floorDiv(int64_t(kWarpLanes))},
                        {block, thread})[0];
  Value grid = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  Value step = compute({d0 * kWarps}, grid)[0];
  return forEach(first, tasks, step, lost, [&](Value task, Value before) {
    Value line = b.createOrFold<arith::DivUIOp>(loc, task, parts);
    Value part = b.createOrFold<arith::RemUIOp>(loc, task, parts);
    Value batch = emit.index(0);
    if (hasBatch) {
      batch = b.createOrFold<arith::DivUIOp>(loc, line, lines);
      line = b.createOrFold<arith::RemUIOp>(loc, line, lines);
    }
    return body(batch, line, part, before);
  });
}

static int64_t getRounds(std::optional<int64_t> numbers) {
  return numbers && *numbers <= kFewNumbers ? 1 : NumberWriter::kRounds;
}

/// Rows of numbers along K, of which a warp takes some strips at a time.
Value NumberWriter::emitLines(Value none) {
  int64_t rounds = getRounds(problem.numbers), ofPart = rounds * kStrip;
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value rows = size(2), columns = size(1);
  Value parts = compute({d0.ceilDiv(ofPart)}, columns)[0];
  Value last = add(columns, -kNumbers);
  return forEachTask(
      rows, parts, none, [&](Value batch, Value row, Value part, Value lost) {
        Place place = {batch, row, {}, {}};
        SmallVector<Place> places;
        SmallVector<SmallVector<Value>> loaded;
        for (int64_t i = 0; i != rounds; ++i) {
          Value at = compute({d0 * ofPart + d1 * kNumbers + i * kStrip},
                             {part, lane})[0];
          place.isInside = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::ult, at, columns);
          // What is outside reads what is last, so that all loads start at
          // once.
          place.column = arith::MinUIOp::create(b, loc, at, last);
          places.push_back(place);
          loaded.push_back(load(place));
        }
        for (int64_t i = 0; i != rounds; ++i)
          lost = emitNumbers(places[i], loaded[i], lost);
        return lost;
      });
}

/// The block's word, of those of its threads.
void NumberWriter::emitEnd(Value lost) {
  Value isLost =
      emit.select(emit.isDifferent(lost, 0), emit.integer(1), emit.integer(0));
  auto reduction = NVVM::BarrierReductionAttr::get(b.getContext(),
                                                   NVVM::BarrierReduction::OR);
  Value any = NVVM::BarrierOp::create(b, loc, TypeRange(b.getI32Type()),
                                      Value(), Value(), reduction, isLost)
                  .getResult(0);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        thread, emit.index(0));
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  auto guard = scf::IfOp::create(b, loc, isFirst);
  OpBuilder then = guard.getThenBodyBuilder();
  memref::StoreOp::create(then, loc, any,
                          kernel.getArgument(problem.result + 1), block);
  gpu::ReturnOp::create(b, loc);
}

int64_t blockscale::getDecodeBlocks(std::optional<int64_t> numbers) {
  constexpr int64_t kMost = 1024;
  if (!numbers)
    return kMost;
  return std::clamp<int64_t>(
      llvm::divideCeilSigned(*numbers, kWarps * getRounds(numbers) *
                                           NumberWriter::kStrip),
      1, kMost);
}

KernelShape blockscale::getDecodeShape() {
  KernelShape shape;
  shape.threads = {kWarps * int64_t(kWarpLanes), 1, 1};
  return shape;
}
