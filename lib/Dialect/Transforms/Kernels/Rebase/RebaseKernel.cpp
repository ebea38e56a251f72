//===- RebaseKernel.cpp - One scale for each row --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel is bound by memory bandwidth. A team of threads has a row: it
// finds the largest scale, while its first elements are on their way, and
// rebases elements then, 16 at a time where rows are aligned for that.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Rebase/RebaseProblem.h"

#include "Kernels/Rebase/BlockRebaser.h"
#include "Kernels/RowWise/RowWiseLanes.h"
#include "Quantize/BlockArithmetic.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "blockscale/Dialect/IR/Rebase.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

/// What a thread rebases at once: at most 16 bytes of results, in one block of
/// scales.
static constexpr int64_t kMostWidth = 16;
/// How many such units a thread has in flight, and has of a row, if it may.
static constexpr int64_t kUnits = 4, kUnitsOfRow = 2;
/// Threads that share a row: at most, if K is dynamic, and those of a block
/// that has several rows.
static constexpr int64_t kMostThreads = 256, kThreadsOfUnknown = 128,
                         kThreadsOfRows = 128;
static constexpr int64_t kByteBits = 8;

static RowWisePlan getPlan(const RebaseProblem &problem) {
  int64_t lanes = kThreadsOfUnknown;
  if (!ShapedType::isDynamic(problem.k))
    lanes = std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeilSigned(
                                    problem.k, kMostWidth * kUnitsOfRow)),
                                kWarpLanes, kMostThreads);
  bool isWarp = lanes == int64_t(kWarpLanes) && problem.m != 1;
  return {lanes, isWarp ? kThreadsOfRows / lanes : 1};
}

KernelShape blockscale::getRebaseShape(const RebaseProblem &problem) {
  return getPlan(problem).getShape();
}

namespace {
/// Elements that follow each other in a row, as they are in memory.
struct LoadedUnit {
  Value column;
  /// Whether they are in the row. Null for always.
  Value isInside;
  SmallVector<Value> words;
  /// The code of their scale.
  Value scale;
};

class RebaseKernel {
public:
  RebaseKernel(OpBuilder &b, gpu::GPUFuncOp kernel,
               const RebaseProblem &problem)
      : b(b), loc(kernel.getLoc()), kernel(kernel), problem(problem),
        plan(getPlan(problem)), team(b, kernel, plan), emit(b, loc),
        rebaser(b, loc, problem.format),
        rebased(kernel.getArgument(problem.rebased)) {}

  void build() {
    batch = makeIndex(b, loc, 0);
    if (problem.rank == 3)
      batch = gpu::BlockIdOp::create(b, loc, gpu::Dimension::z);
    columns = memref::DimOp::create(b, loc, rebased,
                                    static_cast<int64_t>(problem.rank) - 1);
    Value isRow;
    if (!KernelProblem::isMultiple(problem.m, plan.rows) && plan.rows != 1)
      isRow =
          isBelow(b, loc, team.getRow(),
                  memref::DimOp::create(
                      b, loc, rebased, static_cast<int64_t>(problem.rank) - 2));
    emitIf(b, loc, isRow, [&] { buildRow(); });
    gpu::ReturnOp::create(b, loc);
  }

private:
  void buildRow() {
    auto known = static_cast<uint64_t>(problem.knownMultiple);
    int64_t narrow =
        std::min<int64_t>(int64_t(1) << llvm::countr_zero(known), kMostWidth);
    if (!ShapedType::isDynamic(problem.k) || narrow == kMostWidth) {
      width = narrow;
      SmallVector<LoadedUnit> first = loadFirst();
      findLargest();
      for (const LoadedUnit &unit : first)
        store(unit);
      if (hasRest())
        emitLoop(kUnits * getStep());
      return;
    }
    findLargest();
    // Rows may end, and the next one start, at any element.
    Value rest = applyExpr(b, loc, b.getAffineDimExpr(0) % kMostWidth, columns);
    Value isWhole = isEqual(b, loc, rest, makeIndex(b, loc, 0));
    auto branch = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    for (auto [block, ofBlock] : {std::pair(branch.thenBlock(), kMostWidth),
                                  std::pair(branch.elseBlock(), narrow)}) {
      b.setInsertionPointToStart(block);
      width = ofBlock;
      emitLoop(/*first=*/0);
    }
  }

