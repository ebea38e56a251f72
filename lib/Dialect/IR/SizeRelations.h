//===- SizeRelations.h - Equalities between sizes ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which sizes of an op's operands and result are equal. The verifier checks
// the static ones, `generateRuntimeVerification` the dynamic ones.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_SIZERELATIONS_H
#define BLOCKSCALE_LIB_DIALECT_IR_SIZERELATIONS_H

#include "NamedShape.h"
#include "SizeChecker.h"

namespace mlir::blockscale {

/// A dimension of a value; its size times `factor` is the size that `name`
/// stands for.
struct NamedDim {
  NamedShape shape;
  unsigned dim;
  StringRef name;
  int64_t factor = 1;

  bool isDynamic() const { return shape.type().isDynamicDim(dim); }
  int64_t getSize() const {
    return isDynamic() ? ShapedType::kDynamic
                       : shape.type().getDimSize(dim) * factor;
  }
  bool isSameAs(const NamedDim &other) const {
    return shape.value == other.shape.value && dim == other.dim;
  }
};

/// `dim` has the size of `reference`.
struct SizeRelation {
  NamedDim dim;
  NamedDim reference;

  bool isStatic() const { return !dim.isDynamic() && !reference.isDynamic(); }

  /// "x_scale to have the M of x".
  std::string describe() const {
    return (dim.shape.name + " to have the " + reference.name + " of " +
            reference.shape.name)
        .str();
  }
};

/// Checks the static sizes, also two that have to be equal to a dynamic one.
LogicalResult verifySizes(Operation *op, ArrayRef<SizeRelation> relations);

/// Emits the size that the name of `dim` stands for.
Value emitSize(SizeChecker &check, const NamedDim &dim);

/// Checks the other sizes at run time.
void checkSizes(SizeChecker &check, ArrayRef<SizeRelation> relations);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_SIZERELATIONS_H
