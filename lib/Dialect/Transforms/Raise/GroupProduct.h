//===- GroupProduct.h - Products of one group ----------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product that a grouped one can have in each group.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_GROUPPRODUCT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_GROUPPRODUCT_H

#include "Raise/GroupSlices.h"

namespace mlir::blockscale {

/// A product of one group. The scales are null in one without.
struct GroupProduct {
  Operation *op = nullptr;
  Value x, xScale, y, yScale, acc;
  /// Whether y is N x K.
  bool isYTransposed = false;
  /// The blocks of coarse scales; null without them.
  ScaleBlockAttr xBlock = {}, yBlock = {};

  /// The name of the grouped product.
  StringRef getTarget() const;
  /// The operands whose slices are of `kind`.
  SmallVector<Value> getOperands(SliceKind kind) const;
  /// What the scales of x are slices of: if all rows share them, all groups do.
  SliceKind getXScaleKind() const;
};

/// `op` as such a product: `mma_scaled`, or a contraction of bf16 or f16 in
/// linalg, of x, M x K, and y.
std::optional<GroupProduct> describeGroupProduct(Operation *op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_GROUPPRODUCT_H
