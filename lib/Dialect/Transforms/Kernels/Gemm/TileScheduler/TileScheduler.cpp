//===- TileScheduler.cpp - Which tile a block computes next ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/TileScheduler/TileScheduler.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Numbers count the tiles of whole clusters.
struct TileScheduler::LinearTiles {
  TileShape shape;
  int64_t rasterGroup;
  /// The first tile of this block, the distance to its next one, and the number
  /// of all tiles.
  Value first, step, end;
  TileCount count;
  /// How many matrices the result has; null for one. The one of this block;
  /// null if the numbers of tiles go on from one to the next.
  Value matrices, matrix;
};

TileCount TileScheduler::emitTileCount(OpBuilder &b,
                                       const TileShape &of) const {
  TileCount count = blockscale::emitTileCount(b, loc, sizes, of);
  auto isOne = [](std::optional<int64_t> most, int64_t tile) {
    return most && *most <= tile;
  };
  if (isOne(problem.mostM, of.m))
    count.m = makeIndex(b, loc, 1);
  if (isOne(problem.mostN, of.n))
    count.n = makeIndex(b, loc, 1);
  count.perMatrix = b.createOrFold<arith::MulIOp>(loc, count.m, count.n);
  return count;
}

/// See getMostRowTiles of the launch.
Value TileScheduler::emitMostGroupedTiles(OpBuilder &b,
                                          const LinearTiles &tiles) const {
  const RowGroups &groups = *problem.groups;
  Value count = memref::DimOp::create(
      b, loc, gpu::GPUFuncOp(kernel).getArgument(groups.offsets), 0);
  Value rows = groups.areColumns ? sizes.n : sizes.m;
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  int64_t tile = groups.areColumns ? tiles.shape.n : tiles.shape.m;
  Value most = applyExprs(b, loc, d0.ceilDiv(tile) + d1, {rows, count})[0];
  most = arith::MinUIOp::create(b, loc, most, rows);
  return b.createOrFold<arith::MulIOp>(
      loc, most, groups.areColumns ? tiles.count.m : tiles.count.n);
}

TileScheduler::LinearTiles TileScheduler::emitLinearTiles(OpBuilder &b) const {
  LinearTiles tiles;
  tiles.first = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  tiles.step = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  tiles.rasterGroup = schedule.rasterGroup;
  ClusterSize size = schedule.cluster.getSize();
  tiles.shape = {shape.m * size.m, shape.n * size.n, shape.k};
  AffineExpr d0 = b.getAffineDimExpr(0);
  if (schedule.cluster.hasOthers()) {
    for (Value *number : {&tiles.first, &tiles.step})
      *number = applyExprs(b, loc, d0.floorDiv(size.getBlocks()), *number)[0];
    tiles.rasterGroup = llvm::divideCeilSigned(tiles.rasterGroup, size.m);
  }
  tiles.count = emitTileCount(b, tiles.shape);
  tiles.end =
      problem.groups ? emitMostGroupedTiles(b, tiles) : tiles.count.perMatrix;
  if (schedule.order == BlockOrder::PerMatrix) {
    tiles.matrices = gpu::GridDimOp::create(b, loc, gpu::Dimension::y);
    tiles.matrix = gpu::BlockIdOp::create(b, loc, gpu::Dimension::y);
  } else if (problem.resultType.getRank() == 3) {
    tiles.matrices = memref::DimOp::create(
        b, loc, gpu::GPUFuncOp(kernel).getArgument(problem.result), 0);
    tiles.end = b.createOrFold<arith::MulIOp>(loc, tiles.end, tiles.matrices);
  }
  return tiles;
}

void TileScheduler::moveInCluster(OpBuilder &b, WorkTile &tile) const {
  const BlockCluster &cluster = schedule.cluster;
  if (!cluster.hasOthers())
    return;
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  tile.row =
      applyExprs(b, loc, d0 + d1 * shape.m, {tile.row, cluster.getRow()})[0];
  tile.column = applyExprs(b, loc, d0 + d1 * shape.n,
                           {tile.column, cluster.getColumn()})[0];
}