  //===--------------------------------------------------------------------===//
  // The largest scale
  //===--------------------------------------------------------------------===//

  Value loadScale(Value block) {
    Value code = memref::LoadOp::create(
        b, loc, kernel.getArgument(problem.scales.argument),
        applyMap(b, loc, problem.scales.map, {batch, team.getRow(), block}));
    return emit.widen(code);
  }

  /// Sets `largest`, and stores the scale of the row.
  void findLargest() {
    AffineExpr d0 = b.getAffineDimExpr(0);
    Value blocks = applyExpr(b, loc, d0.ceilDiv(problem.blockSize), columns);
    auto loop =
        scf::ForOp::create(b, loc, team.getLane(), blocks,
                           makeIndex(b, loc, plan.lanes), emit.integer(0));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value code = loadScale(loop.getInductionVar());
      scf::YieldOp::create(b, loc, emit.maxU(loop.getRegionIterArg(0), code));
    }
    largest = team.join(b, loop.getResult(0),
                        [&](OpBuilder &at, Value one, Value other) -> Value {
                          return arith::MaxUIOp::create(at, loc, one, other);
                        });
    Value isFirst = isEqual(b, loc, team.getLane(), makeIndex(b, loc, 0));
    emitIf(b, loc, isFirst, [&] {
      Value scale = emit.mul(emit.decode(Format::UE8M0, largest),
                             std::ldexp(1.0, -getRebaseShift(problem.format)));
      memref::StoreOp::create(b, loc, scale,
                              kernel.getArgument(problem.rowScales),
                              getPosition(makeIndex(b, loc, 0)));
    });
  }

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  int64_t getStep() const { return plan.lanes * width; }
  bool hasRest() const {
    return ShapedType::isDynamic(problem.k) || problem.k > kUnits * getStep();
  }

  /// The position of the row and of `column` in results.
  SmallVector<Value> getPosition(Value column) {
    if (problem.rank == 3)
      return {batch, team.getRow(), column};
    return {team.getRow(), column};
  }

  /// The unit at `column`. Threads outside of the row load its last one, so
  /// that no load waits for a branch.
  LoadedUnit load(Value column, bool isKnownInside) {
    LoadedUnit unit = {column, Value(), {}, Value()};
    if (!isKnownInside) {
      unit.isInside = isBelow(b, loc, column, columns);
      unit.column = arith::MinUIOp::create(b, loc, column,
                                           addIndex(b, loc, columns, -width));
    }
    unit.words = loadWords(unit.column);
    unit.scale = loadScale(
        applyExpr(b, loc, b.getAffineDimExpr(0).floorDiv(problem.blockSize),
                  unit.column));
    return unit;
  }

  /// Whether memory has whole words of the elements of a unit.
  bool hasWords() const {
    constexpr int64_t kWordBits = 32;
    return width * problem.elements.bits % kWordBits == 0;
  }

  /// Words of four elements, one in each byte; or of eight elements of 4 bits,
  /// if they are packed so.
  SmallVector<Value> loadWords(Value column) {
    Value memory = kernel.getArgument(problem.elements.argument);
    auto getAt = [&](int64_t i) {
      return applyMap(b, loc, problem.elements.map,
                      {batch, team.getRow(), addIndex(b, loc, column, i)});
    };
    constexpr int64_t kOfWord = 4;
    if (hasWords()) {
      SmallVector<Value> position = getAt(0);
      int64_t bits = problem.elements.bits;
      position.back() =
          applyExpr(b, loc, (b.getAffineDimExpr(0) * bits).floorDiv(kByteBits),
                    position.back());
      return rebaser.unpack(
          loadBytes(memory, position, width * bits / kByteBits),
          problem.elements.bits);
    }
    SmallVector<Value> words;
    for (int64_t i = 0; i != width; ++i) {
      Value code = emit.widen(
          emitLoadCode(b, loc, memory, problem.elements.bits, getAt(i)));
      if (i % kOfWord == 0)
        words.push_back(code);
      else
        words.back() =
            emit.bitOr(words.back(),
                       emit.shiftLeft(code, static_cast<uint64_t>(i % kOfWord) *
                                                kByteBits));
    }
    return words;
  }

