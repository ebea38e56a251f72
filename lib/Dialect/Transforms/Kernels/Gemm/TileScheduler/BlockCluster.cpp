//===- BlockCluster.cpp - The position of a block in its cluster ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clusters are along x, as the grid is, so that the rank of a block is its
// index modulo the size of the cluster.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/TileScheduler/BlockCluster.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// Emits values of the position of the block.
class Emitter {
public:
  Emitter(OpBuilder &b, Location loc, ClusterSize size)
      : b(b), loc(loc), size(size),
        block(gpu::BlockIdOp::create(b, loc, gpu::Dimension::x)) {}

  /// The rank of the block in its cluster.
  AffineExpr getRank() const {
    return b.getAffineDimExpr(0) % size.getBlocks();
  }
  Value index(AffineExpr expr) const {
    return applyExprs(b, loc, expr, block)[0];
  }
  Value word(AffineExpr expr) const {
    return b.createOrFold<arith::IndexCastUIOp>(loc, b.getI32Type(),
                                                index(expr));
  }

  /// A bit mask of `count` ranks: `first`, and then every `step`-th one; null
  /// for a single rank.
  Value ranks(AffineExpr first, int64_t count, int64_t step) const {
    if (count == 1)
      return Value();
    int64_t bits = 0;
    for (int64_t i = 0; i != count; ++i)
      bits |= int64_t(1) << (i * step);
    Type i16 = b.getI16Type();
    if (count == size.getBlocks())
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(i16, bits));
    Value mask = makeWord(b, loc, bits);
    Value shifted = b.createOrFold<arith::ShLIOp>(loc, mask, word(first));
    return b.createOrFold<arith::TruncIOp>(loc, i16, shifted);
  }

private:
  OpBuilder &b;
  Location loc;
  ClusterSize size;
  Value block;
};
} // namespace

static constexpr int64_t kPair = 2;

int64_t BlockCluster::getParts(ClusterSize size, bool hasPairs,
                               GemmOperand operand) {
  if (getInfo(operand).isA)
    return size.n;
  return hasPairs && operand == GemmOperand::B ? size.m / kPair : size.m;
}

int64_t BlockCluster::getNumReaders() const {
  return (pairs ? size.m / kPair : size.m) + size.n - 1;
}

BlockCluster::BlockCluster(OpBuilder &b, Location loc, ClusterSize size,
                           bool hasPairs)
    : size(size), pairs(hasPairs) {
  if (!hasOthers())
    return;
  Emitter emit(b, loc, size);
  AffineExpr rank = emit.getRank();
  AffineExpr inRow = rank.floorDiv(size.m), inColumn = rank % size.m;
  row = emit.index(inColumn);
  column = emit.index(inRow);
  Value rowRanks = emit.ranks(inColumn, size.n, size.m);
  Value columnRanks = emit.ranks(inRow * size.m, size.m, 1);
  for (GemmOperand operand : kGemmOperands)
    sharing[operand] = getInfo(operand).isA
                           ? OperandSharing{size.n, column, rowRanks}
                           : OperandSharing{size.m, row, columnRanks};
  auto all = emit.ranks(rank, size.getBlocks(), 1);
  if (pairs) {
    AffineExpr odd = rank % kPair;
    sharing[GemmOperand::B] = {
        size.m / kPair, emit.index(inColumn.floorDiv(kPair)),
        emit.ranks(inRow * size.m + odd, size.m / kPair, kPair)};
    rankInPair = emit.index(odd);
    leader = emit.word(rank - odd);
    Value zero = makeIndex(b, loc, 0);
    leads = isEqual(b, loc, rankInPair, zero);
    pairRanks = emit.ranks(rank - odd, kPair, 1);
    // A 2-CTA cluster has at most 4 blocks: the blocks of one pair share with
    // all others.
    neighborRanks = all;
    return;
  }
  for (int64_t i = 0; i != size.m; ++i)
    neighbors.push_back(emit.word(inRow * size.m + i));
  // This block is in the mask already.
  for (int64_t i = 1; i != size.n; ++i)
    neighbors.push_back(emit.word((inRow + i) % size.n * size.m + inColumn));
  if (size.m == 1 || size.n == 1)
    neighborRanks = all;
  else
    neighborRanks = b.createOrFold<arith::OrIOp>(loc, rowRanks, columnRanks);
}
