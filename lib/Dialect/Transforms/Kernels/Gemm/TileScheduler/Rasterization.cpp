//===- Rasterization.cpp - The order of tiles -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/TileScheduler/Rasterization.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

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
  AffineExpr d0 = b.getAffineDimExpr(0);
  if (getConstantIntValue(count.n) == 1)
    return {number, makeIndex(b, loc, 0)};
  std::optional<int64_t> knownM = getConstantIntValue(count.m);
  Value rows = makeIndex(b, loc, groupSize);
  Value perGroup = b.createOrFold<arith::MulIOp>(loc, count.n, rows);
  Value group = b.createOrFold<arith::DivUIOp>(loc, number, perGroup);
  Value firstM = applyExprs(b, loc, {d0 * groupSize}, group)[0];
  Value rest = b.createOrFold<arith::RemUIOp>(loc, number, perGroup);
  if (!knownM || *knownM % groupSize != 0) {
    // The last group may have fewer tiles along M.
    Value left = b.createOrFold<arith::SubIOp>(loc, count.m, firstM);
    rows = b.createOrFold<arith::MinUIOp>(loc, left, rows);
  }
  Value inGroup = b.createOrFold<arith::RemUIOp>(loc, rest, rows);
  return {b.createOrFold<arith::AddIOp>(loc, firstM, inGroup),
          b.createOrFold<arith::DivUIOp>(loc, rest, rows)};
}
