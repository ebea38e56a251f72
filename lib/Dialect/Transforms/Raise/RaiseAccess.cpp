//===- RaiseAccess.cpp - Elements that a loop reads -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dequantization can be written in many ways that read the same elements. Each
// op that only moves elements has one rule here.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseAccess.h"

#include "Raise/GroupBounds.h"
#include "Raise/IndexExpressions.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Reshapes duplicate parts of an index, so a chain of them could grow it
/// without limit.
static constexpr unsigned kMaxIndexNodes = 32;

static ArrayRef<int64_t> getShape(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

/// An access of `source` whose indices are not set yet (0).
static Access makeAccess(const Access &access, Value source) {
  Access next;
  next.value = source;
  next.isAbsolute = access.isAbsolute;
  if (auto type = dyn_cast<ShapedType>(source.getType())) {
    next.index.assign(type.getRank(),
                      getAffineConstantExpr(0, source.getContext()));
    next.isWhole.assign(type.getRank(), true);
  }
  return next;
}

bool blockscale::isSmall(AffineMap map) {
  return llvm::all_of(map.getResults(), [](AffineExpr expr) {
    return isSmall(expr, kMaxIndexNodes);
  });
}

/// Whether `index` is known to reach the last one of a dimension of `size`.
static bool reachesEnd(AffineExpr index, int64_t size, const Loops &loops) {
  std::optional<int64_t> largest =
      getLargestIndex(simplifyIndex(index, loops.extents), loops.extents);
  return largest && !ShapedType::isDynamic(size) && *largest == size - 1;
}

/// Steps to `next`, simplified.
static bool take(Access &access, Access next, const Loops &loops) {
  for (AffineExpr &expr : next.index) {
    expr = simplifyIndex(expr, loops.extents);
    if (!isSmall(expr, kMaxIndexNodes))
      return false;
  }
  access = std::move(next);
  return true;
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

Access blockscale::accessOperand(const Access &access, linalg::LinalgOp op,
                                 OpOperand &operand, const Loops &loops) {
  Access next = makeAccess(access, operand.get());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (dim == next.index.size()) // A scalar.
      break;
    next.index[dim] =
        simplifyIndex(expr.replaceDims(access.index), loops.extents);
    int64_t size = getShape(operand.get())[dim];
    std::optional<int64_t> largest =
        getLargestIndex(next.index[dim], loops.extents);
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      next.isWhole[dim] = access.isWhole[loop.getPosition()];
    else
      next.isWhole[dim] =
          largest && !ShapedType::isDynamic(size) && *largest == size - 1;
  }
  return next;
}

/// Follows an argument of a body to the operand.
static bool followArgument(Access &access, const Loops &loops) {
  auto argument = dyn_cast<BlockArgument>(access.value);
  if (!access.body || !argument ||
      argument.getOwner() != access.body.getBlock())
    return false;
  OpOperand *operand = access.body.getMatchingOpOperand(argument);
  if (!isSmall(access.body.getMatchingIndexingMap(operand)))
    return false;
  return take(access, accessOperand(access, access.body, *operand, loops),
              loops);
}

/// `value`, an index in the body of `access`, as an expression of loops; null
/// if it is none.
static AffineExpr getIndex(const Access &access, Value value,
                           const Loops &loops) {
  value = stripIndexCasts(value);
  if (value == loops.named)
    return loops.namedLoop;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getAffineConstantExpr(*constant, value.getContext());
  if (auto index = value.getDefiningOp<linalg::IndexOp>())
    return access.index[index.getDim()];
  Operation *op = value.getDefiningOp();
  // Loops are not negative, so all divisions are alike.
  if (op && isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op)) {
    AffineExpr dividend = getIndex(access, op->getOperand(0), loops);
    std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1));
    return dividend && divisor && *divisor > 0 ? dividend.floorDiv(*divisor)
                                               : AffineExpr();
  }
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply || !isSmall(apply.getAffineMap()))
    return {};
  SmallVector<AffineExpr> operands;
  for (Value operand : apply.getMapOperands())
    operands.push_back(getIndex(access, operand, loops));
  if (!llvm::all_of(operands, [](AffineExpr expr) { return bool(expr); }))
    return {};
  unsigned numDims = apply.getAffineMap().getNumDims();
  return apply.getAffineMap().getResult(0).replaceDimsAndSymbols(
      ArrayRef(operands).take_front(numDims),
      ArrayRef(operands).drop_front(numDims));
}

