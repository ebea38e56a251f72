//===- BlockTile.cpp - The tile of a block --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same questions for every kernel whose blocks compute tiles of the result.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/TileScheduler/BlockTile.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// `problem` where dynamic sizes are multiples of those of the tile: N and K,
/// and with `hasWholeM` M. Nullopt if a size that is known is not.
static std::optional<KernelProblem> getAligned(const KernelProblem &problem,
                                               const TileShape &shape,
                                               bool hasWholeM) {
  auto isMultiple = [](int64_t size, int64_t tile) {
    return ShapedType::isDynamic(size) || size % tile == 0;
  };
  if ((hasWholeM && !isMultiple(problem.m, shape.m)) ||
      !isMultiple(problem.n, shape.n) || !isMultiple(problem.k, shape.k))
    return std::nullopt;
  KernelProblem aligned = problem;
  if (hasWholeM && ShapedType::isDynamic(problem.m))
    aligned.x.rowMultiple = aligned.xScale.rowMultiple = shape.m;
  if (ShapedType::isDynamic(problem.n))
    aligned.y.rowMultiple = aligned.yScale.rowMultiple = shape.n;
  if (ShapedType::isDynamic(problem.k)) {
    aligned.x.columnMultiple = aligned.y.columnMultiple = shape.k;
    aligned.xScale.columnMultiple = aligned.yScale.columnMultiple =
        shape.k / problem.types.blockSize;
  }
  return aligned;
}

SmallVector<KnownProblem, 3>
blockscale::getKnownProblems(const KernelProblem &problem,
                             const TileShape &shape) {
  SmallVector<KnownProblem, 3> paths;
  std::optional<KernelProblem> aligned =
      getAligned(problem, shape, /*hasWholeM=*/true);
  bool isDynamic = llvm::any_of(ArrayRef({problem.m, problem.n, problem.k}),
                                ShapedType::isDynamic);
  if (aligned)
    paths.push_back({*aligned, /*isGuarded=*/false});
  if (aligned && !isDynamic)
    return paths;
  // Of few rows, what takes time is to read y: its scales are not whole words
  // unless that is known of K.
  constexpr int64_t kFewRows = 64;
  if (!KernelProblem::isMultiple(problem.m, shape.m) && shape.m <= kFewRows &&
      ShapedType::isDynamic(problem.k))
    if (auto few = getAligned(problem, shape, /*hasWholeM=*/false))
      paths.push_back({*few, /*isGuarded=*/true});
  paths.push_back({problem, /*isGuarded=*/true});
  return paths;
}

/// Whether dynamic sizes are multiples of those of the tile, as `path` has
/// them; null for always.
static Value emitIsTaken(OpBuilder &b, Location loc, const KnownProblem &path,
                         const KernelProblem &problem,
                         const ProblemSizes &sizes, const TileShape &shape) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value isTaken;
  auto require = [&](Value size, int64_t known, int64_t multiple) {
    if (!ShapedType::isDynamic(known))
      return;
    Value rest = arith::RemUIOp::create(b, loc, size, index(multiple));
    Value isWhole =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, index(0));
    isTaken =
        isTaken ? arith::AndIOp::create(b, loc, isTaken, isWhole) : isWhole;
  };
  if (!path.isGuarded)
    require(sizes.m, problem.m, shape.m);
  require(sizes.n, problem.n, shape.n);
  require(sizes.k, problem.k, shape.k);
  return isTaken;
}

void blockscale::forEachAlignment(
    OpBuilder &b, Location loc, const KernelProblem &problem,
    const ProblemSizes &sizes, const TileShape &shape,
    function_ref<void(OpBuilder &, const KernelProblem &, bool isGuarded)>
        build) {
  SmallVector<KnownProblem, 3> paths = getKnownProblems(problem, shape);
  OpBuilder::InsertionGuard guard(b);
  for (const KnownProblem &path : ArrayRef(paths).drop_back()) {
    Value isTaken = emitIsTaken(b, loc, path, problem, sizes, shape);
    auto branch = scf::IfOp::create(b, loc, isTaken, /*withElseRegion=*/true);
    OpBuilder then = branch.getThenBodyBuilder();
    build(then, path.problem, path.isGuarded);
    b.setInsertionPointToStart(branch.elseBlock());
  }
  build(b, paths.back().problem, paths.back().isGuarded);
}

TileCount blockscale::emitTileCount(OpBuilder &b, Location loc,
                                    const ProblemSizes &sizes,
                                    const TileShape &shape) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  auto divide = [&](Value size, int64_t tile) {
    return applyExprs(b, loc, {d0.ceilDiv(tile)}, size)[0];
  };
  TileCount count;
  count.m = divide(sizes.m, shape.m);
  count.n = divide(sizes.n, shape.n);
  count.perMatrix = b.createOrFold<arith::MulIOp>(loc, count.m, count.n);
  return count;
}

