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
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

/// The mark of a copy with `mayBeEmpty`, which others may read, too.
static constexpr StringLiteral kGathered = "blockscale.gathered_rows";

/// Such a copy of `matrix` in front of `b`; null if there is none.
static Value findGathered(OpBuilder &b, Value matrix, Value rows) {
  for (Operation *user : rows.getUsers()) {
    auto op = dyn_cast<linalg::GenericOp>(user);
    if (!op || !op->hasAttr(kGathered) || op->getBlock() != b.getBlock() ||
        (b.getInsertionPoint() != b.getBlock()->end() &&
         !op->isBeforeInBlock(&*b.getInsertionPoint())))
      continue;
    WalkResult found = op.walk([&](tensor::ExtractOp extract) {
      return extract.getTensor() == matrix ? WalkResult::interrupt()
                                           : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return op->getResult(0);
  }
  return {};
}

Value blockscale::gatherRows(OpBuilder &b, Location loc, Value matrix,
                             Value rows, bool mayBeEmpty) {
  if (Value there = mayBeEmpty ? findGathered(b, matrix, rows) : Value())
    return there;
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
  auto type = cast<RankedTensorType>(matrix.getType());
  bool isChecked = mayBeEmpty && type.isDynamicDim(0);
  auto extract = [&](OpBuilder &at, ValueRange position) -> Value {
    return tensor::ExtractOp::create(at, loc, matrix, position);
  };
  auto body = [&](OpBuilder &at, Location, ValueRange args) {
    Value row = arith::IndexCastOp::create(at, loc, at.getIndexType(), args[0]);
    row = arith::MaxSIOp::create(at, loc, row, least);
    row = arith::MinSIOp::create(at, loc, row, last);
    Value column = linalg::IndexOp::create(at, loc, 1);
    Value element;
    if (!isChecked) {
      element = extract(at, {row, column});
    } else {
      Value hasRows = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::sge,
                                            last, least);
      auto guard = scf::IfOp::create(at, loc, type.getElementType(), hasRows,
                                     /*withElseRegion=*/true);
      OpBuilder then = guard.getThenBodyBuilder();
      scf::YieldOp::create(then, loc, extract(then, {row, column}));
      OpBuilder none = guard.getElseBodyBuilder();
      scf::YieldOp::create(
          none, loc,
          arith::ConstantOp::create(none, loc,
                                    none.getZeroAttr(type.getElementType()))
              .getResult());
      element = guard.getResult(0);
    }
    linalg::YieldOp::create(at, loc, element);
  };
  auto op = linalg::GenericOp::create(b, loc, empty.getType(), rows, empty,
                                      maps, loops, body);
  if (mayBeEmpty)
    op->setAttr(kGathered, b.getUnitAttr());
  return op->getResult(0);
}
