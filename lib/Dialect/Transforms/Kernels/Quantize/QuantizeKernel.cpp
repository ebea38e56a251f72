//===- QuantizeKernel.cpp - The quantize kernel ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel is bound by memory bandwidth. Each lane loads 8 contiguous values,
// several times before it needs them, and the lanes of a scale block exchange
// their largest magnitude by shuffles. If the values of a block are not
// contiguous, or the last block of a row is not whole, one thread has one
// block. Other coarse blocks have kernels of their own.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/ScalarSlice.h"
#include "Kernels/Quantize/QuantizeProblem.h"
#include "Quantize/PackedStore.h"
#include "Quantize/QuantizedStores.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// How many values a lane has at once.
static constexpr int64_t kValues = 8;
static constexpr int64_t kWarps = 4;
/// How many loads each lane has in flight; one if there are few values, so that
/// more lanes have work.
static constexpr int64_t kRounds = 4, kFewValues = int64_t(1) << 20;
/// How many threads with a block each there are along rows, or along K.
static constexpr int64_t kThreads = 128, kThreadsOfRow = 32;

namespace {
/// How the lanes of a warp share rows: each of `lanes` has 8 values of a row,
/// in `roundsK` rounds along K by `roundsM` along M.
struct LanePlan {
  int64_t lanes, roundsK, roundsM;

  int64_t getRounds() const { return roundsK * roundsM; }
  int64_t getRowsOfWarp() const { return int64_t(kWarpLanes) / lanes; }
  int64_t getColumns() const { return lanes * kValues * roundsK; }
  int64_t getRowsOfBlock() const { return kWarps * getRowsOfWarp() * roundsM; }
};
} // namespace

static LanePlan getPlan(const QuantizeProblem &problem) {
  LanePlan plan = {kWarpLanes, kRounds, 1};
  bool isKnown = !ShapedType::isDynamic(problem.k);
  if (isKnown && !ShapedType::isDynamic(problem.m) &&
      problem.m <= kFewValues / problem.k)
    plan.roundsK = 1;
  if (!isKnown)
    return plan;
  // Whole blocks, and whole atoms of scales.
  int64_t least = problem.format.blockSize / kValues *
                  (problem.hasAtoms ? kScaleAtomBlocks : 1);
  int64_t needed = llvm::divideCeilSigned(problem.k, kValues);
  plan.lanes = std::min<int64_t>(
      kWarpLanes, std::max<int64_t>(least, llvm::PowerOf2Ceil(needed)));
  int64_t mostK = llvm::divideCeilSigned(needed, plan.lanes);
  int64_t rounds = plan.roundsK;
  plan.roundsK = std::min<int64_t>(rounds, llvm::PowerOf2Ceil(mostK));
  plan.roundsM = rounds / plan.roundsK;
  return plan;
}

static bool isAcrossRows(const QuantizeProblem &problem) {
  return problem.contiguity == Contiguity::Rows;
}

KernelShape blockscale::getQuantizeShape(const QuantizeProblem &problem) {
  if (problem.isContiguous()) {
    LanePlan plan = getPlan(problem);
    return {{plan.getRowsOfBlock(), plan.getColumns(), 1},
            {kWarps * int64_t(kWarpLanes), 1, 1}};
  }
  int64_t blocks = isAcrossRows(problem) ? 1 : kThreadsOfRow;
  return {{kThreads / blocks, blocks * problem.format.blockSize, 1},
          {kThreads, 1, 1}};
}

Value blockscale::emitSize(OpBuilder &b, Location loc,
                           const QuantizeProblem &problem, Value x,
                           unsigned fromEnd) {
  // The dimension of x that the map uses.
  AffineExpr dim = b.getAffineDimExpr(3 - fromEnd);
  for (auto [i, expr] : llvm::enumerate(problem.map.getResults()))
    if (expr == dim)
      return memref::DimOp::create(b, loc, x, static_cast<int64_t>(i));
  llvm_unreachable("expected a view that has all rows and columns");
}

