//===- IndexExpressions.cpp - Indices of bounded loops --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's simplification does not know the extents of loops, and without
// them a reshape and its inverse do not cancel.
//
//===----------------------------------------------------------------------===//

#include "Raise/IndexExpressions.h"

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

static std::optional<int64_t> getConstant(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

std::optional<int64_t> blockscale::getLargestIndex(AffineExpr index,
                                                   ArrayRef<int64_t> extents) {
  if (std::optional<int64_t> constant = getConstant(index))
    return *constant < 0 ? std::nullopt : constant;
  if (auto dim = dyn_cast<AffineDimExpr>(index)) {
    int64_t extent = extents[dim.getPosition()];
    if (ShapedType::isDynamic(extent) || extent < 1)
      return std::nullopt;
    return extent - 1;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(index);
  if (!binary)
    return std::nullopt;

  std::optional<int64_t> lhs = getLargestIndex(binary.getLHS(), extents);
  std::optional<int64_t> constant = getConstant(binary.getRHS());
  bool isDivisor = constant && *constant > 0;
  int64_t result = 0;
  switch (index.getKind()) {
  case AffineExprKind::Add: {
    std::optional<int64_t> rhs = getLargestIndex(binary.getRHS(), extents);
    if (!lhs || !rhs || llvm::AddOverflow(*lhs, *rhs, result))
      return std::nullopt;
    return result;
  }
  case AffineExprKind::Mul:
    if (!lhs || !constant || *constant < 0 ||
        llvm::MulOverflow(*lhs, *constant, result))
      return std::nullopt;
    return result;
  case AffineExprKind::FloorDiv:
    if (!lhs || !isDivisor)
      return std::nullopt;
    return *lhs / *constant;
  case AffineExprKind::Mod:
    if (!isDivisor)
      return std::nullopt;
    return lhs ? std::min(*lhs, *constant - 1) : *constant - 1;
  default:
    return std::nullopt;
  }
}

/// The terms whose sum is `expr`.
static void collectTerms(AffineExpr expr, SmallVectorImpl<AffineExpr> &terms) {
  if (expr.getKind() != AffineExprKind::Add) {
    terms.push_back(expr);
    return;
  }
  auto sum = cast<AffineBinaryOpExpr>(expr);
  collectTerms(sum.getLHS(), terms);
  collectTerms(sum.getRHS(), terms);
}

namespace {

/// A sum in normal form: loops in order, then other terms in their original
/// order.
class Sum {
public:
  explicit Sum(MLIRContext *context)
      : rest(getAffineConstantExpr(0, context)) {}

  void add(AffineExpr term) {
    AffineExpr base = term;
    int64_t factor = 1;
    if (term.getKind() == AffineExprKind::Mul) {
      auto product = cast<AffineBinaryOpExpr>(term);
      if (std::optional<int64_t> constant = getConstant(product.getRHS())) {
        base = product.getLHS();
        factor = *constant;
      }
    }
    int64_t total = 0;
    if (!isa<AffineConstantExpr>(base) &&
        !llvm::AddOverflow(factors[base], factor, total))
      factors[base] = total;
    else
      rest = rest + term;
  }

  AffineExpr get() {
    joinDivisions();
    SmallVector<AffineExpr> loops, others;
    for (auto [base, factor] : factors)
      (isa<AffineDimExpr>(base) ? loops : others).push_back(base);
    llvm::sort(loops, [](AffineExpr first, AffineExpr second) {
      return cast<AffineDimExpr>(first).getPosition() <
             cast<AffineDimExpr>(second).getPosition();
    });
    AffineExpr sum = getAffineConstantExpr(0, rest.getContext());
    for (AffineExpr base : llvm::concat<AffineExpr>(loops, others))
      sum = sum + base * factors[base];
    return sum + rest;
  }

private:
  llvm::MapVector<AffineExpr, int64_t> factors;
  AffineExpr rest;

  /// e mod c + c * (e floordiv c) is e.
  void joinDivisions() {
    for (auto [base, factor] : llvm::to_vector(factors)) {
      if (base.getKind() != AffineExprKind::Mod)
        continue;
      auto remainder = cast<AffineBinaryOpExpr>(base);
      AffineExpr quotient = getAffineBinaryOpExpr(
          AffineExprKind::FloorDiv, remainder.getLHS(), remainder.getRHS());
      std::optional<int64_t> divisor = getConstant(remainder.getRHS());
      int64_t expected = 0;
      auto *found = factors.find(quotient);
      if (!divisor || found == factors.end() ||
          llvm::MulOverflow(factor, *divisor, expected) ||
          found->second != expected)
        continue;
      factors.erase(quotient);
      factors.erase(base);
      SmallVector<AffineExpr> terms;
      collectTerms(remainder.getLHS(), terms);
      for (AffineExpr term : terms)
        add(term * factor);
    }
  }
};

} // namespace

static AffineExpr addTerms(MLIRContext *context, ArrayRef<AffineExpr> terms) {
  Sum sum(context);
  for (AffineExpr term : terms)
    sum.add(term);
  return sum.get();
}

AffineExpr blockscale::simplifyIndex(AffineExpr index,
                                     ArrayRef<int64_t> extents) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(index);
  if (!binary)
    return index;
  MLIRContext *context = index.getContext();
  AffineExprKind kind = index.getKind();
  SmallVector<AffineExpr> terms;
  if (kind == AffineExprKind::Add) {
    SmallVector<AffineExpr> operands;
    collectTerms(index, operands);
    for (AffineExpr operand : operands)
      collectTerms(simplifyIndex(operand, extents), terms);
    return addTerms(context, terms);
  }

  AffineExpr lhs = simplifyIndex(binary.getLHS(), extents);
  AffineExpr rhs = simplifyIndex(binary.getRHS(), extents);
  collectTerms(lhs, terms);
  std::optional<int64_t> constant = getConstant(rhs);
  if (kind == AffineExprKind::Mul && constant) {
    for (AffineExpr &term : terms)
      term = term * *constant;
    return addTerms(context, terms);
  }
  bool isDivision =
      kind == AffineExprKind::FloorDiv || kind == AffineExprKind::Mod;
  if (!isDivision || !constant || *constant < 1)
    return getAffineBinaryOpExpr(kind, lhs, rhs);

  // lhs = constant * quotient + rest. If 0 <= rest < constant, these are the
  // results.
  SmallVector<AffineExpr> quotients, rests;
  for (AffineExpr term : terms) {
    if (term.isMultipleOf(*constant))
      quotients.push_back(term.floorDiv(*constant));
    else
      rests.push_back(term);
  }
  AffineExpr rest = addTerms(context, rests);
  std::optional<int64_t> largest = getLargestIndex(rest, extents);
  bool isRemainder = largest && *largest < *constant;
  if (kind == AffineExprKind::Mod)
    return isRemainder ? rest : rest % *constant;
  if (!isRemainder)
    quotients.push_back(rest.floorDiv(*constant));
  return addTerms(context, quotients);
}

static bool takeNodes(AffineExpr expr, unsigned &left) {
  if (left == 0)
    return false;
  --left;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary ||
         (takeNodes(binary.getLHS(), left) && takeNodes(binary.getRHS(), left));
}

bool blockscale::isSmall(AffineExpr index, unsigned limit) {
  return takeNodes(index, limit);
}

std::optional<AffineExpr> blockscale::linearize(MLIRContext *context,
                                                ArrayRef<AffineExpr> indices,
                                                ArrayRef<int64_t> shape) {
  AffineExpr position = getAffineConstantExpr(0, context);
  int64_t stride = 1;
  for (auto [index, size] : llvm::reverse(llvm::zip_equal(indices, shape))) {
    if (size == 1)
      continue;
    if (ShapedType::isDynamic(stride))
      return std::nullopt;
    position = position + index * stride;
    if (ShapedType::isDynamic(size))
      stride = ShapedType::kDynamic;
    else if (llvm::MulOverflow(stride, size, stride))
      return std::nullopt;
  }
  return position;
}

std::optional<SmallVector<AffineExpr>>
blockscale::delinearize(AffineExpr position, ArrayRef<int64_t> shape) {
  AffineExpr zero = getAffineConstantExpr(0, position.getContext());
  SmallVector<AffineExpr> indices(shape.size(), zero);
  const int64_t *outermost =
      llvm::find_if(shape, [](int64_t size) { return size != 1; });
  for (const int64_t *size = shape.end(); size != outermost;) {
    --size;
    AffineExpr &index = indices[size - shape.begin()];
    if (size == outermost) {
      index = position;
      break;
    }
    if (*size == 1)
      continue;
    if (*size < 1) // Dynamic or empty.
      return std::nullopt;
    index = position % *size;
    position = position.floorDiv(*size);
  }
  return indices;
}
