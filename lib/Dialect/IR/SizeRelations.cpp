//===- SizeRelations.cpp - Equalities between sizes -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One list of equal sizes for the verifier and the run-time checks, so that
// these do not diverge.
//
//===----------------------------------------------------------------------===//

#include "SizeRelations.h"

using namespace mlir;
using namespace mlir::blockscale;

SmallVector<SizeRelation> blockscale::getSizeRelations(MmaScaledOp op) {
  using Side = MmaScaledOp::Side;
  auto rank = [](Value value) {
    return cast<ShapedType>(value.getType()).getRank();
  };
  auto row = [&](Side side, Value value, StringRef name) {
    return NamedDim{value, MmaScaledOp::getRowDim(side, rank(value)), name,
                    side == Side::X ? "M" : "N"};
  };
  auto k = [&](Side side, Value value, StringRef name, StringRef dimName) {
    return NamedDim{value, MmaScaledOp::getKDim(side, rank(value)), name,
                    dimName};
  };
  auto batch = [&](Value value, StringRef name) {
    return NamedDim{value, 0, name, "batch"};
  };

  Value x = op.getX(), xScale = op.getXScale(), y = op.getY(),
        yScale = op.getYScale(), acc = op.getAcc();
  SmallVector<SizeRelation> relations;
  if (rank(x) == 3)
    relations.push_back({batch(xScale, "x_scale"), batch(x, "x")});
  relations.push_back({row(Side::X, xScale, "x_scale"), row(Side::X, x, "x")});
  if (rank(y) == 3)
    relations.push_back({batch(yScale, "y_scale"), batch(y, "y")});
  relations.push_back({row(Side::Y, yScale, "y_scale"), row(Side::Y, y, "y")});
  relations.push_back({k(Side::Y, y, "y", "K"), k(Side::X, x, "x", "K")});
  relations.push_back({k(Side::Y, yScale, "y_scale", "K_s"),
                       k(Side::X, xScale, "x_scale", "K_s")});
  relations.push_back({row(Side::X, acc, "acc"), row(Side::X, x, "x")});
  relations.push_back({row(Side::Y, acc, "acc"), row(Side::Y, y, "y")});
  return relations;
}
