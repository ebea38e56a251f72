//===- RaiseParts.cpp - Dimensions of operands by their indices -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which indices an operand has to be read at is known, and the program may keep
// its dimensions in another order, split them or add units.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseParts.h"

#include "Raise/IndexExpressions.h"

using namespace mlir;
using namespace mlir::blockscale;

static bool isZero(AffineExpr expr) {
  auto constant = dyn_cast<AffineConstantExpr>(expr);
  return constant && constant.getValue() == 0;
}

AffineExpr blockscale::normalize(AffineExpr expr, ArrayRef<int64_t> extents) {
  SmallVector<AffineExpr> loops;
  for (auto [loop, extent] : llvm::enumerate(extents))
    loops.push_back(extent == 1 ? getAffineConstantExpr(0, expr.getContext())
                                : getAffineDimExpr(loop, expr.getContext()));
  return simplifyIndex(expr.replaceDims(loops), extents);
}

namespace {
/// Finds the dimensions of an operand, which are read at `parts`, in those of a
/// form. Neighbours in row-major order may be one part.
class PartMatcher {
public:
  PartMatcher(ArrayRef<AffineExpr> parts, ArrayRef<int64_t> extents)
      : parts(parts), extents(extents) {}

  /// A form would match, but may have more elements than the loops read.
  bool isPartial = false;

  std::optional<OperandForm> match(const Access &form) {
    auto type = dyn_cast<RankedTensorType>(form.value.getType());
    if (!type || type.getEncoding())
      return std::nullopt;
    OperandForm result;
    result.value = form.value;
    SmallVector<unsigned> found;
    SmallVector<AffineExpr> open;
    SmallVector<int64_t> openShape;
    ReassociationIndices group;
    bool isWhole = true;
    for (auto [dim, expr] : llvm::enumerate(form.index)) {
      AffineExpr index = normalize(expr, extents);
      int64_t size = type.getDimSize(dim);
      isWhole &= form.isWhole[dim] && hasSize(index, size);
      bool isUnit = isZero(index) && size == 1;
      if (isUnit && open.empty() && !result.groups.empty() &&
          !findPart(index, found)) {
        result.groups.back().push_back(dim);
        continue;
      }
      group.push_back(dim);
      open.push_back(index);
      openShape.push_back(size);
      std::optional<AffineExpr> position =
          linearize(index.getContext(), open, openShape);
      if (!position)
        return std::nullopt;
      // Units in front of a part are of its group, unless they are a part.
      std::optional<unsigned> part =
          findPart(normalize(*position, extents), found);
      if (!part)
        continue;
      // Each dimension of a group may be read to its end, and not its product.
      isWhole &= hasSize(parts[*part], getProduct(openShape));
      found.push_back(*part);
      result.groups.push_back(std::exchange(group, {}));
      open.clear();
      openShape.clear();
    }
    if (!llvm::all_of(open, isZero))
      return std::nullopt;
    if (!result.groups.empty())
      result.groups.back().append(group);
    for (auto [dim, part] : llvm::enumerate(parts)) {
      const auto *position = llvm::find(found, dim);
      if (position != found.end())
        result.permutation.push_back(position - found.begin());
      else if (isZero(part))
        result.units.push_back(dim);
      else
        return std::nullopt;
    }
    isPartial |= !isWhole;
    return isWhole ? std::optional(std::move(result)) : std::nullopt;
  }

private:
  ArrayRef<AffineExpr> parts;
  ArrayRef<int64_t> extents;

  /// The part that is read at `index` and was not found before.
  std::optional<unsigned> findPart(AffineExpr index,
                                   ArrayRef<unsigned> found) const {
    for (auto [part, expected] : llvm::enumerate(parts))
      if (expected == index && !llvm::is_contained(found, part))
        return part;
    return std::nullopt;
  }

  static int64_t getProduct(ArrayRef<int64_t> shape) {
    int64_t product = 1;
    for (int64_t size : shape)
      if (ShapedType::isDynamic(size) ||
          llvm::MulOverflow(product, size, product))
        return ShapedType::kDynamic;
    return product;
  }

  bool hasSize(AffineExpr index, int64_t size) const {
    std::optional<int64_t> largest = getLargestIndex(index, extents);
    if (!largest)
      return true;
    // A dynamic size may be more than one step, even if that is what loops do.
    return ShapedType::isDynamic(size) ? !isZero(index) : *largest == size - 1;
  }
};
} // namespace

std::optional<OperandForm> blockscale::matchParts(const Access &form,
                                                  ArrayRef<AffineExpr> parts,
                                                  ArrayRef<int64_t> extents,
                                                  bool &isPartial) {
  PartMatcher matcher(parts, extents);
  std::optional<OperandForm> result = matcher.match(form);
  isPartial |= matcher.isPartial;
  return result;
}
