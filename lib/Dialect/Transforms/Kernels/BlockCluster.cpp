//===- BlockCluster.cpp - The cluster of a block --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clusters are along x, as blocks are, so that ranks are what is left of the
// numbers of blocks.
//
//===----------------------------------------------------------------------===//

#include "Kernels/BlockCluster.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

/// `count` ranks, the first of which is `first`, each `step` after the one in
/// front.
static Value emitRanks(OpBuilder &b, Location loc, Value first, int64_t count,
                       int64_t step) {
  if (count == 1)
    return Value();
  int64_t bits = 0;
  for (int64_t i = 0; i != count; ++i)
    bits |= int64_t(1) << (i * step);
  Value ranks = arith::ConstantOp::create(
      b, loc, b.getI32IntegerAttr(static_cast<int32_t>(bits)));
  Value distance =
      b.createOrFold<arith::IndexCastUIOp>(loc, b.getI32Type(), first);
  ranks = b.createOrFold<arith::ShLIOp>(loc, ranks, distance);
  return b.createOrFold<arith::TruncIOp>(loc, b.getI16Type(), ranks);
}

BlockCluster::BlockCluster(OpBuilder &b, Location loc, ClusterSize size)
    : size(size) {
  if (!hasOthers())
    return;
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  AffineExpr rank = b.getAffineDimExpr(0) % size.getBlocks();
  AffineExpr inRow = rank.floorDiv(size.m), inColumn = rank % size.m;
  auto apply = [&](AffineExpr expr) {
    return applyExprs(b, loc, expr, block)[0];
  };
  row = apply(inColumn);
  column = apply(inRow);
  rowRanks = emitRanks(b, loc, row, size.n, size.m);
  columnRanks = emitRanks(b, loc, apply(inRow * size.m), size.m, 1);
  auto add = [&](AffineExpr expr) {
    neighbors.push_back(
        b.createOrFold<arith::IndexCastUIOp>(loc, b.getI32Type(), apply(expr)));
  };
  for (int64_t i = 0; i != size.m; ++i)
    add(inRow * size.m + i);
  // This block is among those already.
  for (int64_t i = 1; i != size.n; ++i)
    add((inRow + i) % size.n * size.m + inColumn);
}
