//===- SizeRelations.cpp - Checks of equal sizes --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeRelations.h"

using namespace mlir;
using namespace mlir::blockscale;

static LogicalResult verifySize(Operation *op, const SizeRelation &relation) {
  int64_t expected = relation.reference.getSize();
  int64_t got = relation.dim.getSize();
  if (!relation.isStatic() || expected == got)
    return success();
  return op->emitOpError("expected ")
         << relation.describe() << ", " << expected << ", got " << got << " ("
         << relation.dim.shape.type() << " with "
         << relation.reference.shape.type() << ")";
}

LogicalResult blockscale::verifySizes(Operation *op,
                                      ArrayRef<SizeRelation> relations) {
  for (const SizeRelation &relation : relations)
    if (failed(verifySize(op, relation)))
      return failure();
  // Two sizes that must be equal to a third one, which is dynamic.
  for (auto [i, one] : llvm::enumerate(relations))
    for (const SizeRelation &other : relations.take_front(i))
      if (one.reference.isSameAs(other.reference) &&
          failed(verifySize(op, {one.dim, other.dim})))
        return failure();
  return success();
}

Value blockscale::emitSize(SizeChecker &check, const NamedDim &dim) {
  return check.multiply(check.getSize(dim.shape.value, dim.dim), dim.factor);
}

void blockscale::checkSizes(SizeChecker &check,
                            ArrayRef<SizeRelation> relations) {
  for (const SizeRelation &relation : relations) {
    if (relation.isStatic())
      continue;
    Value size = emitSize(check, relation.dim);
    Value expected = emitSize(check, relation.reference);
    check.expect(check.isEqual(size, expected), relation.describe());
  }
}
