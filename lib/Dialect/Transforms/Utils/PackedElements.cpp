//===- PackedElements.cpp - Packed elements in memory ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads of elements that are a byte each, or bits of a packed stream, by the
// same functions.
//
//===----------------------------------------------------------------------===//

#include "Utils/PackedElements.h"

#include "Utils/IndexValues.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineExprVisitor.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// Expands affine expressions to arithmetic on indices that are not negative.
/// (The division of affine.apply has to handle signs.)
class Expander : public AffineExprVisitor<Expander, Value> {
public:
  Expander(OpBuilder &b, Location loc, ValueRange operands)
      : b(b), loc(loc), operands(operands) {}

  Value visitDimExpr(AffineDimExpr expr) {
    return operands[expr.getPosition()];
  }
  Value visitConstantExpr(AffineConstantExpr expr) {
    return arith::ConstantIndexOp::create(b, loc, expr.getValue());
  }
  Value visitAddExpr(AffineBinaryOpExpr expr) {
    return visitBinary<arith::AddIOp>(expr);
  }
  Value visitMulExpr(AffineBinaryOpExpr expr) {
    return visitBinary<arith::MulIOp>(expr);
  }
  Value visitFloorDivExpr(AffineBinaryOpExpr expr) {
    return visitBinary<arith::DivUIOp>(expr);
  }
  Value visitModExpr(AffineBinaryOpExpr expr) {
    return visitBinary<arith::RemUIOp>(expr);
  }
  Value visitCeilDivExpr(AffineBinaryOpExpr expr) {
    return visitBinary<arith::CeilDivUIOp>(expr);
  }
  Value visitSymbolExpr(AffineSymbolExpr) {
    llvm_unreachable("maps of positions have no symbols");
  }

private:
  template <typename Op>
  Value visitBinary(AffineBinaryOpExpr expr) {
    Value lhs = visit(expr.getLHS());
    Value rhs = visit(expr.getRHS());
    return b.createOrFold<Op>(loc, lhs, rhs);
  }

  OpBuilder &b;
  Location loc;
  ValueRange operands;
};
} // namespace

SmallVector<Value> blockscale::applyMap(OpBuilder &builder, Location loc,
                                        AffineMap map, ValueRange operands) {
  SmallVector<Value> results;
  Expander expander(builder, loc, operands);
  for (AffineExpr expr : simplifyAffineMap(map).getResults())
    results.push_back(expander.visit(expr));
  return results;
}

StoredView blockscale::getStoredView(OpBuilder &builder, Location loc,
                                     Value operand) {
  OperandView view = getOperandView(builder, loc, operand);
  if (auto unpack = view.tensor.getDefiningOp<UnpackOp>())
    return {unpack.getSource(), view.map,
            unpack.getResult().getType().getElementTypeBitWidth()};
  return {view.tensor, view.map, 8};
}

Value blockscale::emitUnpackCode(OpBuilder &builder, Location loc, Value index,
                                 unsigned bits, OpFoldResult rowBytes,
                                 function_ref<Value(Value)> loadByte) {
  Type i16 = builder.getI16Type();
  AffineExpr bit = getAffineDimExpr(0, builder.getContext()) * bits;
  SmallVector<Value> at =
      applyExprs(builder, loc, {bit.floorDiv(8), bit % 8}, index);
  Value low = loadByte(at[0]);
  Value word = arith::ExtUIOp::create(builder, loc, i16, low);
  if (8 % bits != 0) {
    // A code may end in the next byte. The last byte of a row holds the end of
    // a code, so a byte that is read after it is never used.
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value next = arith::AddIOp::create(builder, loc, at[0], one);
    Value size = getValueOrCreateConstantIndexOp(builder, loc, rowBytes);
    Value last = builder.createOrFold<arith::SubIOp>(loc, size, one);
    Value high = loadByte(arith::MinUIOp::create(builder, loc, next, last));
    Value wide = arith::ExtUIOp::create(builder, loc, i16, high);
    Value eight = arith::ConstantIntOp::create(builder, loc, i16, 8);
    Value moved = arith::ShLIOp::create(builder, loc, wide, eight);
    word = arith::OrIOp::create(builder, loc, word, moved);
  }
  Value amount = arith::IndexCastUIOp::create(builder, loc, i16, at[1]);
  Value shifted = arith::ShRUIOp::create(builder, loc, word, amount);
  Type i8 = builder.getI8Type();
  Value byte = arith::TruncIOp::create(builder, loc, i8, shifted);
  Value mask = arith::ConstantIntOp::create(builder, loc, i8, (1 << bits) - 1);
  return arith::AndIOp::create(builder, loc, byte, mask);
}

Value blockscale::emitLoadCode(OpBuilder &builder, Location loc, Value memory,
                               unsigned bits, ArrayRef<Value> position) {
  if (bits == 8)
    return memref::LoadOp::create(builder, loc, memory, position);
  OpFoldResult rowBytes =
      memref::getMixedSize(builder, loc, memory, position.size() - 1);
  return emitUnpackCode(builder, loc, position.back(), bits, rowBytes,
                        [&](Value byteIndex) -> Value {
                          SmallVector<Value> indices(position);
                          indices.back() = byteIndex;
                          return memref::LoadOp::create(builder, loc, memory,
                                                        indices);
                        });
}

Value blockscale::emitLoadIf(OpBuilder &b, Location loc, Value condition,
                             function_ref<Value(OpBuilder &)> load,
                             Value otherwise) {
  if (!condition)
    return load(b);
  auto guard = scf::IfOp::create(b, loc, otherwise.getType(), condition,
                                 /*withElseRegion=*/true);
  OpBuilder then = guard.getThenBodyBuilder();
  scf::YieldOp::create(then, loc, load(then));
  OpBuilder other = guard.getElseBodyBuilder();
  scf::YieldOp::create(other, loc, otherwise);
  return guard.getResult(0);
}
