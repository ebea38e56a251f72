//===- FactorLoader.cpp - Factors of partial sums -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/FactorLoader.h"

#include "Utils/AccFragment.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::blockscale;

FactorLoader::FactorLoader(gpu::GPUFuncOp kernel, const KernelProblem &problem,
                           const ProblemSizes &sizes, AccType acc,
                           const WorkTile &tile, Value gathered)
    : kernel(kernel), loc(kernel.getLoc()), problem(problem),
      promotion(*problem.promotion), sizes(sizes), acc(acc), tile(tile),
      gathered(gathered) {}

/// How many neighboring rows (columns) of a warp are known to share a factor:
/// blocks start at multiples of their size, and so do the parts of warps at
/// multiples of such a power of two.
static int64_t getShared(AccType acc, bool areColumns, int64_t rowsOfBlock) {
  if (rowsOfBlock == 1)
    return 1;
  auto warps = cast<WarpsAttr>(Attribute(acc.getLayout()));
  int64_t share = areColumns ? warps.getShareN(acc) : warps.getShareM(acc);
  constexpr int64_t kMost = 128;
  int64_t size = std::min(kMost, share & -share);
  const FragmentLayout &fragment = getAccFragment();
  return size % (areColumns ? fragment.columns : fragment.rows) == 0 ? size : 1;
}

/// Whether no tile reaches beyond the rows (columns) of the result. Those of a
/// cluster may lie behind it as a whole.
bool FactorLoader::areTilesInside(bool isX) const {
  auto schedule =
      dyn_cast<WarpSpecializedScheduleAttr>(Attribute(problem.schedule));
  bool isAlone = !schedule || schedule.getCluster().getBlocks() == 1;
  return isAlone && !(isX && problem.groups) &&
         KernelProblem::isMultiple(isX ? problem.m : problem.n,
                                   isX ? acc.getM() : acc.getN());
}

/// The row (column) of row (column) `inTile` of the tile. Rows behind the last
/// one have no factors; and those of the next group must not say how the warp
/// multiplies (see `emitIsInRange`), or its bits would depend on them.
Value FactorLoader::emitRow(OpBuilder &b, bool isX, Value inTile) const {
  if (isX && gathered) {
    Value row = memref::LoadOp::create(b, loc, gathered, inTile);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), row);
  }
  Value row = addIndices(b, loc, inTile, isX ? tile.row : tile.column);
  if (areTilesInside(isX))
    return row;
  Value last = addIndex(b, loc, isX ? tile.getEndRow(sizes.m) : sizes.n, -1);
  return arith::MinUIOp::create(b, loc, row, last);
}

Value FactorLoader::loadFactor(OpBuilder &b, const SumFactors &factors,
                               Value row, Value column) const {
  AffineExpr d0 = b.getAffineDimExpr(0);
  int64_t rows = factors.block.rows;
  if (rows != 1)
    row = applyExpr(b, loc,
                    rows == ScaleBlock::kAll ? b.getAffineConstantExpr(0)
                                             : d0.floorDiv(rows),
                    row);
  Value batch = getOperandBatch(b, kernel, factors.operand, tile.matrix);
  Value memory = kernel.getArgument(factors.operand.argument);
  SmallVector<Value> position;
  for (AffineExpr expr : factors.operand.map.getResults())
    position.push_back(applyExpr(b, loc, expr, {batch, row, column}));
  Value factor = memref::LoadOp::create(b, loc, memory, position);
  if (factors.format == Format::None)
    return factor;
  if (!factor.getType().isInteger())
    factor = arith::BitcastOp::create(b, loc, b.getI8Type(), factor);
  return arith::TruncFOp::create(b, loc, b.getF32Type(),
                                 emitDecode(b, loc, factor, factors.format));
}

Value FactorLoader::loadSide(OpBuilder &b, bool isX, const SumFactors &factors,
                             Value k) const {
  // The block along K is the same for all of them.
  Value last = addIndex(b, loc, sizes.k, -1);
  k = arith::MinUIOp::create(b, loc, k, last);
  int64_t size = factors.block.k;
  Value column =
      size == ScaleBlock::kAll
          ? makeIndex(b, loc, 0)
          : applyExpr(b, loc, b.getAffineDimExpr(0).floorDiv(size), k);
  int64_t shared = getShared(acc, !isX, factors.block.rows);
  int64_t count = AccFactorsOp::getNumFactors(acc, !isX, shared);
  auto op = AccFactorsOp::create(b, loc, VectorType::get(count, b.getF32Type()),
                                 acc, shared, /*columns=*/!isX);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&op.getBody(), {}, b.getIndexType(), loc);
  Value row = emitRow(b, isX, body->getArgument(0));
  YieldOp::create(b, loc, loadFactor(b, factors, row, column));
  return op;
}

