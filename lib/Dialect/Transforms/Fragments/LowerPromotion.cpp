//===- LowerPromotion.cpp - Factors of sums in lanes ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane has two rows of each fragment, and two columns. Factors of one rank
// are computed once for all of their elements.
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccElements.h"
#include "Fragments/LanePatterns.h"
#include "Fragments/WarpMultiply.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// acc_factors
//===----------------------------------------------------------------------===//

/// The indices in the tile of what a lane needs factors for.
static SmallVector<Value> getFactorIndices(OpBuilder &b, AccFactorsOp op,
                                           Value lane) {
  Location loc = op.getLoc();
  AccType acc = op.getAccType();
  bool areColumns = op.getColumns();
  WarpTile tile = getWarpTile(b, loc, acc);
  Value first = areColumns ? tile.firstColumn : tile.firstRow;
  auto size = static_cast<int64_t>(op.getSize());
  int64_t count = AccFactorsOp::getNumFactors(acc, areColumns, size);
  SmallVector<Value> indices;
  if (size != 1) {
    for (int64_t i = 0; i != count; ++i)
      indices.push_back(addIndex(b, loc, first, i * size));
    return indices;
  }
  const FragmentLayout &fragment = getAccFragment();
  int64_t ofFragment = areColumns ? fragment.columns : fragment.rows;
  AffineExpr d0 = b.getAffineDimExpr(0);
  AccPosition position = getAccPosition(d0, /*reg=*/0);
  Value inFragment =
      applyExpr(b, loc, areColumns ? position.column : position.row, lane);
  first = addIndices(b, loc, first, inFragment);
  constexpr int64_t kOfLane = 2;
  int64_t distance = areColumns ? 1 : kGroupRows;
  for (int64_t i = 0; i != count; ++i)
    indices.push_back(addIndex(
        b, loc, first, i / kOfLane * ofFragment + i % kOfLane * distance));
  return indices;
}

static FailureOr<LaneResults> lowerAccFactors(AccFactorsOp op,
                                              LaneOperands<AccFactorsOp>,
                                              Value lane,
                                              ConversionPatternRewriter &b) {
  SmallVector<Value> factors;
  for (Value index : getFactorIndices(b, op, lane))
    factors.push_back(cloneBody(b, op.getBody().front(), index)[0]);
  Value all =
      vector::FromElementsOp::create(b, op.getLoc(), op.getType(), factors);
  return LaneResults{{all}};
}

//===----------------------------------------------------------------------===//
// acc_promote
//===----------------------------------------------------------------------===//

namespace {
/// Adds partial sums with factors.
class Promoter {
public:
  Promoter(OpBuilder &b, AccPromoteOp op, ValueRange sums, ValueRange partials)
      : b(b), op(op), loc(op.getLoc()), sums(sums), partials(partials) {
    if (op.getRows())
      rows = extractElements(b, loc, op.getRows());
    if (op.getColumns())
      columns = extractElements(b, loc, op.getColumns());
  }

  SmallVector<Value> emit() {
    if (rows.empty() && columns.empty()) {
      SmallVector<Value> results;
      for (auto [sum, partial] : llvm::zip_equal(sums, partials))
        results.push_back(arith::AddFOp::create(b, loc, sum, partial));
      return results;
    }
    return op.getExact() ? emitExact() : emitFast();
  }

private:
  /// Calls `body` for each element with its indices among factors, which are
  /// 0 for an operand without them.
  void forEachElement(function_ref<void(int64_t, int64_t, int64_t)> body) {
    AccType acc = op.getSums().getType();
    auto warps = cast<WarpsAttr>(Attribute(acc.getLayout()));
    const FragmentLayout &fragment = getAccFragment();
    int64_t m = warps.getShareM(acc), n = warps.getShareN(acc), index = 0;
    // The number of a row (column) in the lane, and how many share a factor.
    int64_t laneRows = m / fragment.rows * kRowsOfLane,
            laneColumns = n / fragment.columns * kColumnsOfLane;
    auto getShared = [](int64_t all, ArrayRef<Value> factors) {
      return factors.empty() ? all : all / static_cast<int64_t>(factors.size());
    };
    int64_t ofRow = getShared(laneRows, rows),
            ofColumn = getShared(laneColumns, columns);
    for (int64_t i = 0; i != laneRows; i += kRowsOfLane)
      for (int64_t j = 0; j != laneColumns; j += kColumnsOfLane)
        for (int64_t row = i; row != i + kRowsOfLane; ++row)
          for (int64_t column = j; column != j + kColumnsOfLane; ++column)
            body(index++, row / ofRow, column / ofColumn);
  }

  /// The product of the factors of an element; `multiply` gives that of two.
  Value getFactor(SmallVectorImpl<Value> &known, int64_t row, int64_t column,
                  ArrayRef<Value> ofRows, ArrayRef<Value> ofColumns,
                  function_ref<Value(Value, Value)> multiply) {
    if (ofRows.empty())
      return ofColumns[column];
    if (ofColumns.empty())
      return ofRows[row];
    known.resize(ofRows.size() * ofColumns.size());
    Value &product = known[row * ofColumns.size() + column];
    if (!product)
      product = multiply(ofRows[row], ofColumns[column]);
    return product;
  }

  SmallVector<Value> emitFast() {
    SmallVector<Value> results(sums.size()), known;
    forEachElement([&](int64_t index, int64_t row, int64_t column) {
      Value factor = getFactor(known, row, column, rows, columns,
                               [&](Value lhs, Value rhs) -> Value {
                                 return arith::MulFOp::create(b, loc, lhs, rhs);
                               });
      results[index] =
          math::FmaOp::create(b, loc, partials[index], factor, sums[index]);
    });
    return results;
  }

  SmallVector<Value> emitExact() {
    auto extend = [&](Value value) -> Value {
      return arith::ExtFOp::create(b, loc, b.getF64Type(), value);
    };
    SmallVector<Value> wideRows = llvm::map_to_vector(rows, extend),
                       wideColumns = llvm::map_to_vector(columns, extend);
    SmallVector<Value> results(sums.size()), known;
    forEachElement([&](int64_t index, int64_t row, int64_t column) {
      auto multiply = [&](Value lhs, Value rhs) -> Value {
        return arith::MulFOp::create(b, loc, lhs, rhs);
      };
      Value factor =
          getFactor(known, row, column, wideRows, wideColumns, multiply);
      Value sum =
          arith::AddFOp::create(b, loc, extend(sums[index]),
                                multiply(extend(partials[index]), factor));
      results[index] = arith::TruncFOp::create(b, loc, b.getF32Type(), sum);
    });
    return results;
  }

  OpBuilder &b;
  AccPromoteOp op;
  Location loc;
  ValueRange sums, partials;
  SmallVector<Value> rows, columns;
};
} // namespace

static FailureOr<LaneResults>
lowerAccPromote(AccPromoteOp op, LaneOperands<AccPromoteOp> operands, Value,
                ConversionPatternRewriter &b) {
  return LaneResults{
      Promoter(b, op, operands.getSums(), operands.getPartials()).emit()};
}

void blockscale::populatePromotionPatterns(const TypeConverter &converter,
                                           RewritePatternSet &patterns,
                                           Value lane) {
  addLanePatterns(converter, patterns, lane, lowerAccFactors, lowerAccPromote);
}