namespace {
class QuantizeKernel {
public:
  QuantizeKernel(OpBuilder &b, gpu::GPUFuncOp kernel,
                 const QuantizeProblem &problem)
      : b(b), loc(kernel.getLoc()), kernel(kernel), problem(problem),
        arithmetic(b, loc),
        packedStore(b, loc, problem.format, problem.elementBits, *problem.chip),
        x(kernel.getArgument(problem.x)),
        element(cast<MemRefType>(x.getType()).getElementType()) {}

  void build() {
    rows = emitSize(b, loc, problem, x, 2);
    columns = emitSize(b, loc, problem, x, 1);
    tensorScale = emitScalar(b, kernel, problem.tensorScale);
    if (problem.isContiguous())
      buildByLanes();
    else
      buildByThreads();
    gpu::ReturnOp::create(b, loc);
  }

private:
  SmallVector<Value> compute(ArrayRef<AffineExpr> exprs, ValueRange values) {
    return applyExprs(b, loc, exprs, values);
  }
  Value both(Value one, Value other) {
    if (!one || !other)
      return one ? one : other;
    return arith::AndIOp::create(b, loc, one, other);
  }
  /// The matrix of the batch for this block; null without a batch.
  Value getBatch() {
    if (problem.rank == 2)
      return {};
    return gpu::BlockIdOp::create(b, loc, gpu::Dimension::z);
  }
  SmallVector<Value> getPosition(const MatrixPosition &origin, Value column) {
    if (!origin.batch)
      return {origin.row, column};
    return {origin.batch, origin.row, column};
  }
  /// Whether tiles of so many rows, or columns, are known to be inside of x
  /// and, in the 32x4x4 layout, of whole atoms.
  bool fitRows(int64_t tile) const {
    return KernelProblem::isMultiple(problem.m, tile) &&
           (!problem.hasAtoms ||
            KernelProblem::isMultiple(problem.m, kScaleAtomRows));
  }
  bool fitColumns(int64_t tile) const {
    return KernelProblem::isMultiple(problem.k, tile) &&
           (!problem.hasAtoms ||
            KernelProblem::isMultiple(problem.k, problem.format.blockSize *
                                                     kScaleAtomBlocks));
  }
  BlockFactor emitFactor(Value scale) {
    BlockFactor factor =
        arithmetic.emitFactor(problem.format, scale, tensorScale);
    if (!problem.format.rule) {
      arithmetic.emitReciprocal(factor);
      factor.allowsReciprocal = arithmetic.emitAllowsReciprocal(
          problem.format.hasF32Scales ? factor.value : tensorScale);
    }
    return factor;
  }
  /// Eight values for each lane.
  void buildByLanes() {
    LanePlan plan = getPlan(problem);
    int64_t rounds = plan.getRounds();
    Value blockM = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value blockK = gpu::BlockIdOp::create(b, loc, gpu::Dimension::y);
    Value batch = getBatch();
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    Value lane = gpu::LaneIdOp::create(b, loc, /*upperBound=*/IntegerAttr());
    AffineExpr d0, d1, d2;
    bindDims(b.getContext(), d0, d1, d2);
    // Threads of a warp are along K, then down.
    AffineExpr row = d0 * plan.getRowsOfBlock() + d1.floorDiv(plan.lanes);
    AffineExpr column = d2 * plan.getColumns() + d1 % plan.lanes * kValues;
    SmallVector<Value> at =
        compute({row, column}, ValueRange{blockM, thread, blockK});
    int64_t rowStep = kWarps * plan.getRowsOfWarp();
    bool fitsRows = fitRows(plan.getRowsOfBlock());
    bool fitsColumns = fitColumns(plan.getColumns());

    auto getOrigin = [&](int64_t round) {
      return MatrixPosition{
          batch, addIndex(b, loc, at[0], round / plan.roundsK * rowStep),
          addIndex(b, loc, at[1], round % plan.roundsK * plan.lanes * kValues)};
    };
    SmallVector<MatrixPosition> origins;
    SmallVector<Value> isInside;
    SmallVector<SmallVector<Value>> values;
    for (int64_t round = 0; round != rounds; ++round) {
      MatrixPosition origin = getOrigin(round);
      origins.push_back(origin);
      Value inside;
      // Lanes outside read the last values, so that no load waits for a branch.
      if (!fitsRows) {
        inside = isBelow(b, loc, origin.row, rows);
        origin.row = arith::MinUIOp::create(b, loc, origin.row,
                                            addIndex(b, loc, rows, -1));
      }
      if (!fitsColumns) {
        inside = both(inside, isBelow(b, loc, origin.column, columns));
        origin.column = arith::MinUIOp::create(
            b, loc, origin.column, addIndex(b, loc, columns, -kValues));
      }
      isInside.push_back(inside);
      values.push_back(loadValues(origin));
    }

    SmallVector<Value> scales;
    Value largestOfAll;
    int64_t lanesOfBlock = problem.format.blockSize / kValues;
    for (int64_t round = 0; round != rounds; ++round) {
      Value largest;
      for (Value number : values[round]) {
        Value magnitude = arithmetic.getMagnitude(number);
        largest =
            largest ? arithmetic.getLargest(largest, magnitude) : magnitude;
      }
      if (isInside[round])
        largest = arith::SelectOp::create(b, loc, isInside[round], largest,
                                          arithmetic.integer(0));
      for (int64_t i = 1; i != lanesOfBlock; i *= 2)
        largest =
            arithmetic.getLargest(largest, emitShuffle(b, loc, largest, i));
      largestOfAll =
          largestOfAll ? arithmetic.getLargest(largestOfAll, largest) : largest;
      Value scale = arithmetic.emitScale(problem.format, largest, tensorScale);
      scales.push_back(
          arithmetic.emitStoredScale(problem.format, largest, scale));
      Value words = packedStore.emit(values[round], emitFactor(scale));
      emitIf(b, loc, isInside[round], [&] {
        getStores().storeElements(origins[round], words, kValues);
      });
    }
    if (problem.amax)
      emitJoinLargest(b, loc, largestOfAll, kernel.getArgument(*problem.amax));

    // Each lane of a block stores the scale of another round.
    Value turn = compute({d0 % lanesOfBlock}, lane)[0];
    for (int64_t first = 0; first < rounds; first += lanesOfBlock) {
      int64_t count = std::min(lanesOfBlock, rounds - first);
      Value scale = scales[first];
      MatrixPosition origin = origins[first];
      for (int64_t i = 1; i != count; ++i) {
        Value isTurn = isEqual(b, loc, turn, makeIndex(b, loc, i));
        auto select = [&](Value one, Value other) -> Value {
          return arith::SelectOp::create(b, loc, isTurn, one, other);
        };
        scale = select(scales[first + i], scale);
        origin.row = select(origins[first + i].row, origin.row);
        origin.column = select(origins[first + i].column, origin.column);
      }
      Value hasTurn = isBelow(b, loc, turn, makeIndex(b, loc, count));
      emitIf(b, loc, count == lanesOfBlock ? Value() : hasTurn, [&] {
        getStores().storeScale(origin, scale, fitsRows, fitsColumns);
      });
    }
  }