FactorLoader::Factors FactorLoader::load(OpBuilder &b, Value k) const {
  return promotion.isWhole ? Factors() : loadSides(b, k);
}

FactorLoader::Factors FactorLoader::loadSides(OpBuilder &b, Value k) const {
  Factors factors;
  factors.k = k;
  if (promotion.x)
    factors.rows = loadSide(b, /*isX=*/true, *promotion.x, k);
  if (promotion.y)
    factors.columns = loadSide(b, /*isX=*/false, *promotion.y, k);
  return factors;
}

FactorLoader::Factors FactorLoader::getFactors(ValueRange values,
                                               Value k) const {
  Factors factors;
  factors.k = k;
  if (promotion.isWhole)
    return factors;
  if (promotion.x)
    factors.rows = values.front();
  if (promotion.y)
    factors.columns = values.back();
  return factors;
}

Value FactorLoader::emitIsInRange(OpBuilder &b, const Factors &factors) const {
  // As integers, magnitudes have the same order; infinity and NaN are above.
  constexpr uint32_t kMagnitude = 0x7fffffff;
  constexpr float kLeast = 0x1p-50f, kMost = 0x1p50f;
  auto constant = [&](uint32_t bits) {
    return makeWord(b, loc, static_cast<int32_t>(bits));
  };
  Value least, most;
  for (Value vector : {factors.rows, factors.columns}) {
    if (!vector)
      continue;
    for (Value factor : extractElements(b, loc, vector)) {
      Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), factor);
      bits = arith::AndIOp::create(b, loc, bits, constant(kMagnitude));
      least = least ? Value(arith::MinUIOp::create(b, loc, least, bits)) : bits;
      most = most ? Value(arith::MaxUIOp::create(b, loc, most, bits)) : bits;
    }
  }
  if (!least)
    return {};
  auto compare = [&](arith::CmpIPredicate predicate, Value bits, float limit) {
    return arith::CmpIOp::create(b, loc, predicate, bits,
                                 constant(llvm::bit_cast<uint32_t>(limit)));
  };
  Value isInRange = arith::AndIOp::create(
      b, loc, compare(arith::CmpIPredicate::uge, least, kLeast),
      compare(arith::CmpIPredicate::ule, most, kMost));
  constexpr int32_t kAllLanes = -1;
  return NVVM::VoteSyncOp::create(b, loc, b.getI1Type(),
                                  makeWord(b, loc, kAllLanes), isInRange,
                                  NVVM::VoteSyncKind::all);
}

FactorLoader::Prepared FactorLoader::prepare(OpBuilder &b,
                                             const Factors &factors) const {
  Prepared prepared = {factors, emitIsInRange(b, factors)};
  auto &[rows, columns, k] = prepared.factors;
  if (!rows || !columns ||
      cast<VectorType>(columns.getType()).getNumElements() != 1)
    return prepared;
  // One factor of all columns is multiplied once.
  Value column = vector::ExtractOp::create(b, loc, columns, int64_t(0));
  column = vector::BroadcastOp::create(b, loc, rows.getType(), column);
  rows = arith::MulFOp::create(b, loc, rows, column);
  columns = {};
  return prepared;
}

Value FactorLoader::promote(OpBuilder &b, Value sums, Value partials,
                            const Prepared &prepared) const {
  auto create = [&](OpBuilder &at, const Factors &factors, bool isExact) {
    return AccPromoteOp::create(at, loc, acc, sums, partials, factors.rows,
                                factors.columns, isExact);
  };
  if (!prepared.isInRange)
    return create(b, prepared.factors, /*isExact=*/false);
  auto guard = scf::IfOp::create(b, loc, acc, prepared.isInRange,
                                 /*withElseRegion=*/true);
  OpBuilder then = guard.getThenBodyBuilder();
  scf::YieldOp::create(
      then, loc, create(then, prepared.factors, /*isExact=*/false).getResult());
  // A rare case, for which nothing stays in registers.
  OpBuilder otherwise = guard.getElseBodyBuilder();
  Factors factors = loadSides(otherwise, prepared.factors.k);
  scf::YieldOp::create(
      otherwise, loc, create(otherwise, factors, /*isExact=*/true).getResult());
  return guard.getResult(0);
}

Value FactorLoader::finish(OpBuilder &b, Value sums) const {
  if (!promotion.isWhole)
    return sums;
  Factors factors = loadSides(b, makeIndex(b, loc, 0));
  Value zero = AccZeroOp::create(b, loc, acc);
  return promote(b, zero, sums, prepare(b, factors));
}
