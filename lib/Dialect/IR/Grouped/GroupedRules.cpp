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
  areLegal = op.getLegalGroups();
  xScale = {"x_scale", op.getXScale()};
  yScale = {"y_scale", op.getYScale()};
  hasCoarseScales = op.hasCoarseScales();
}

GroupedProduct::GroupedProduct(GroupedMatmulOp op) {
  setShared(*this, op);
  areLegal = op.getLegalGroups();
}

GroupedProduct::GroupedProduct(PromotedMatmulOp op) { setShared(*this, op); }

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
  bool areFine = !of.hasCoarseScales;
  if (areFine)
    add(of.xScale, 0, of.x, 0, "R");
  add(of.yScale, 0, of.y, 0, "G");
  if (areFine)
    add(of.yScale, 2, of.y, 2, "N");
  add(of.y, 1, of.x, 1, "K");
  if (areFine)
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

namespace {
/// Checks of each element of a tensor of rank 1, all at once: on a GPU, in one
/// kernel.
class ElementChecker {
public:
  ElementChecker(OpBuilder &builder, Location loc, Operation *op,
                 function_ref<std::string(Operation *, StringRef)> getMessage)
      : builder(builder), loc(loc), size(builder, loc, op, getMessage), op(op),
        getMessage(getMessage) {}

  Value getConstant(int64_t value) { return size.getConstant(value); }

  /// Element `i` as an index: sizes may be beyond i32.
  Value extract(OpBuilder &b, Value values, Value i) {
    Value value = tensor::ExtractOp::create(b, loc, values, i);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  }

  /// `isExpected` is given the element and its number.
  using IsExpected = function_ref<Value(OpBuilder &, Value, Value)>;
  void check(Value values, StringRef message, IsExpected isExpected) {
    Value zero = getConstant(0), one = getConstant(1);
    scf::ParallelOp::create(builder, loc, zero, size.getSize(values, 0), one,
                            [&](OpBuilder &b, Location, ValueRange i) {
                              Value element = extract(b, values, i.front());
                              cf::AssertOp::create(
                                  b, loc, isExpected(b, element, i.front()),
                                  getMessage(op, message));
                            });
  }

private:
  OpBuilder &builder;
  Location loc;
  SizeChecker size;
  Operation *op;
  function_ref<std::string(Operation *, StringRef)> getMessage;
};
} // namespace

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

  if (of.areLegal)
    return;
  ElementChecker elements(builder, loc, op, getMessage);
  Value zero = elements.getConstant(0), one = elements.getConstant(1);
  Value none = elements.getConstant(-1);
  Value t = check.getSize(of.acc.value, 0), r = check.getSize(of.x.value, 0);
  auto isBetween = [&](OpBuilder &b, Value least, Value element,
                       Predicate ofMost, Value most) -> Value {
    return arith::AndIOp::create(
        b, loc, compare(b, loc, Predicate::sge, element, least),
        compare(b, loc, ofMost, element, most));
  };
  Value offsets = of.offsets.value;
  elements.check(offsets, "expected offsets to ascend from 0 to at most T",
                 [&](OpBuilder &b, Value end, Value i) {
                   Value number = arith::MaxSIOp::create(
                       b, loc, arith::SubIOp::create(b, loc, i, one), zero);
                   Value isFirst = compare(b, loc, Predicate::eq, i, zero);
                   Value before = arith::SelectOp::create(
                       b, loc, isFirst, zero,
                       elements.extract(b, offsets, number));
                   return isBetween(b, before, end, Predicate::sle, t);
                 });
  if (of.rows.value)
    elements.check(of.rows.value, "expected rows from -1 to R - 1",
                   [&](OpBuilder &b, Value row, Value) {
                     return isBetween(b, none, row, Predicate::slt, r);
                   });
}
