//===- LaunchExprExport.h - Numbers of a launch -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_LAUNCHEXPREXPORT_H
#define BLOCKSCALE_LIB_DRIVER_LAUNCHEXPREXPORT_H

#include "blockscale/Dialect/Transforms/Launch/DynamicSizes.h"
#include "blockscale/Runtime/LaunchExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <optional>

namespace mlir::blockscale {

/// The memory that `view` is a reshape or a cast of all of.
Value getWholeMemory(Value view);

/// Exports the numbers that a host function computes from its dynamic sizes.
class LaunchExprExporter {
public:
  explicit LaunchExprExporter(func::FuncOp function)
      : function(function), sizes(getDynamicSizes(function)) {}

  /// A value of `function`; nullopt if it depends on anything but sizes,
  /// integers and the number of SMs. An i1 is 1 or 0.
  std::optional<LaunchExpr> exportValue(Value value) {
    numOps = 0;
    return exportPart(value);
  }

  /// An i1 that chooses between alternatives. Unlike for a check, which the
  /// kernels repeat, an operation whose meaning could differ for negative
  /// numbers is nullopt.
  std::optional<LaunchExpr> exportChoice(Value condition) {
    numOps = 0;
    return exportChoicePart(condition);
  }

  /// The sizes of an argument, a result, an allocation, or a view of all of
  /// one.
  std::optional<SmallVector<LaunchExpr>> exportSizes(Value memory);

  /// An affine expression of other expressions.
  static std::optional<LaunchExpr> substitute(AffineExpr expr,
                                              ArrayRef<LaunchExpr> dims,
                                              ArrayRef<LaunchExpr> symbols);

  /// An affine expression of the dynamic sizes, see `getSizeExpr`.
  std::optional<LaunchExpr> exportExpr(AffineExpr expr) const;

private:
  std::optional<LaunchExpr> exportPart(Value value);
  std::optional<LaunchExpr> exportChoicePart(Value condition);
  std::optional<LaunchExpr> exportSize(OpFoldResult size);
  /// A comparison, or a logical operation on comparisons.
  std::optional<LaunchExpr> exportCondition(Operation *op);
  std::optional<LaunchExpr> exportSelect(arith::SelectOp op);
  std::optional<LaunchExpr> exportQuotient(Operation *op);

  /// Dynamic size `position`, as the memref counts it or, if `expr` computes
  /// that, in elements; nullopt if `expr` is neither.
  std::optional<LaunchExpr> matchSize(AffineExpr expr) const;

  /// A limit on the size of expressions: a grid is a few operations away from
  /// sizes. Shared subexpressions count each time.
  static constexpr unsigned kMostOps = 1024;

  func::FuncOp function;
  SmallVector<DynamicSize> sizes;
  unsigned numOps = 0;
  /// Whether a value that chooses between alternatives is exported.
  bool isChoice = false;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DRIVER_LAUNCHEXPREXPORT_H
