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

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// A dimension of a value, with the names that messages give to both.
struct NamedDim {
  Value value;
  unsigned dim;
  StringRef valueName;
  StringRef dimName;

  int64_t getSize() const {
    return cast<ShapedType>(value.getType()).getDimSize(dim);
  }
  bool isSameAs(const NamedDim &other) const {
    return value == other.value && dim == other.dim;
  }
};

/// `dim` has the size of `reference`.
struct SizeRelation {
  NamedDim dim;
  NamedDim reference;

  bool isStatic() const {
    return !ShapedType::isDynamic(dim.getSize()) &&
           !ShapedType::isDynamic(reference.getSize());
  }

  /// "x_scale to have the M of x".
  std::string describe() const {
    return (dim.valueName + " to have the " + reference.dimName + " of " +
            reference.valueName)
        .str();
  }
};

/// Constraints (C3), (C4) and (C6) of `mma_scaled`.
SmallVector<SizeRelation> getSizeRelations(MmaScaledOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_SIZERELATIONS_H
