//===- CoarseQuantizeKernel.cpp - Quantize in coarse blocks ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A team of threads has a tile, which is a block of scales where it can be: it
// finds the largest magnitude, and quantizes then. The first values of a row,
// which mostly are all, stay in registers between both; others are read again,
// out of a cache.
//
// A block of many rows and columns would leave most of the chip idle. It is
// many tiles, and there are two kernels: one joins their largest magnitudes in
// memory, the next one quantizes.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Quantize/QuantizeProblem.h"
#include "Quantize/PackedStore.h"
#include "Quantize/QuantizedStores.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Threads of a block with several teams, and of one with a tile of many rows.
static constexpr int64_t kThreads = 128, kThreadsOfRows = 256;
/// Threads that share a row as long as any: at most, and if its length is not
/// known. Each has so many values of a row, if it may.
static constexpr int64_t kMostThreads = 512, kThreadsOfUnknown = 256,
                         kValues = 32;
/// The size of a part of a block.
static constexpr int64_t kPart = 128;
/// How much of a row a thread keeps in registers.
static constexpr int64_t kKeptBits = 128 * 8;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
/// How threads share tiles of rows by columns (`kAll` for whole rows). A team
/// goes through its tile in steps, in each of which a thread has `width`
/// values.
struct TilePlan {
  ScaleBlock tile;
  /// A row of it is a tile.
  RowWisePlan teams;
  /// Threads of a team along K; the others are along rows.
  int64_t lanes;
  /// Whether neighboring threads have neighboring rows.
  bool isAcrossRows;

  int64_t getLanesOfRows() const { return teams.lanes / lanes; }
};
} // namespace

/// How many threads share a tile that is a row, or a part of one.
static int64_t getThreadsOfRow(const QuantizeProblem &problem) {
  if (problem.block.k != ScaleBlock::kAll)
    return std::clamp<int64_t>(problem.block.k / problem.width, 1, kWarpLanes);
  if (ShapedType::isDynamic(problem.k))
    return kThreadsOfUnknown;
  return std::clamp<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeilSigned(problem.k, kValues)),
      kWarpLanes, kMostThreads);
}

static TilePlan getTilePlan(const QuantizeProblem &problem) {
  TilePlan plan = {};
  plan.isAcrossRows = problem.contiguity != Contiguity::Columns;
  plan.tile = problem.block;
  if (problem.block.rows == 1) {
    int64_t threads = plan.isAcrossRows ? 1 : getThreadsOfRow(problem);
    plan.teams = {threads, std::max<int64_t>(1, kThreads / threads)};
    // The threads of more than one warp have one row.
    if (threads > int64_t(kWarpLanes))
      plan.teams.rows = 1;
    plan.lanes = threads;
    return plan;
  }
  plan.tile.rows = kPart;
  if (plan.tile.k == ScaleBlock::kAll)
    plan.tile.k = kPart;
  plan.teams = {kThreadsOfRows, 1};
  plan.lanes = plan.isAcrossRows
                   ? kThreadsOfRows / kPart
                   : std::min<int64_t>(kWarpLanes, plan.tile.k / problem.width);
  return plan;
}

bool blockscale::hasPartsOfBlocks(const QuantizeProblem &problem) {
  return getTilePlan(problem).tile != problem.block;
}

