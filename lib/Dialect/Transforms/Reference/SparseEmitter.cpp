//===- SparseEmitter.cpp - Arithmetic on metadata -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables of 16 entries are constants that are shifted, so that no memory is
// read for them.
//
//===----------------------------------------------------------------------===//

#include "Reference/SparseEmitter.h"

#include "Utils/CheckMessage.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value SparseEmitter::toCode(Value element) {
  unsigned width = element.getType().getIntOrFloatBitWidth();
  return widen(
      arith::BitcastOp::create(b, loc, b.getIntegerType(width), element));
}

Value SparseEmitter::toElement(Value code, Type type) {
  return arith::BitcastOp::create(b, loc, type,
                                  narrow(code, type.getIntOrFloatBitWidth()));
}

Value SparseEmitter::isZero(Value code, Format format) {
  return isEqual(bitAnd(code, getFormatInfo(format).magnitudeMask()), 0);
}

//===----------------------------------------------------------------------===//
// Indices along K
//===----------------------------------------------------------------------===//

Value SparseEmitter::apply(AffineExpr expr, ValueRange indices) {
  return getValueOrCreateConstantIndexOp(
      b, loc,
      affine::makeComposedFoldedAffineApply(
          b, loc, expr, getAsOpFoldResult(llvm::to_vector(indices))));
}

Value SparseEmitter::getChunk(Value k) {
  return apply(b.getAffineDimExpr(0).floorDiv(units.chunk()), k);
}

Value SparseEmitter::getUnit(Value k) {
  return apply(b.getAffineDimExpr(0).floorDiv(units.unit) % kUnitsPerChunk, k);
}

Value SparseEmitter::getInUnit(Value k) {
  return apply(b.getAffineDimExpr(0) % units.unit, k);
}

Value SparseEmitter::getKeptChunk(Value index) {
  return apply(b.getAffineDimExpr(0).floorDiv(units.keptOfChunk()), index);
}

Value SparseEmitter::getKeptUnit(Value index) {
  return apply(b.getAffineDimExpr(0).floorDiv(units.unit) % kKeptUnits, index);
}

Value SparseEmitter::join(Value chunk, Value unit, Value inUnit,
                          int64_t unitsOfChunk) {
  AffineExpr d0, d1, d2;
  bindDims(b.getContext(), d0, d1, d2);
  return apply((d0 * unitsOfChunk + d1) * units.unit + d2,
               {chunk, unit, inUnit});
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

Value SparseEmitter::toIndex(Value integer) {
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), integer);
}

Value SparseEmitter::toInteger(Value index) {
  return arith::IndexCastUIOp::create(b, loc, bits, index);
}

Value SparseEmitter::getField(Value byte, Value chunk) {
  Value isOdd = toInteger(apply(b.getAffineDimExpr(0) % 2, chunk));
  Value shifted = shiftRight(widen(byte), mul(isOdd, kFieldBits));
  return bitAnd(shifted, kNumFields - 1);
}

Value SparseEmitter::getPosition(Value field, Value kept) {
  Value shifted = shiftRight(field, mul(toInteger(kept), kPositionBits));
  return bitAnd(shifted, kUnitsPerChunk - 1);
}

Value SparseEmitter::getPosition(Value field, unsigned kept) {
  return bitAnd(shiftRight(field, kept * kPositionBits), kUnitsPerChunk - 1);
}

Value SparseEmitter::isLegal(Value field, Value isZero) {
  Value legal =
      isDifferent(bitAnd(shiftRight(integer(getLegalFields()), field), 1), 0);
  Value isEmpty = bitAnd(isEqual(field, kEmptyChunkField), isZero);
  return bitOr(legal, isEmpty);
}

Value SparseEmitter::getFieldOfMask(Value nonZeros) {
  Value table =
      arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(getFieldTable()));
  Value shift =
      arith::ExtUIOp::create(b, loc, b.getI64Type(), mul(nonZeros, kFieldBits));
  return bitAnd(narrow(shiftRight(table, shift), bits.getWidth()),
                kNumFields - 1);
}

Value SparseEmitter::hasField(Value nonZeros) {
  uint32_t masks = 0;
  for (unsigned mask = 0; mask != 1u << kUnitsPerChunk; ++mask)
    if (blockscale::getField(mask))
      masks |= 1u << mask;
  return isDifferent(bitAnd(shiftRight(integer(masks), nonZeros), 1), 0);
}

// The assertion is inside of a branch, because upstream's conversion of
// parallel loops to kernels takes none in the loop itself.
void SparseEmitter::expect(Value condition, Operation *op,
                           const Twine &expectation) {
  auto branch = scf::IfOp::create(b, loc, negate(condition),
                                  /*withElseRegion=*/false);
  OpBuilder inner = branch.getThenBodyBuilder();
  Value failed = ArithEmitter(inner, loc).flag(false);
  cf::AssertOp::create(inner, loc, failed,
                       getCheckMessage(op, ("expected " + expectation).str()));
}

void SparseEmitter::expectLegal(Value field, Value isZero, Operation *op) {
  expect(isLegal(field, isZero), op,
         "fields of metadata whose two positions ascend, or 0000 where both "
         "kept units are zeros");
}
