//===- GatherRows.cpp - Rows of a matrix in another order -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utils/GatherRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

Value blockscale::gatherRows(OpBuilder &b, Location loc, Value matrix,
                             Value rows) {
  OpFoldResult sizes[] = {tensor::getMixedSize(b, loc, rows, 0),
                          tensor::getMixedSize(b, loc, matrix, 1)};
  Value empty = tensor::EmptyOp::create(b, loc, sizes,
                                        getElementTypeOrSelf(matrix.getType()));
  Value all = getValueOrCreateConstantIndexOp(
      b, loc, tensor::getMixedSize(b, loc, matrix, 0));
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, all, one);
  Value least = arith::ConstantIndexOp::create(b, loc, 0);
  AffineMap maps[] = {
      AffineMap::get(2, 0, b.getAffineDimExpr(0), b.getContext()),
      b.getMultiDimIdentityMap(2)};
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &at, Location, ValueRange args) {
    Value row = arith::IndexCastOp::create(at, loc, at.getIndexType(), args[0]);
    row = arith::MaxSIOp::create(at, loc, row, least);
    row = arith::MinSIOp::create(at, loc, row, last);
    Value column = linalg::IndexOp::create(at, loc, 1);
    Value element =
        tensor::ExtractOp::create(at, loc, matrix, ValueRange{row, column});
    linalg::YieldOp::create(at, loc, element);
  };
  return linalg::GenericOp::create(b, loc, empty.getType(), rows, empty, maps,
                                   loops, body)
      ->getResult(0);
}
