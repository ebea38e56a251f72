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

using Predicate = arith::CmpIPredicate;

static Value compare(OpBuilder &b, Location loc, Predicate predicate, Value lhs,
                     Value rhs) {
  return arith::CmpIOp::create(b, loc, predicate, lhs, rhs);
}

/// Element `i` of offsets or rows, as an index: sizes may be beyond i32.
static Value extract(OpBuilder &b, Location loc, Value values, Value i) {
  Value value = tensor::ExtractOp::create(b, loc, values, i);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}

/// Checks that rows are from -1 to `limit` - 1.
static void
checkRows(OpBuilder &builder, Location loc, Operation *op,
          function_ref<std::string(Operation *, StringRef)> getMessage,
          Value rows, Value limit) {
  SizeChecker size(builder, loc, op, getMessage);
  Value zero = size.getConstant(0), one = size.getConstant(1);
  Value none = size.getConstant(-1);
  scf::ForOp::create(
      builder, loc, zero, size.getSize(rows, 0), one, ValueRange(),
      [&](OpBuilder &b, Location, Value i, ValueRange) {
        Value row = extract(b, loc, rows, i);
        Value isRow = compare(b, loc, Predicate::sge, row, none);
        Value isInside = compare(b, loc, Predicate::slt, row, limit);
        cf::AssertOp::create(b, loc,
                             arith::AndIOp::create(b, loc, isRow, isInside),
                             getMessage(op, "expected rows from -1 to R - 1"));
        scf::YieldOp::create(b, loc);
      });
}

/// Checks that the ends of groups ascend from 0 to at most `limit`.
static void
checkOffsets(OpBuilder &builder, Location loc, Operation *op,
             function_ref<std::string(Operation *, StringRef)> getMessage,
             Value offsets, Value limit) {
  SizeChecker size(builder, loc, op, getMessage);
  Value zero = size.getConstant(0), one = size.getConstant(1);
  scf::ForOp::create(
      builder, loc, zero, size.getSize(offsets, 0), one, zero,
      [&](OpBuilder &b, Location, Value i, ValueRange before) {
        Value end = extract(b, loc, offsets, i);
        Value ascends = compare(b, loc, Predicate::sge, end, before[0]);
        Value isInside = compare(b, loc, Predicate::sle, end, limit);
        cf::AssertOp::create(
            b, loc, arith::AndIOp::create(b, loc, ascends, isInside),
            getMessage(op, "expected offsets to ascend from 0 to at most T"));
        scf::YieldOp::create(b, loc, end);
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

  checkOffsets(builder, loc, op, getMessage, of.offsets.value,
               check.getSize(of.acc.value, 0));
  if (of.rows.value)
    checkRows(builder, loc, op, getMessage, of.rows.value,
              check.getSize(of.x.value, 0));
}
