//===- KnownMultiple.cpp - Divisors of indices ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiling and slicing are legal only at whole blocks and atoms, which must be
// known at compile time.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/KnownMultiple.h"

#include "blockscale/Dialect/IR/IndexMap.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::blockscale;

namespace {

/// A query, with a budget for its work.
class MultipleQuery {
public:
  explicit MultipleQuery(llvm::function_ref<bool(Value, int64_t)> isMultiple)
      : isMultipleOfUser(isMultiple) {}

  bool isMultiple(OpFoldResult value, int64_t divisor) {
    if (divisor == 1)
      return true;
    if (!spend())
      return false;
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return *constant % divisor == 0;
    auto known = cast<Value>(value);
    if (auto arg = dyn_cast<BlockArgument>(known))
      return isInductionMultiple(arg, divisor) || askUser(known, divisor);
    return isResultMultiple(known.getDefiningOp(), divisor) ||
           askUser(known, divisor);
  }

private:
  /// Uses one unit of the budget; false if none is left.
  bool spend() {
    if (budget == 0)
      return false;
    --budget;
    return true;
  }

  bool askUser(Value value, int64_t divisor) {
    return isMultipleOfUser && isMultipleOfUser(value, divisor);
  }

  /// A product with one constant factor.
  template <typename Operand>
  bool isProductMultiple(Operand operand, std::optional<int64_t> factor,
                         int64_t divisor) {
    if (!factor || *factor == 0 || *factor == INT64_MIN)
      return factor == 0;
    return recurse(operand, divisor / std::gcd(divisor, *factor));
  }

  /// A quotient by a constant: exact if the dividend is a multiple of the
  /// product.
  template <typename Operand>
  bool isQuotientMultiple(Operand operand, std::optional<int64_t> by,
                          int64_t divisor) {
    int64_t both;
    return by && *by > 0 && !llvm::MulOverflow(divisor, *by, both) &&
           recurse(operand, both);
  }

  bool recurse(Value value, int64_t divisor) {
    return isMultiple(value, divisor);
  }

  /// An affine expression over operands, dimensions before symbols.
  struct Expr {
    AffineExpr expr;
    unsigned numDims;
    ValueRange operands;
    /// Whether it is arithmetic on integers that wrap.
    bool wraps;
  };

  bool recurse(Expr of, int64_t divisor) {
    auto part = [&](AffineExpr expr) {
      return Expr{expr, of.numDims, of.operands, of.wraps};
    };
    if (divisor == 1)
      return true;
    if (!spend())
      return false;
    if (auto constant = dyn_cast<AffineConstantExpr>(of.expr))
      return constant.getValue() % divisor == 0;
    if (auto dim = dyn_cast<AffineDimExpr>(of.expr))
      return isMultiple(of.operands[dim.getPosition()], divisor);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(of.expr))
      return isMultiple(of.operands[of.numDims + symbol.getPosition()],
                        divisor);
    auto binary = cast<AffineBinaryOpExpr>(of.expr);
    Expr lhs = part(binary.getLHS()), rhs = part(binary.getRHS());
    std::optional<int64_t> factor;
    if (auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      factor = constant.getValue();
    switch (binary.getKind()) {
    case AffineExprKind::Add:
    case AffineExprKind::Mod:
      return recurse(lhs, divisor) && recurse(rhs, divisor);
    case AffineExprKind::Mul:
      return factor ? isProductMultiple(lhs, factor, divisor)
                    : recurse(lhs, divisor) || recurse(rhs, divisor);
    case AffineExprKind::FloorDiv:
    case AffineExprKind::CeilDiv:
      if (of.wraps && factor && !llvm::isPowerOf2_64(*factor))
        return false;
      return isQuotientMultiple(lhs, factor, divisor);
    default:
      return false;
    }
  }

  /// An induction variable that starts at a multiple and steps by multiples.
  bool isInductionMultiple(BlockArgument arg, int64_t divisor) {
    auto loop =
        dyn_cast_or_null<LoopLikeOpInterface>(arg.getOwner()->getParentOp());
    if (!loop)
      return false;
    std::optional<SmallVector<Value>> ivs = loop.getLoopInductionVars();
    std::optional<SmallVector<OpFoldResult>> starts = loop.getLoopLowerBounds();
    std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
    if (!ivs || !starts || !steps)
      return false;
    for (auto [iv, start, step] : llvm::zip_equal(*ivs, *starts, *steps))
      if (iv == arg)
        return isMultiple(start, divisor) && isMultiple(step, divisor);
    return false;
  }

  bool isResultMultiple(Operation *op, int64_t divisor) {
    bool wraps = isa_and_nonnull<arith::ArithDialect>(op->getDialect());
    // A power of two still divides an integer after it wraps.
    if (wraps && !llvm::isPowerOf2_64(divisor))
      return false;
    if (AffineMap map = getIndexMap(op))
      return isMapMultiple(map, op->getOperands(), wraps, divisor);
    auto areAll = [&](Operation *any) {
      return llvm::all_of(any->getOperands(), [&](Value operand) {
        return isMultiple(operand, divisor);
      });
    };
    return TypeSwitch<Operation *, bool>(op)
        .Case<affine::AffineMinOp, affine::AffineMaxOp>([&](auto bound) {
          return isMapMultiple(bound.getMap(), bound.getOperands(), wraps,
                               divisor);
        })
        .Case<arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
              arith::MaxUIOp, arith::IndexCastOp>(areAll)
        .Case([&](arith::SelectOp select) {
          return isMultiple(select.getTrueValue(), divisor) &&
                 isMultiple(select.getFalseValue(), divisor);
        })
        .Case([&](arith::ShLIOp shift) {
          std::optional<int64_t> by = getConstantIntValue(shift.getRhs());
          return by && *by >= 0 && *by < 63 &&
                 isProductMultiple(shift.getLhs(), int64_t(1) << *by, divisor);
        })
        .Default(false);
  }

  /// Whether all results of a map are multiples.
  bool isMapMultiple(AffineMap map, ValueRange operands, bool wraps,
                     int64_t divisor) {
    return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
      return recurse(Expr{expr, map.getNumDims(), operands, wraps}, divisor);
    });
  }

  // The most values and expressions to visit. Tiling makes short chains.
  unsigned budget = 256;
  llvm::function_ref<bool(Value, int64_t)> isMultipleOfUser;
};

} // namespace

bool blockscale::isKnownMultiple(
    OpFoldResult value, int64_t divisor,
    llvm::function_ref<bool(Value, int64_t)> isMultiple) {
  return MultipleQuery(isMultiple).isMultiple(value, divisor);
}