KernelShape blockscale::getCoarseQuantizeShape(const QuantizeProblem &problem) {
  TilePlan plan = getTilePlan(problem);
  return {
      {plan.teams.rows * plan.tile.rows, std::max<int64_t>(plan.tile.k, 1), 1},
      {plan.teams.lanes * plan.teams.rows, 1, 1}};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// Values of a row, as they are in memory.
struct LoadedValues {
  MatrixPosition position;
  /// Whether they are quantized. Null for always.
  Value isInside;
  SmallVector<Value> parts;
};

class TileKernel {
public:
  TileKernel(OpBuilder &b, gpu::GPUFuncOp kernel,
             const QuantizeProblem &problem)
      : b(b), loc(kernel.getLoc()), kernel(kernel), problem(problem),
        plan(getTilePlan(problem)), teams(b, kernel, plan.teams),
        arithmetic(b, loc),
        packedStore(b, loc, problem.format, problem.elementBits, *problem.chip),
        x(kernel.getArgument(problem.x)),
        element(cast<MemRefType>(x.getType()).getElementType()) {}

  /// Joins the largest magnitudes of tiles in memory.
  void buildMagnitudes() {
    findTile();
    loadKept();
    emitJoinLargest(b, loc, findLargestOfThread(),
                    kernel.getArgument(*problem.magnitudes), getBlock());
    gpu::ReturnOp::create(b, loc);
  }

  void buildQuantize() {
    findTile();
    loadKept();
    Value largest =
        problem.magnitudes ? loadLargest() : joinLargest(findLargestOfThread());
    if (problem.amax)
      emitJoinLargest(b, loc, largest, kernel.getArgument(*problem.amax));
    Value scale =
        arithmetic.emitScale(problem.format, largest, /*tensorScale=*/Value());
    factor = arithmetic.emitFactor(problem.format, scale,
                                   /*tensorScale=*/Value());
    if (problem.format.hasF32Codes()) {
      arithmetic.emitReciprocal(factor);
      factor.allowsReciprocal = arithmetic.emitAllowsReciprocal(factor.value);
    }
    for (const LoadedValues &values : kept)
      emitIf(b, loc, values.isInside, [&] { store(values); });
    emitLoops({}, [&](const LoadedValues &values, Value) {
      store(values);
      return Value();
    });
    emitIf(b, loc, hasScale(), [&] {
      memref::StoreOp::create(
          b, loc,
          toMemory(arithmetic.emitStoredScale(problem.format, largest, scale)),
          kernel.getArgument(problem.scales), getBlock());
    });
    gpu::ReturnOp::create(b, loc);
  }

private:
  Value compute(AffineExpr expr, ValueRange values) {
    return applyExpr(b, loc, expr, values);
  }
  Value getSmaller(Value one, Value other) {
    return arith::MinUIOp::create(b, loc, one, other);
  }

  /// The tile of this thread's team, and the thread's first values in it.
  void findTile() {
    rows = emitSize(b, loc, problem, x, 2);
    columns = emitSize(b, loc, problem, x, 1);
    if (problem.rank == 3)
      batch = gpu::BlockIdOp::create(b, loc, gpu::Dimension::z);
    tileRow = teams.getRow();
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    AffineExpr alongK = d0 % plan.lanes, alongRows = d0.floorDiv(plan.lanes);
    if (plan.isAcrossRows) {
      alongRows = d0 % plan.getLanesOfRows();
      alongK = d0.floorDiv(plan.getLanesOfRows());
    }
    Value lane = teams.getLane();
    firstRow =
        compute(d0 * plan.tile.rows + d1, {tileRow, compute(alongRows, lane)});
    endRow = getSmaller(rows, compute((d0 + 1) * plan.tile.rows, tileRow));
    firstColumn = compute(alongK * problem.width, lane);
    endColumn = columns;
    if (plan.tile.k == ScaleBlock::kAll)
      return;
    tileColumn = gpu::BlockIdOp::create(b, loc, gpu::Dimension::y);
    firstColumn = compute(d0 * plan.tile.k + d1, {tileColumn, firstColumn});
    endColumn =
        getSmaller(columns, compute((d0 + 1) * plan.tile.k, tileColumn));
  }

  /// The position of the block of scales that the tile is in.
  SmallVector<Value> getBlock() {
    Value zero = makeIndex(b, loc, 0);
    SmallVector<Value> position;
    if (batch)
      position.push_back(batch);
    position.push_back(problem.block.rows == ScaleBlock::kAll ? zero : tileRow);
    position.push_back(problem.block.k == ScaleBlock::kAll ? zero : tileColumn);
    return position;
  }

  /// Whether this thread stores the scale of a block.
  Value hasScale() {
    Value zero = makeIndex(b, loc, 0);
    Value isMine = isEqual(b, loc, teams.getLane(), zero);
    isMine = emitBoth(b, loc, isMine, isBelow(b, loc, firstRow, rows));
    if (problem.block.rows == ScaleBlock::kAll)
      isMine = emitBoth(b, loc, isMine, isEqual(b, loc, tileRow, zero));
    if (problem.block.k == ScaleBlock::kAll && tileColumn)
      isMine = emitBoth(b, loc, isMine, isEqual(b, loc, tileColumn, zero));
    return isMine;
  }
  Value toMemory(Value scale) {
    return scale.getType().isF32() ? scale
                                   : arithmetic.narrow(scale, kByteBits);
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// Values that are loaded at once.
  int64_t getWidthOfLoad() const {
    constexpr int64_t kLoadBits = 128;
    if (plan.isAcrossRows)
      return 1;
    return std::min<int64_t>(problem.width,
                             kLoadBits / element.getIntOrFloatBitWidth());
  }

  LoadedValues load(const MatrixPosition &at) {
    LoadedValues values = {at, Value(), {}};
    int64_t count = getWidthOfLoad();
    int64_t bytes = count * element.getIntOrFloatBitWidth() / kByteBits;
    for (int64_t i = 0; i != problem.width; i += count) {
      SmallVector<Value> position =
          applyMap(b, loc, problem.map,
                   {batch ? batch : makeIndex(b, loc, 0), at.row,
                    addIndex(b, loc, at.column, i)});
      if (count == 1)
        values.parts.push_back(memref::LoadOp::create(b, loc, x, position));
      else
        values.parts.push_back(vector::LoadOp::create(
            b, loc, VectorType::get(count, element), x, position,
            /*nontemporal=*/false, llvm::MaybeAlign(bytes)));
    }
    return values;
  }

  SmallVector<Value> toNumbers(const LoadedValues &values) {
    SmallVector<Value> numbers;
    for (Value part : values.parts)
      if (isa<VectorType>(part.getType()))
        llvm::append_range(numbers, extractElements(b, loc, part));
      else
        numbers.push_back(part);
    for (Value &number : numbers)
      number = arithmetic.toF32(number);
    return numbers;
  }

  Value getLargest(ArrayRef<LoadedValues> all) {
    Value largest = arithmetic.integer(0);
    for (const LoadedValues &values : all)
      for (Value number : toNumbers(values))
        largest =
            arithmetic.getLargest(largest, arithmetic.getMagnitude(number));
    return largest;
  }

  /// Loads the first values of this thread, if its tile is a row or a part of
  /// one. Loops are over the rest.
  void loadKept() {
    nextColumn = firstColumn;
    if (plan.tile.rows != 1)
      return;
    int64_t length = plan.tile.k == ScaleBlock::kAll ? problem.k : plan.tile.k;
    bool isKnown = !ShapedType::isDynamic(length);
    int64_t step = plan.lanes * problem.width;
    int64_t count = isKnown ? llvm::divideCeilSigned(length, step)
                            : llvm::divideCeilSigned(kValues, problem.width);
    count = std::min<int64_t>(
        count, kKeptBits / (problem.width * element.getIntOrFloatBitWidth()));
    hasRest = !isKnown || count * step < length;
    nextColumn = addIndex(b, loc, firstColumn, count * step);
    // Threads outside read the last values of their tile, or of the last row,
    // which no result changes by, so that no load waits for a branch.
    Value isRow, row = firstRow,
                 last = addIndex(b, loc, endColumn, -problem.width);
    if (!KernelProblem::isMultiple(problem.m, plan.teams.rows)) {
      isRow = isBelow(b, loc, row, rows);
      row = getSmaller(row, addIndex(b, loc, rows, -1));
    }
    bool areWhole = plan.tile.k == ScaleBlock::kAll ||
                    KernelProblem::isMultiple(problem.k, plan.tile.k);
    for (int64_t i = 0; i != count; ++i) {
      MatrixPosition at = {batch, row, addIndex(b, loc, firstColumn, i * step)};
      Value isInside = isRow;
      if (!isKnown || !areWhole || (i + 1) * step > length) {
        isInside =
            emitBoth(b, loc, isRow, isBelow(b, loc, at.column, endColumn));
        at.column = getSmaller(at.column, last);
      }
      kept.push_back(load(at));
      kept.back().isInside = isInside;
    }
  }

  /// Loops over the values of this thread that are not kept. They carry
  /// `start`, unless it is null, and what `body` makes of it.
  Value emitLoops(Value start,
                  function_ref<Value(const LoadedValues &, Value)> body) {
    if (!hasRest)
      return start;
    auto carry = [](Value value) {
      return value ? SmallVector<Value>{value} : SmallVector<Value>();
    };
    auto emitLoop = [&](Value first, Value end, int64_t step, Value carried,
                        function_ref<Value(Value, Value)> inner) -> Value {
      auto loop = scf::ForOp::create(b, loc, first, end,
                                     makeIndex(b, loc, step), carry(carried));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value made = inner(loop.getInductionVar(),
                         carried ? Value(loop.getRegionIterArg(0)) : Value());
      if (carried)
        scf::YieldOp::create(b, loc, made);
      return carried ? loop.getResult(0) : Value();
    };
    return emitLoop(firstRow, endRow, plan.getLanesOfRows(), start,
                    [&](Value row, Value ofRow) {
                      return emitLoop(
                          nextColumn, endColumn, plan.lanes * problem.width,
                          ofRow, [&](Value column, Value carried) {
                            return body(load({batch, row, column}), carried);
                          });
                    });
  }

  Value findLargestOfThread() {
    return emitLoops(
        getLargest(kept), [&](const LoadedValues &values, Value largest) {
          return arithmetic.getLargest(largest, getLargest(values));
        });
  }
  Value joinLargest(Value largest) {
    return teams.join(b, largest, [&](OpBuilder &at, Value one, Value other) {
      return BlockArithmetic(at, loc).getLargest(one, other);
    });
  }
  /// The largest magnitude that another kernel has found.
  Value loadLargest() {
    Value largest = memref::LoadOp::create(
        b, loc, kernel.getArgument(*problem.magnitudes), getBlock());
    return arithmetic.getMagnitude(largest);
  }

  void store(const LoadedValues &values) {
    SmallVector<Value> numbers = toNumbers(values);
    // Conversion instructions convert pairs; one element is a byte.
    Value words =
        numbers.size() == 1
            ? arithmetic.narrow(
                  arithmetic.emitCode(problem.format, numbers[0], factor),
                  kByteBits)
            : packedStore.emit(numbers, factor);
    QuantizedStores(b, loc, kernel.getArgument(problem.elements),
                    kernel.getArgument(problem.scales), problem.elementBits,
                    problem.format.blockSize, rows, columns)
        .storeElements(values.position, words,
                       static_cast<int64_t>(numbers.size()));
  }

  static constexpr int64_t kByteBits = 8;

  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp kernel;
  const QuantizeProblem &problem;
  TilePlan plan;
  RowWiseLanes teams;
  BlockArithmetic arithmetic;
  PackedStore packedStore;
  Value x;
  Type element;
  /// The sizes of x; the matrix of the batch, null without one.
  Value rows, columns, batch;
  /// The indices of the tile. That along K is null for whole rows.
  Value tileRow, tileColumn;
  /// The first position of the thread, and the end of the tile.
  Value firstRow, firstColumn, endRow, endColumn;
  /// What is in registers, where the other values of a row start, and whether
  /// there are others.
  SmallVector<LoadedValues> kept;
  Value nextColumn;
  bool hasRest = true;
  BlockFactor factor;
};
} // namespace

void blockscale::buildCoarseQuantize(gpu::GPUFuncOp kernel,
                                     const QuantizeProblem &problem) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  TileKernel(b, kernel, problem).buildQuantize();
}

void blockscale::buildMagnitudes(gpu::GPUFuncOp kernel,
                                 const QuantizeProblem &problem) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  TileKernel(b, kernel, problem).buildMagnitudes();
}