  /// A block for each thread.
  void buildByThreads() {
    int64_t blockSize = problem.format.blockSize;
    int64_t alongK = isAcrossRows(problem) ? 1 : kThreadsOfRow;
    Value blockM = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value blockK = gpu::BlockIdOp::create(b, loc, gpu::Dimension::y);
    Value batch = getBatch();
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    AffineExpr d0, d1, d2;
    bindDims(b.getContext(), d0, d1, d2);
    SmallVector<Value> at =
        compute({d0 * (kThreads / alongK) + d1.floorDiv(alongK),
                 d2 * alongK + d1 % alongK},
                ValueRange{blockM, thread, blockK});
    MatrixPosition origin = {batch, at[0], compute({d0 * blockSize}, at[1])[0]};
    bool fitsRows = fitRows(kThreads / alongK);
    bool fitsBlocks = fitColumns(alongK * blockSize);
    Value isRow = fitsRows ? Value() : isBelow(b, loc, origin.row, rows);
    Value isBlock =
        fitsBlocks ? Value() : isBelow(b, loc, origin.column, columns);
    Value inside = both(isRow, isBlock);

    // A value is inside if its block is, except in the last block.
    auto isThere = [&](Value column) {
      return problem.mayEnd ? both(isRow, isBelow(b, loc, column, columns))
                            : inside;
    };
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
    SmallVector<Value> values;
    Value largest;
    for (int64_t i = 0; i != blockSize; ++i) {
      Value column = addIndex(b, loc, origin.column, i);
      Value number = emitLoadIf(
          b, loc, isThere(column),
          [&](OpBuilder &then) -> Value {
            return memref::LoadOp::create(
                then, loc, x,
                applyMap(then, loc, problem.map, {batch, origin.row, column}));
          },
          zero);
      values.push_back(arithmetic.toF32(number));
      Value magnitude = arithmetic.getMagnitude(values.back());
      largest = largest ? arithmetic.getLargest(largest, magnitude) : magnitude;
    }
    if (problem.amax)
      emitJoinLargest(b, loc, largest, kernel.getArgument(*problem.amax));
    Value scale = arithmetic.emitScale(problem.format, largest, tensorScale);
    BlockFactor factor = emitFactor(scale);
    // Whole u32 if rows are aligned to them, else as few elements as fill
    // bytes.
    int64_t step = problem.mayEnd ? 8 / problem.elementBits : kValues;
    if (step == 1) {
      // Elements of one byte.
      for (int64_t i = 0; i != blockSize; ++i) {
        MatrixPosition one = origin;
        one.column = addIndex(b, loc, origin.column, i);
        Value code = arithmetic.emitCode(problem.format, values[i], factor);
        Value byte = arith::TruncIOp::create(b, loc, b.getI8Type(), code);
        emitIf(b, loc, isThere(one.column), [&] {
          memref::StoreOp::create(b, loc, byte,
                                  kernel.getArgument(problem.elements),
                                  getPosition(one, one.column));
        });
      }
    } else {
      for (int64_t i = 0; i != blockSize; i += step) {
        MatrixPosition some = origin;
        some.column = addIndex(b, loc, origin.column, i);
        Value words = packedStore.emit(ArrayRef(values).slice(i, step), factor);
        emitIf(b, loc, isThere(some.column),
               [&] { getStores().storeElements(some, words, step); });
      }
    }
    getStores().storeScale(origin, scale, fitsRows, fitsBlocks);
  }

