//===- BlockMultiple.cpp - Are sizes along K whole blocks? ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile along K must have whole blocks. The op's own K is a multiple of the
// block size by constraint (C9), which general index arithmetic does not know.
//
//===----------------------------------------------------------------------===//

#include "BlockMultiple.h"

#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Whether `dim` is K of `op`, as a size of x or y.
static bool isOwnK(tensor::DimOp dim, MmaScaledOp op) {
  using Side = MmaScaledOp::Side;
  std::optional<int64_t> index = dim.getConstantIndex();
  auto isKOf = [&](Side side, Value matrix) {
    return dim.getSource() == matrix && index &&
           *index ==
               MmaScaledOp::getKDim(side, op.getMatrixType(side).getRank());
  };
  return isKOf(Side::X, op.getX()) || isKOf(Side::Y, op.getY());
}

bool blockscale::isKnownBlockMultiple(OpFoldResult value, MmaScaledOp op) {
  return isKnownMultiple(
      value, op.getBlock(), [&](Value size, int64_t divisor) {
        auto dim = size.getDefiningOp<tensor::DimOp>();
        return dim && op.getBlock() % divisor == 0 && isOwnK(dim, op);
      });
}
