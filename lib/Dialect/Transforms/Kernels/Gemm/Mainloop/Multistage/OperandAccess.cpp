//===- OperandAccess.cpp - Reads of an operand in memory ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/OperandAccess.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The position in the operand, whose rows may be gathered.
ElementPosition OperandAccess::resolve(OpBuilder &b,
                                       ElementPosition start) const {
  if (!source.gathered)
    return start;
  Value inTile = arith::SubIOp::create(b, loc, start.row, source.origin);
  Value row = memref::LoadOp::create(b, loc, source.gathered, inTile);
  return {arith::IndexCastOp::create(b, loc, b.getIndexType(), row),
          start.column};
}

Value OperandAccess::isInside(OpBuilder &b,
                              const ElementPosition &start) const {
  if (!isGuarded)
    return {};
  Value isRow = isBelow(b, loc, start.row, source.rows);
  Value isColumn = isBelow(b, loc, start.column, source.columns);
  return arith::AndIOp::create(b, loc, isRow, isColumn);
}

/// `start` if `isInside` (null for always), else the first element.
SmallVector<Value> OperandAccess::getPosition(OpBuilder &b,
                                              ElementPosition start,
                                              Value isInside) const {
  if (isInside) {
    Value zero = makeIndex(b, loc, 0);
    start.row = arith::SelectOp::create(b, loc, isInside, start.row, zero);
    start.column =
        arith::SelectOp::create(b, loc, isInside, start.column, zero);
  }
  return applyMap(b, loc, operand.map, {source.batch, start.row, start.column});
}

void OperandAccess::copyAsync(OpBuilder &b, const ElementPosition &unresolved,
                              Value memory, ArrayRef<Value> to, int64_t bytes,
                              Value plus) const {
  ElementPosition start = resolve(b, unresolved);
  Value inside = isInside(b, start);
  Value read;
  Value source = context.getArgument(operand.argument);
  constexpr unsigned kByteBits = 8;
  unsigned elementBits =
      cast<MemRefType>(source.getType()).getElementTypeBitWidth();
  int64_t elements = bytes * kByteBits / elementBits;
  if (inside && !isClamped)
    // A predicated-off read still has an address, which must be aligned.
    read = arith::SelectOp::create(b, loc, inside, makeIndex(b, loc, elements),
                                   makeIndex(b, loc, 0));
  SmallVector<Value> from = getPosition(b, start, inside);
  AffineExpr d0 = getAffineDimExpr(0, b.getContext());
  if (operand.bits < kByteBits)
    from.back() =
        applyExprs(b, loc, {(d0 * operand.bits).floorDiv(8)}, from.back())[0];
  if (plus)
    from.back() = arith::AddIOp::create(b, loc, from.back(), plus);
  // A block reads each element once; what several blocks read is in the L2
  // cache.
  bool bypassesL1 = bytes == kChunkBytes;
  nvgpu::DeviceAsyncCopyOp::create(
      b, loc, nvgpu::DeviceAsyncTokenType::get(b.getContext()), memory, to,
      source, from, b.getIndexAttr(elements), read,
      bypassesL1 ? b.getUnitAttr() : UnitAttr());
}

Value OperandAccess::gatherWord(OpBuilder &b, const ElementPosition &unresolved,
                                int64_t count, Slot slot) const {
  ElementPosition start = resolve(b, unresolved);
  Type i32 = b.getI32Type();
  Value word;
  for (int64_t i = 0; i != count; ++i) {
    ElementPosition one = {start.row, addConstant(b, loc, start.column, i)};
    Value inside = isInside(b, one);
    SmallVector<Value> position = getPosition(b, one, inside);
    Value memory = context.getArgument(operand.argument);
    Value code;
    if (isa<FloatType>(cast<MemRefType>(memory.getType()).getElementType())) {
      Value number = memref::LoadOp::create(b, loc, memory, position);
      code = arith::BitcastOp::create(b, loc, b.getI16Type(), number);
    } else {
      code = emitLoadCode(b, loc, memory, operand.bits, position);
    }
    if (inside && !isClamped) {
      Value zero = arith::ConstantIntOp::create(b, loc, code.getType(), 0);
      code = arith::SelectOp::create(b, loc, inside, code, zero);
    }
    code = arith::ExtUIOp::create(b, loc, i32, code);
    Value shift =
        arith::ConstantIntOp::create(b, loc, i32, i * slot.bits + slot.shift);
    code = arith::ShLIOp::create(b, loc, code, shift);
    word = word ? Value(arith::OrIOp::create(b, loc, word, code)) : code;
  }
  return word;
}

SmallVector<Value> OperandAccess::loadWords(OpBuilder &b,
                                            const ElementPosition &unresolved,
                                            int64_t count) const {
  ElementPosition start = resolve(b, unresolved);
  Value inside = isInside(b, start);
  SmallVector<Value> from = getPosition(b, start, inside);
  AffineExpr d0 = getAffineDimExpr(0, b.getContext());
  from.back() =
      applyExprs(b, loc, {d0.floorDiv(8 / operand.bits)}, from.back())[0];
  Value bytes = vector::LoadOp::create(
      b, loc, VectorType::get(count * kWordBytes, b.getI8Type()),
      context.getArgument(operand.argument), from, /*nontemporal=*/false,
      llvm::MaybeAlign(count * kWordBytes));
  Value asVector = vector::BitCastOp::create(
      b, loc, VectorType::get(count, b.getI32Type()), bytes);
  SmallVector<Value> words;
  for (int64_t i = 0; i != count; ++i) {
    Value word = vector::ExtractOp::create(b, loc, asVector, i);
    if (inside) {
      Value zero = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0);
      word = arith::SelectOp::create(b, loc, inside, word, zero);
    }
    words.push_back(word);
  }
  return words;
}

void blockscale::storeWords(OpBuilder &b, Location loc, ValueRange words,
                            Value memory, ArrayRef<Value> to) {
  int64_t numBytes = words.size() * kWordBytes;
  constexpr unsigned kByteBits = 8;
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  Value asVector = vector::FromElementsOp::create(
      b, loc,
      VectorType::get(static_cast<int64_t>(words.size()), b.getI32Type()),
      words);
  int64_t count = numBytes * kByteBits / element.getIntOrFloatBitWidth();
  Value bytes = vector::BitCastOp::create(
      b, loc, VectorType::get(count, element), asVector);
  vector::StoreOp::create(b, loc, bytes, memory, to, /*nontemporal=*/false,
                          llvm::MaybeAlign(numBytes));
}
