//===- DynamicSizes.cpp - Sizes that are arguments of kernels -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No host code runs at launch: each size must be an expression of the
// arguments' sizes that the launch info can hold.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Launch/DynamicSizes.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/IndexMap.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

SmallVector<DynamicSize> blockscale::getDynamicSizes(func::FuncOp function) {
  SmallVector<DynamicSize> sizes;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank() || function.getArgAttr(i, kSizesAttrName))
      continue;
    for (unsigned dim = 0; dim != shaped.getRank(); ++dim)
      if (shaped.isDynamicDim(dim))
        sizes.push_back({static_cast<unsigned>(i), dim});
  }
  return sizes;
}

std::pair<int64_t, int64_t> blockscale::getCodesAndBytes(func::FuncOp function,
                                                         DynamicSize size) {
  auto bits =
      function.getArgAttrOfType<IntegerAttr>(size.argument, kCodeBitsAttrName);
  auto type = cast<ShapedType>(function.getArgumentTypes()[size.argument]);
  if (!bits || size.dim + 1 != type.getRank())
    return {1, 1};
  PackedUnit unit = getPackedUnit(bits.getInt());
  return {unit.codes, unit.bytes};
}

namespace {
class ExprBuilder {
public:
  explicit ExprBuilder(func::FuncOp function)
      : function(function), sizes(getDynamicSizes(function)) {}

  AffineExpr build(Value size) {
    if (std::optional<int64_t> constant = getConstantIntValue(size))
      return getAffineConstantExpr(*constant, size.getContext());
    Operation *op = size.getDefiningOp();
    if (!op || numOps++ == kMostOps)
      return {};
    if (auto dim = dyn_cast<memref::DimOp>(op))
      return buildDim(dim);
    AffineMap map = getIndexMap(op);
    return map ? buildResult(map, op->getOperands()) : AffineExpr();
  }

private:
  AffineExpr buildDim(memref::DimOp op) {
    auto argument = dyn_cast<BlockArgument>(op.getSource());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!argument || !dim || argument.getOwner() != &function.getBody().front())
      return {};
    unsigned number = argument.getArgNumber();
    if (auto map =
            function.getArgAttrOfType<AffineMapAttr>(number, kSizesAttrName))
      return *dim < map.getValue().getNumResults()
                 ? map.getValue().getResult(*dim)
                 : AffineExpr();
    for (auto [i, size] : llvm::enumerate(sizes))
      if (size.argument == number && size.dim == *dim)
        return getAffineDimExpr(i, op.getContext());
    return {};
  }

  AffineExpr buildResult(AffineMap map, ValueRange values) {
    SmallVector<AffineExpr> operands;
    for (Value value : values) {
      operands.push_back(build(value));
      if (!operands.back())
        return {};
    }
    auto [dims, symbols] =
        std::pair(ArrayRef<AffineExpr>(operands).take_front(map.getNumDims()),
                  ArrayRef<AffineExpr>(operands).drop_front(map.getNumDims()));
    AffineExpr result = map.getResult(0);
    // Products of two sizes are no expression of the launch info.
    if (!result.isPureAffine() &&
        !llvm::all_of(symbols, llvm::IsaPred<AffineConstantExpr>))
      return {};
    return result.replaceDimsAndSymbols(dims, symbols);
  }

  /// Sizes are a few operations away from what they are made of.
  static constexpr unsigned kMostOps = 64;

  func::FuncOp function;
  SmallVector<DynamicSize> sizes;
  unsigned numOps = 0;
};
} // namespace

AffineExpr blockscale::getSizeExpr(func::FuncOp function, Value size) {
  AffineExpr expr = ExprBuilder(function).build(size);
  if (!expr)
    return {};
  return simplifyAffineExpr(expr, getDynamicSizes(function).size(), 0);
}