std::pair<Value, Value> blockscale::emitTilePosition(OpBuilder &b, Location loc,
                                                     Value number,
                                                     const TileCount &count,
                                                     int64_t groupSize) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  AffineExpr d0 = b.getAffineDimExpr(0);
  std::optional<int64_t> knownM = getConstantIntValue(count.m);
  Value rows = index(groupSize);
  Value perGroup = b.createOrFold<arith::MulIOp>(loc, count.n, rows);
  Value group = b.createOrFold<arith::DivUIOp>(loc, number, perGroup);
  Value firstM = applyExprs(b, loc, {d0 * groupSize}, group)[0];
  Value rest = b.createOrFold<arith::RemUIOp>(loc, number, perGroup);
  if (!knownM || *knownM % groupSize != 0) {
    // The last group has fewer tiles along M.
    Value left = b.createOrFold<arith::SubIOp>(loc, count.m, firstM);
    rows = b.createOrFold<arith::MinUIOp>(loc, left, rows);
  }
  Value inGroup = b.createOrFold<arith::RemUIOp>(loc, rest, rows);
  return {b.createOrFold<arith::AddIOp>(loc, firstM, inGroup),
          b.createOrFold<arith::DivUIOp>(loc, rest, rows)};
}

void blockscale::forEachTileOfBlock(
    OpBuilder &b, gpu::GPUFuncOp kernel, const KernelProblem &problem,
    const ProblemSizes &sizes, const TileShape &shape, int64_t groupSize,
    const BlockCluster &cluster, ValueRange values,
    function_ref<SmallVector<Value>(OpBuilder &, const BlockTile &, Value,
                                    ValueRange)>
        body) {
  Location loc = kernel.getLoc();
  Value first = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value step = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  // What is counted are tiles of clusters.
  ClusterSize size = cluster.getSize();
  TileShape all = {shape.m * size.m, shape.n * size.n, shape.k};
  AffineExpr d0 = b.getAffineDimExpr(0);
  if (cluster.hasOthers()) {
    first = applyExprs(b, loc, d0.floorDiv(size.getBlocks()), first)[0];
    step = applyExprs(b, loc, d0.floorDiv(size.getBlocks()), step)[0];
    groupSize = llvm::divideCeilSigned(groupSize, size.m);
  }
  TileCount count = emitTileCount(b, loc, sizes, all);
  Value tiles = count.perMatrix, matrices;
  if (problem.resultType.getRank() == 3) {
    matrices =
        memref::DimOp::create(b, loc, kernel.getArgument(problem.result), 0);
    tiles = b.createOrFold<arith::MulIOp>(loc, tiles, matrices);
  }
  auto loop = scf::ForOp::create(b, loc, first, tiles, step, values);
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  BlockTile tile;
  Value number = loop.getInductionVar();
  tile.batch = arith::ConstantIndexOp::create(inner, loc, 0);
  if (matrices) {
    tile.batch =
        inner.createOrFold<arith::DivUIOp>(loc, number, count.perMatrix);
    number = inner.createOrFold<arith::RemUIOp>(loc, number, count.perMatrix);
  }
  auto [tileM, tileN] = emitTilePosition(inner, loc, number, count, groupSize);
  tile.row = applyExprs(inner, loc, {d0 * all.m}, tileM)[0];
  tile.column = applyExprs(inner, loc, {d0 * all.n}, tileN)[0];
  if (cluster.hasOthers()) {
    AffineExpr d1 = b.getAffineDimExpr(1);
    tile.row = applyExprs(inner, loc, d0 + d1 * shape.m,
                          {tile.row, cluster.getRow()})[0];
    tile.column = applyExprs(inner, loc, d0 + d1 * shape.n,
                             {tile.column, cluster.getColumn()})[0];
  }
  SmallVector<Value> next =
      body(inner, tile, matrices, loop.getRegionIterArgs());
  if (!next.empty())
    scf::YieldOp::create(inner, loc, next);
}

std::pair<Value, Value> blockscale::emitRasterization(OpBuilder &b,
                                                      Location loc,
                                                      const ProblemSizes &sizes,
                                                      const TileShape &shape) {
  Value x = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value y = gpu::BlockIdOp::create(b, loc, gpu::Dimension::y);
  TileCount count = emitTileCount(b, loc, sizes, shape);
  std::optional<int64_t> knownM = getConstantIntValue(count.m);
  if ((knownM && *knownM <= kTileGroup) || getConstantIntValue(count.n) == 1)
    return {x, y};
  Value scaledY = b.createOrFold<arith::MulIOp>(loc, y, count.m);
  Value number = b.createOrFold<arith::AddIOp>(loc, scaledY, x);
  return emitTilePosition(b, loc, number, count, kTileGroup);
}