  /// Words of as many bytes as rows are aligned to.
  SmallVector<Value> loadBytes(Value memory, ArrayRef<Value> position,
                               int64_t bytes) {
    auto alignment = static_cast<int64_t>(
        uint64_t(1) << llvm::countr_zero(static_cast<uint64_t>(bytes)));
    SmallVector<Value> words;
    for (int64_t i = 0; i != bytes; i += alignment) {
      SmallVector<Value> at(position);
      at.back() = addIndex(b, loc, at.back(), i);
      llvm::append_range(words,
                         blockscale::loadWords(b, loc, memory, at, alignment));
    }
    return words;
  }

  /// The first units of the thread. The loop is over the rest.
  SmallVector<LoadedUnit> loadFirst() {
    SmallVector<LoadedUnit> units;
    bool isKnown = !ShapedType::isDynamic(problem.k);
    int64_t count = kUnits;
    if (isKnown)
      count = std::min(count, llvm::divideCeilSigned(problem.k, getStep()));
    Value first = getFirstColumn();
    for (int64_t i = 0; i != count; ++i)
      units.push_back(load(addIndex(b, loc, first, i * getStep()),
                           isKnown && (i + 1) * getStep() <= problem.k));
    return units;
  }

  Value getFirstColumn() {
    return applyExpr(b, loc, b.getAffineDimExpr(0) * width, team.getLane());
  }

  /// Rebases the elements of the thread from `first` on.
  void emitLoop(int64_t first) {
    Value start = addIndex(b, loc, getFirstColumn(), first);
    auto loop = scf::ForOp::create(b, loc, start, columns,
                                   makeIndex(b, loc, kUnits * getStep()));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<LoadedUnit> units;
    for (int64_t i = 0; i != kUnits; ++i)
      units.push_back(
          load(addIndex(b, loc, loop.getInductionVar(), i * getStep()),
               /*isKnownInside=*/i == 0));
    for (const LoadedUnit &unit : units)
      store(unit);
  }

  void store(const LoadedUnit &unit) {
    emitIf(b, loc, unit.isInside, [&] {
      bool arePacked = hasWords() && problem.elements.bits == 4;
      SmallVector<Value> words =
          rebaser.rebase(unit.words, arePacked, emit.sub(unit.scale, largest));
      constexpr int64_t kWordBytes = 4;
      if (width < kWordBytes)
        words = {emit.narrow(words[0], width * kByteBits)};
      Value all = vector::FromElementsOp::create(
          b, loc,
          VectorType::get(static_cast<int64_t>(words.size()),
                          words[0].getType()),
          words);
      Value bytes = vector::BitCastOp::create(
          b, loc, VectorType::get(width, b.getI8Type()), all);
      vector::StoreOp::create(b, loc, bytes, rebased, getPosition(unit.column),
                              /*nontemporal=*/false, llvm::MaybeAlign(width));
    });
  }

  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp kernel;
  const RebaseProblem &problem;
  RowWisePlan plan;
  RowWiseLanes team;
  BlockArithmetic emit;
  BlockRebaser rebaser;
  Value rebased;
  /// The matrix of the batch, K, and the largest code of the row's scales.
  Value batch, columns, largest;
  /// The elements of a unit.
  int64_t width = 1;
};
} // namespace

void blockscale::buildRebase(gpu::GPUFuncOp kernel,
                             const RebaseProblem &problem) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  RebaseKernel(b, kernel, problem).build();
}
