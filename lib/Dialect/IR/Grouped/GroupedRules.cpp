//===- GroupedRules.cpp - Rules of grouped products -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grouped/GroupedRules.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

template <typename Op>
static void setShared(GroupedProduct &of, Op op) {
  of.x = {"x", op.getX()};
  of.y = {"y", op.getY()};
  of.offsets = {"offsets", op.getOffsets()};
  of.acc = {"acc", op.getAcc()};
  of.rows = {"rows", op.getRows()};
  of.groupScale = {"group_scale", op.getGroupScale()};
  of.bias = {"bias", op.getBias()};
}

GroupedProduct::GroupedProduct(GroupedMmaScaledOp op) {
  setShared(*this, op);
  xScale = {"x_scale", op.getXScale()};
  yScale = {"y_scale", op.getYScale()};
}

GroupedProduct::GroupedProduct(GroupedMatmulOp op) { setShared(*this, op); }

SmallVector<NamedShape> GroupedProduct::getOperands() const {
  SmallVector<NamedShape> operands;
  for (const NamedShape &shape :
       {x, xScale, y, yScale, offsets, acc, rows, groupScale, bias})
    if (shape.value)
      operands.push_back(shape);
  return operands;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

SmallVector<SizeRelation>
blockscale::getSizeRelations(const GroupedProduct &of) {
  SmallVector<SizeRelation> relations;
  // Where an operand is there, its dimension has the size of another one's.
  auto add = [&](const NamedShape &shape, unsigned dim,
                 const NamedShape &reference, unsigned referenceDim,
                 StringRef name) {
    if (shape.value)
      relations.push_back(
          {{shape, dim, name}, {reference, referenceDim, name}});
  };
  add(of.xScale, 0, of.x, 0, "R");
  add(of.yScale, 0, of.y, 0, "G");
  add(of.yScale, 2, of.y, 2, "N");
  add(of.y, 1, of.x, 1, "K");
  add(of.yScale, 1, of.xScale, 1, "K_s");
  add(of.offsets, 0, of.y, 0, "G");
  add(of.groupScale, 0, of.y, 0, "G");
  add(of.bias, 0, of.y, 0, "G");
  add(of.acc, 1, of.y, 2, "N");
  add(of.bias, 1, of.y, 2, "N");
  if (of.rows.value)
    add(of.rows, 0, of.acc, 0, "T");
  else
    add(of.acc, 0, of.x, 0, "R");
  return relations;
}

/// (P5): only the rows of x and those of the result may be none.
static LogicalResult verifyLeastSizes(Operation *op, const GroupedProduct &of) {
  for (const NamedShape &shape : of.getOperands())
    for (auto [dim, size] : llvm::enumerate(shape.type().getShape())) {
      bool isOfRows =
          dim == 0 && llvm::is_contained({of.x.value, of.xScale.value,
                                          of.acc.value, of.rows.value},
                                         shape.value);
      if (size == 0 && !isOfRows)
        return op->emitOpError("expected all sizes but R and T to be at least "
                               "1, got 0 in dimension ")
               << dim << " of " << shape.name << " (" << shape.type() << ")";
    }
  return success();
}

LogicalResult blockscale::verifyGrouped(Operation *op,
                                        const GroupedProduct &of) {
  if (failed(verifySameKind(op, of.getOperands(), "all operands")) ||
      failed(verifyLeastSizes(op, of)))
    return failure();
  return verifySizes(op, getSizeRelations(of));
}

//===----------------------------------------------------------------------===//
// Checks at run time
//===----------------------------------------------------------------------===//

/// Checks each element of `values`, an i32, by `isValid`, which also gets the
/// one before it, or 0.
static void checkElements(
    OpBuilder &builder, Location loc, SizeChecker &size, Value values,
    function_ref<Value(OpBuilder &, Value value, Value before)> isValid,
    function_ref<void(OpBuilder &, Value condition)> expect) {
  Value zero = size.getConstant(0), one = size.getConstant(1);
  Value none = arith::ConstantIntOp::create(builder, loc, 0, 32);
  scf::ForOp::create(builder, loc, zero, size.getSize(values, 0), one, none,
                     [&](OpBuilder &b, Location, Value i, ValueRange before) {
                       Value value =
                           tensor::ExtractOp::create(b, loc, values, i);
                       expect(b, isValid(b, value, before[0]));
                       scf::YieldOp::create(b, loc, value);
                     });
}

void blockscale::checkGrouped(
    OpBuilder &builder, Location loc, Operation *op,
    function_ref<std::string(Operation *, StringRef)> getMessage,
    const GroupedProduct &of) {
  SizeChecker check(builder, loc, op, getMessage);
  for (const NamedShape &shape : {of.x, of.y, of.xScale, of.yScale})
    for (unsigned dim = 0, rank = shape.value ? shape.type().getRank() : 0;
         dim != rank; ++dim) {
      bool isOfRows = rank == 2 && dim == 0;
      if (!isOfRows && shape.type().isDynamicDim(dim))
        check.expect(check.isPositive(check.getSize(shape.value, dim)),
                     "sizes of " + Twine(shape.name) + " to be at least 1");
    }
  checkSizes(check, getSizeRelations(of));

  using Predicate = arith::CmpIPredicate;
  auto toWord = [&](Value size) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), size);
  };
  Value t = toWord(check.getSize(of.acc.value, 0));
  auto expect = [&](StringRef expectation) {
    return [&, expectation](OpBuilder &b, Value condition) {
      cf::AssertOp::create(b, loc, condition,
                           getMessage(op, ("expected " + expectation).str()));
    };
  };
  checkElements(
      builder, loc, check, of.offsets.value,
      [&](OpBuilder &b, Value value, Value before) -> Value {
        Value ascends =
            arith::CmpIOp::create(b, loc, Predicate::sge, value, before);
        Value isInside =
            arith::CmpIOp::create(b, loc, Predicate::sle, value, t);
        return arith::AndIOp::create(b, loc, ascends, isInside);
      },
      expect("offsets to ascend from 0 to at most T"));
  if (!of.rows.value)
    return;
  Value r = toWord(check.getSize(of.x.value, 0));
  Value least = arith::ConstantIntOp::create(builder, loc, -1, 32);
  checkElements(
      builder, loc, check, of.rows.value,
      [&](OpBuilder &b, Value value, Value) -> Value {
        Value isRow =
            arith::CmpIOp::create(b, loc, Predicate::sge, value, least);
        Value isInside =
            arith::CmpIOp::create(b, loc, Predicate::slt, value, r);
        return arith::AndIOp::create(b, loc, isRow, isInside);
      },
      expect("rows from -1 to R - 1"));
}