WorkTile TileScheduler::emitNumberedTile(OpBuilder &b, Value number,
                                         const LinearTiles &tiles) const {
  WorkTile tile;
  tile.batch = makeIndex(b, loc, 0);
  if (tiles.matrix) {
    tile.batch = tiles.matrix;
  } else if (tiles.matrices) {
    Value perMatrix = tiles.count.perMatrix;
    tile.batch = b.createOrFold<arith::DivUIOp>(loc, number, perMatrix);
    number = b.createOrFold<arith::RemUIOp>(loc, number, perMatrix);
  }
  auto [tileM, tileN] =
      emitTilePosition(b, loc, number, tiles.count, tiles.rasterGroup);
  AffineExpr d0 = b.getAffineDimExpr(0);
  tile.row = applyExprs(b, loc, {d0 * tiles.shape.m}, tileM)[0];
  tile.column = applyExprs(b, loc, {d0 * tiles.shape.n}, tileN)[0];
  moveInCluster(b, tile);
  return tile;
}

WorkTile TileScheduler::emitTileOfGrid(OpBuilder &b) const {
  WorkTile tile;
  tile.batch = gpu::BlockIdOp::create(b, loc, gpu::Dimension::z);
  Value tileM = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value tileN = gpu::BlockIdOp::create(b, loc, gpu::Dimension::y);
  TileCount count = emitTileCount(b, shape);
  std::optional<int64_t> knownM = getConstantIntValue(count.m);
  bool isOneGroup = (knownM && *knownM <= schedule.rasterGroup) ||
                    getConstantIntValue(count.n) == 1;
  if (!isOneGroup) {
    Value scaled = b.createOrFold<arith::MulIOp>(loc, tileN, count.m);
    Value number = b.createOrFold<arith::AddIOp>(loc, scaled, tileM);
    std::tie(tileM, tileN) =
        emitTilePosition(b, loc, number, count, schedule.rasterGroup);
  }
  AffineExpr d0 = b.getAffineDimExpr(0);
  tile.row = applyExprs(b, loc, {d0 * shape.m}, tileM)[0];
  tile.column = applyExprs(b, loc, {d0 * shape.n}, tileN)[0];
  return tile;
}

/// The range of matrix number `batch` of a result with `matrices`, in steps of
/// `k` elements; `matrices` may be null without split-K. The lengths of ranges
/// differ by at most one step.
static KRange emitSplitKRange(OpBuilder &b, Location loc,
                              const KernelProblem &problem,
                              const ProblemSizes &sizes, int64_t k, Value batch,
                              Value matrices) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value steps = applyExprs(b, loc, {d0.ceilDiv(k)}, sizes.k)[0];
  KRange range = {batch, {}, steps};
  if (problem.splitK == 1)
    return range;
  // As many ranges as the host has allocated results for: none is empty.
  Value one = makeIndex(b, loc, 1);
  bool isDynamic = ShapedType::isDynamic(problem.splitK);
  Value ranges = isDynamic ? matrices : makeIndex(b, loc, problem.splitK);
  if (!isDynamic && ShapedType::isDynamic(problem.k)) {
    ranges = arith::MinUIOp::create(b, loc, steps, ranges);
    ranges = arith::MaxUIOp::create(b, loc, ranges, one);
  }
  Value number = batch;
  range.matrix = makeIndex(b, loc, 0);
  if (problem.hasBatch) {
    Value matricesOfRange =
        b.createOrFold<arith::DivUIOp>(loc, matrices, ranges);
    range.matrix = b.createOrFold<arith::RemUIOp>(loc, number, matricesOfRange);
    number = b.createOrFold<arith::DivUIOp>(loc, number, matricesOfRange);
  }
  // The first ranges get one more step if steps are left over. (Not the
  // difference of two quotients: ptxas 13.0 takes 2^32 too much off a
  // `mul.hi.u32`, extended to 64 bits, if the low half of what is subtracted is
  // 0.)
  Value each = b.createOrFold<arith::DivUIOp>(loc, steps, ranges);
  Value over = b.createOrFold<arith::RemUIOp>(loc, steps, ranges);
  Value before = b.createOrFold<arith::MinUIOp>(loc, number, over);
  Value isLonger = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                                 number, over);
  Value longer = b.createOrFold<arith::AddIOp>(loc, each, one);
  Value whole = b.createOrFold<arith::MulIOp>(loc, number, each);
  range.firstStep = b.createOrFold<arith::AddIOp>(loc, whole, before);
  range.steps = b.createOrFold<arith::SelectOp>(loc, isLonger, longer, each);
  return range;
}

GroupSearch TileScheduler::makeSearch(const LinearTiles &tiles) const {
  const RowGroups &groups = *problem.groups;
  bool areColumns = groups.areColumns;
  return {loc, gpu::GPUFuncOp(kernel).getArgument(groups.offsets),
          areColumns ? tiles.shape.n : tiles.shape.m,
          areColumns ? sizes.n : sizes.m};
}