/// Follows an element that the body reads at indices of loops, one of which a
/// number stands for.
static bool followExtract(Access &access, tensor::ExtractOp op,
                          const Loops &loops) {
  if (!loops.named || op->getBlock() != access.body.getBlock() ||
      access.body->isAncestor(op.getTensor().getParentRegion()->getParentOp()))
    return false;
  Access next = makeAccess(access, op.getTensor());
  for (auto [dim, value] : llvm::enumerate(op.getIndices())) {
    AffineExpr index = getIndex(access, value, loops);
    if (!index)
      return false;
    next.index[dim] = simplifyIndex(index, loops.extents);
    int64_t size = getShape(op.getTensor())[dim];
    std::optional<int64_t> largest =
        getLargestIndex(next.index[dim], loops.extents);
    next.isWhole[dim] =
        largest && !ShapedType::isDynamic(size) && *largest == size - 1;
  }
  return take(access, std::move(next), loops);
}

/// Follows the result of an op, whose loops are all parallel, into its body.
static bool followStructuredOp(Access &access, linalg::LinalgOp op,
                               const Loops &loops) {
  auto result = cast<OpResult>(access.value);
  if (!op.isAllParallelLoops() || !isa<ShapedType>(result.getType()))
    return false;
  AffineMap map = op.getIndexingMapMatchingResult(result);
  if (!map.isPermutation())
    return false;
  Operation *yield = op.getBlock()->getTerminator();
  Access next;
  next.value = yield->getOperand(result.getResultNumber());
  next.isAbsolute = access.isAbsolute;
  next.body = op;
  AffineMap inverse = inversePermutation(map);
  for (AffineExpr expr : inverse.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    next.index.push_back(access.index[dim]);
    next.isWhole.push_back(access.isWhole[dim]);
  }
  return take(access, std::move(next), loops);
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// Sets the indices of the dimensions `sources` of `next`, which hold the same
/// elements as the dimensions `results` of `access`, in row-major order.
static bool followGroup(const Access &access, ArrayRef<int64_t> results,
                        Access &next, ArrayRef<int64_t> sources, Loops &loops) {
  if (results.size() == 1 && sources.size() == 1) {
    next.index[sources[0]] = access.index[results[0]];
    next.isWhole[sources[0]] = access.isWhole[results[0]];
    return true;
  }
  auto select = [](ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(dims, [&](int64_t dim) { return shape[dim]; });
  };
  SmallVector<int64_t> sourceShape = select(getShape(next.value), sources);
  auto index = llvm::map_to_vector(
      results, [&](int64_t dim) { return access.index[dim]; });
  bool isWhole =
      llvm::all_of(results, [&](int64_t dim) { return access.isWhole[dim]; });

  std::optional<AffineExpr> position = linearize(
      next.value.getContext(), index, select(getShape(access.value), results));
  if (!position)
    return false;
  std::optional<SmallVector<AffineExpr>> sourceIndex =
      delinearize(*position, sourceShape);
  if (!sourceIndex)
    return false;
  for (auto [dim, expr, size] :
       llvm::zip_equal(sources, *sourceIndex, sourceShape)) {
    next.index[dim] = expr;
    next.isWhole[dim] = isWhole || size == 1 || reachesEnd(expr, size, loops);
  }

  // A loop over all of [?, 32] has a multiple of 32 steps.
  auto loop = dyn_cast<AffineDimExpr>(*position);
  if (loop && isWhole && !sourceShape.empty() && sourceShape.back() > 1)
    loops.divisors[loop.getPosition()].push_back(sourceShape.back());
  return true;
}

static bool followExpand(Access &access, tensor::ExpandShapeOp op,
                         Loops &loops) {
  Access next = makeAccess(access, op.getSrc());
  for (auto [source, results] : llvm::enumerate(op.getReassociationIndices()))
    if (!followGroup(access, results, next, static_cast<int64_t>(source),
                     loops))
      return false;
  return take(access, std::move(next), loops);
}

static bool followCollapse(Access &access, tensor::CollapseShapeOp op,
                           Loops &loops) {
  Access next = makeAccess(access, op.getSrc());
  for (auto [result, sources] : llvm::enumerate(op.getReassociationIndices()))
    if (!followGroup(access, static_cast<int64_t>(result), next, sources,
                     loops))
      return false;
  return take(access, std::move(next), loops);
}

/// Follows a slice from the start of each dimension: a part of a last block.
static bool followSlice(Access &access, tensor::ExtractSliceOp op,
                        const Loops &loops) {
  if (!op.hasUnitStride() || !op.hasZeroOffset() ||
      op.getType().getRank() != op.getSourceType().getRank())
    return false;
  Access next = makeAccess(access, op.getSource());
  next.index = access.index;
  for (auto [dim, size] : llvm::enumerate(op.getSourceType().getShape()))
    next.isWhole[dim] = reachesEnd(next.index[dim], size, loops);
  return take(access, std::move(next), loops);
}

/// Follows a cast between static shapes. Finds the smallest groups of
/// dimensions with equal products.
static bool followShapeCast(Access &access, vector::ShapeCastOp op,
                            Loops &loops) {
  VectorType sourceType = op.getSourceVectorType();
  VectorType resultType = op.getResultVectorType();
  if (sourceType.isScalable() || resultType.isScalable())
    return false;
  ArrayRef<int64_t> from = sourceType.getShape(), to = resultType.getShape();
  Access next = makeAccess(access, op.getSource());
  int64_t numSources = 0, numResults = 0;
  int64_t numFrom = from.size(), numTo = to.size();
  while (numSources != numFrom || numResults != numTo) {
    SmallVector<int64_t> sources, results;
    int64_t sourceSize = 1, resultSize = 1;
    while (sourceSize != resultSize || (sources.empty() && results.empty())) {
      // The side with the smaller product takes its next dimension.
      bool isSource = sourceSize < resultSize ||
                      (sourceSize == resultSize && numSources != numFrom);
      int64_t &taken = isSource ? numSources : numResults;
      int64_t &size = isSource ? sourceSize : resultSize;
      if (taken == (isSource ? numFrom : numTo) ||
          llvm::MulOverflow(size, (isSource ? from : to)[taken], size))
        return false;
      (isSource ? sources : results).push_back(taken++);
    }
    if (!followGroup(access, results, next, sources, loops))
      return false;
  }
  return take(access, std::move(next), loops);
}

//===----------------------------------------------------------------------===//
// Transposes and broadcasts of vectors
//===----------------------------------------------------------------------===//

static bool followTranspose(Access &access, vector::TransposeOp op,
                            const Loops &loops) {
  Access next = makeAccess(access, op.getVector());
  for (auto [dim, source] : llvm::enumerate(op.getPermutation())) {
    next.index[source] = access.index[dim];
    next.isWhole[source] = access.isWhole[dim];
  }
  return take(access, std::move(next), loops);
}

static bool followBroadcast(Access &access, vector::BroadcastOp op,
                            const Loops &loops) {
  if (op.getResultVectorType().isScalable())
    return false;
  Access next = makeAccess(access, op.getSource());
  size_t numNew = access.index.size() - next.index.size();
  for (size_t dim = 0; dim != next.index.size(); ++dim) {
    // A broadcast dimension is read at 0.
    if (getShape(op.getSource())[dim] == 1)
      continue;
    next.index[dim] = access.index[numNew + dim];
    next.isWhole[dim] = access.isWhole[numNew + dim];
  }
  return take(access, std::move(next), loops);
}

Access blockscale::accessScales(const Access &access, DequantizeOp op,
                                const Loops &loops) {
  Access next = access;
  next.value = op.getScales();
  // The sign of scales with a mantissa is ignored; other scales have none.
  next.isAbsolute = true;
  next.index.back() =
      simplifyIndex(access.index.back().floorDiv(op.getBlock()), loops.extents);
  return next;
}

bool blockscale::followAccess(Access &access, Loops &loops) {
  Operation *producer = access.value.getDefiningOp();
  if (!producer)
    return followArgument(access, loops);
  // Other values from outside of a body are followed outside of it.
  if (access.body) {
    auto extract = dyn_cast<tensor::ExtractOp>(producer);
    return extract && followExtract(access, extract, loops);
  }
  return TypeSwitch<Operation *, bool>(producer)
      .Case([&](linalg::LinalgOp op) {
        return followStructuredOp(access, op, loops);
      })
      .Case([&](tensor::ExpandShapeOp op) {
        return followExpand(access, op, loops);
      })
      .Case([&](tensor::CollapseShapeOp op) {
        return followCollapse(access, op, loops);
      })
      .Case([&](tensor::ExtractSliceOp op) {
        return followSlice(access, op, loops);
      })
      .Case([&](tensor::CastOp op) {
        if (!isa<RankedTensorType>(op.getSource().getType()))
          return false;
        access.value = op.getSource();
        return true;
      })
      .Case([&](tensor::SplatOp op) {
        access = makeAccess(access, op.getInput());
        return true;
      })
      .Case([&](vector::ShapeCastOp op) {
        return followShapeCast(access, op, loops);
      })
      .Case([&](vector::TransposeOp op) {
        return followTranspose(access, op, loops);
      })
      .Case([&](vector::BroadcastOp op) {
        return followBroadcast(access, op, loops);
      })
      .Default(false);
}
