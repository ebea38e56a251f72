//===- NamedShape.h - Values with names for messages ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_NAMEDSHAPE_H
#define BLOCKSCALE_LIB_DIALECT_IR_NAMEDSHAPE_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/Operation.h"

namespace mlir::blockscale {

/// A value of an op, with its name in messages.
struct NamedShape {
  StringRef name;
  Value value;

  ShapedType type() const { return cast<ShapedType>(value.getType()); }
};

/// (C1), (X1), (Z1), (K1), (R1), (N1), (V1), (H1): values of one kind, without
/// encoding. Messages call them `all`.
LogicalResult verifySameKind(Operation *op, ArrayRef<NamedShape> values,
                             StringRef all = "all");

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_NAMEDSHAPE_H