/// Tiles of the same rows of a group follow each other: they read the same rows
/// of x, and numbers for which there is no tile are the last ones.
SmallVector<Value> TileScheduler::emitGroupedTile(OpBuilder &b, Value number,
                                                  const LinearTiles &tiles,
                                                  SmallVector<Value> &state,
                                                  ValueRange values,
                                                  EmitTile body) const {
  const RowGroups &groups = *problem.groups;
  bool areColumns = groups.areColumns;
  const TileShape &all = tiles.shape;
  Value perGroup = areColumns ? tiles.count.m : tiles.count.n;
  Value groupTile = b.createOrFold<arith::DivUIOp>(loc, number, perGroup);
  Value otherTile = b.createOrFold<arith::RemUIOp>(loc, number, perGroup);
  GroupTile found = makeSearch(tiles).emitTile(b, groupTile, state);
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value zero = makeIndex(b, loc, 0);
  WorkTile tile;
  tile.batch = zero;
  tile.row = found.row;
  tile.column =
      applyExprs(b, loc, {d0 * (areColumns ? all.m : all.n)}, otherTile)[0];
  if (areColumns)
    std::swap(tile.row, tile.column);
  moveInCluster(b, tile);
  Value steps = applyExprs(b, loc, {d0.ceilDiv(shape.k)}, sizes.k)[0];
  Value isNobody = found.group.isNobody;
  if (groups.gathersX)
    // An x without rows has none that could be read.
    isNobody = arith::OrIOp::create(b, loc, isNobody,
                                    isEqual(b, loc, sizes.rowsOfX, zero));
  tile.group = found.group;
  tile.group->isNobody = isNobody;
  static_cast<KRange &>(tile) = {
      found.group.number,
      {},
      arith::SelectOp::create(b, loc, isNobody, zero, steps)};
  auto guard = scf::IfOp::create(b, loc, values.getTypes(), found.isTile,
                                 /*withElseRegion=*/!values.empty());
  OpBuilder then = guard.getThenBodyBuilder();
  SmallVector<Value> results = body(then, tile, values);
  if (!values.empty()) {
    scf::YieldOp::create(then, loc, results);
    OpBuilder otherwise = guard.getElseBodyBuilder();
    scf::YieldOp::create(otherwise, loc, values);
  }
  return llvm::to_vector_of<Value>(guard.getResults());
}

SmallVector<Value> TileScheduler::forEachTile(OpBuilder &b, ValueRange values,
                                              EmitTile body) const {
  auto addRange = [&](OpBuilder &at, WorkTile tile, Value matrices) {
    static_cast<KRange &>(tile) =
        emitSplitKRange(at, loc, problem, sizes, shape.k, tile.batch, matrices);
    return tile;
  };
  if (schedule.order == BlockOrder::Grid) {
    WorkTile tile = emitTileOfGrid(b);
    Value matrices;
    if (problem.splitK != 1)
      matrices = gpu::GridDimOp::create(b, loc, gpu::Dimension::z);
    return body(b, addRange(b, tile, matrices), values);
  }
  LinearTiles tiles = emitLinearTiles(b);
  // With groups, what the search for them knows is carried in front.
  SmallVector<Value> state;
  if (problem.groups)
    state = makeSearch(tiles).emitFirst(b);
  auto emitTile = [&](OpBuilder &at, Value number, ValueRange carried) {
    if (problem.groups)
      return emitGroupedTile(at, number, tiles, state, carried, body);
    WorkTile tile = emitNumberedTile(at, number, tiles);
    return body(at, addRange(at, tile, tiles.matrices), carried);
  };
  if (!hasNextTile())
    return emitTile(b, tiles.first, values);
  SmallVector<Value> all(state);
  llvm::append_range(all, values);
  auto loop =
      scf::ForOp::create(b, loc, tiles.first, tiles.end, tiles.step, all);
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  ValueRange carried = loop.getRegionIterArgs();
  size_t searched = state.size();
  state = llvm::to_vector(carried.take_front(searched));
  SmallVector<Value> next =
      emitTile(inner, loop.getInductionVar(), carried.drop_front(searched));
  next.insert(next.begin(), state.begin(), state.end());
  if (!next.empty())
    scf::YieldOp::create(inner, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults().drop_front(searched));
}
