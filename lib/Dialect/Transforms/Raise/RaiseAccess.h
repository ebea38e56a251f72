//===- RaiseAccess.h - Elements that a loop reads ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access is an element that is read. Reshapes, transposes, broadcasts and
// structured ops that only change its index are steps from one access to
// another.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEACCESS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEACCESS_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::blockscale {

/// Writes `parts` to `reason`. Returns false.
template <typename... Parts>
bool fail(std::string &reason, const Parts &...parts) {
  llvm::raw_string_ostream stream(reason);
  (stream << ... << parts);
  return false;
}

/// The loops of a contraction. Indices are expressions of loops.
struct Loops {
  SmallVector<int64_t> extents;
  /// The known divisors of each extent.
  SmallVector<SmallVector<int64_t, 1>> divisors;
  /// A number that the body reads, and the loop that it stands for; or null.
  Value named;
  AffineExpr namedLoop;
};

/// The element `index` of `value`, a tensor or vector. If `value` is a scalar
/// in the body of a structured op, `index` has the loops of that op instead.
struct Access {
  Value value;
  SmallVector<AffineExpr> index;
  /// For each index, whether the loops are known to reach its last value.
  SmallVector<bool> isWhole;
  linalg::LinalgOp body = nullptr;
  /// Whether the absolute value of the element is read.
  bool isAbsolute = false;
};

/// Whether `map` is simple enough to be followed.
bool isSmall(AffineMap map);

/// The access of `operand` in the body of `op`, whose loops are those of
/// `access`.
Access accessOperand(const Access &access, linalg::LinalgOp op,
                     OpOperand &operand, const Loops &loops);

/// The access of the scales of `op`, whose result `access` reads.
Access accessScales(const Access &access, DequantizeOp op, const Loops &loops);

/// Follows `access` through one op that only moves elements. Returns false, and
/// keeps `access`, if its value comes from another op.
bool followAccess(Access &access, Loops &loops);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEACCESS_H