  /// Loads 8 values, as f32.
  SmallVector<Value> loadValues(const MatrixPosition &origin) {
    // Loads are of 16 bytes.
    constexpr int64_t kBits = 128;
    int64_t ofLoad = kBits / element.getIntOrFloatBitWidth();
    SmallVector<Value> values;
    for (int64_t i = 0; i != kValues; i += ofLoad) {
      Value loaded = vector::LoadOp::create(
          b, loc, VectorType::get(ofLoad, element), x,
          getPosition(origin, addIndex(b, loc, origin.column, i)),
          /*nontemporal=*/false, llvm::MaybeAlign(kBits / 8));
      for (int64_t j = 0; j != ofLoad; ++j)
        values.push_back(
            arithmetic.toF32(vector::ExtractOp::create(b, loc, loaded, j)));
    }
    return values;
  }

  QuantizedStores getStores() {
    return {b,
            loc,
            kernel.getArgument(problem.elements),
            kernel.getArgument(problem.scales),
            problem.elementBits,
            problem.format.blockSize,
            rows,
            columns};
  }

  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp kernel;
  const QuantizeProblem &problem;
  BlockArithmetic arithmetic;
  PackedStore packedStore;
  Value x;
  Type element;
  Value rows, columns, tensorScale;
};
} // namespace

void blockscale::buildQuantize(gpu::GPUFuncOp kernel,
                               const QuantizeProblem &problem) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  QuantizeKernel(b, kernel, problem).build();
}
