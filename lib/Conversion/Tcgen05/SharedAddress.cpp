//===- SharedAddress.cpp - Addresses in shared memory ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of addresses below 2^18 stay in their field, so it is enough to mask the
// first address. Memory and offsets are multiples of 16 bytes.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/SharedAddress.h"

#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "blockscale/Support/Descriptors.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

Value blockscale::makeI32(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(
      b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value blockscale::getSharedPointer(OpBuilder &b, Location loc,
                                   const LLVMTypeConverter &converter,
                                   Value memory) {
  Type type = converter.convertType(memory.getType());
  Value converted =
      UnrealizedConversionCastOp::create(b, loc, type, memory).getResult(0);
  return MemRefDescriptor(converted).alignedPtr(b, loc);
}

Value blockscale::getSharedElement(OpBuilder &b, Location loc,
                                   const LLVMTypeConverter &converter,
                                   Value memory, Value index) {
  Value base = getSharedPointer(b, loc, converter, memory);
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  // 32 bits are enough there.
  Value number =
      b.createOrFold<arith::IndexCastUIOp>(loc, b.getI32Type(), index);
  return LLVM::GEPOp::create(b, loc, base.getType(), element, base, number);
}

/// Converts a number of bytes, a multiple of 16, to units of 16. Operands of
/// sums and products are divided before these are computed, up to `depth`.
static Value toUnits(OpBuilder &b, Location loc, Value bytes,
                     unsigned depth = 8) {
  constexpr int64_t kUnit = int64_t(1) << kAddressShift;
  auto toI32 = [&](Value value) {
    return b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), value);
  };
  if (std::optional<int64_t> constant = getConstantIntValue(bytes))
    return makeI32(b, loc, *constant / kUnit);
  if (auto add = bytes.getDefiningOp<arith::AddIOp>())
    if (depth != 0 && isKnownMultiple(add.getRhs(), kUnit)) {
      Value lhs = toUnits(b, loc, add.getLhs(), depth - 1);
      Value rhs = toUnits(b, loc, add.getRhs(), depth - 1);
      return b.createOrFold<arith::AddIOp>(loc, lhs, rhs);
    }
  if (auto mul = bytes.getDefiningOp<arith::MulIOp>())
    if (std::optional<int64_t> factor = getConstantIntValue(mul.getRhs());
        factor && *factor % kUnit == 0) {
      Value lhs = toI32(mul.getLhs());
      Value rhs = makeI32(b, loc, *factor / kUnit);
      return b.createOrFold<arith::MulIOp>(loc, lhs, rhs);
    }
  Value shift = makeI32(b, loc, kAddressShift);
  return b.createOrFold<arith::ShRUIOp>(loc, toI32(bytes), shift);
}

/// Strips views from `memory`; returns their offsets in bytes.
static SmallVector<Value> takeViews(Value &memory) {
  SmallVector<Value> offsets;
  while (auto view = memory.getDefiningOp<memref::ViewOp>()) {
    if (!view.getSource().getType().getLayout().isIdentity())
      break;
    offsets.push_back(view.getByteShift());
    memory = view.getSource();
  }
  return offsets;
}

/// The descriptor `word` of the start of `memory`, created at its definition,
/// and opaque to LLVM: it would recompute constant high halves for each
/// descriptor. This way a descriptor costs one 64-bit addition (ptxas 13.0:
/// UIADD3.64).
static Value makeFirst(OpBuilder &b, Location loc,
                       const LLVMTypeConverter &converter, uint64_t word,
                       Value memory) {
  constexpr unsigned kHalf = 32;
  Value pointer = getSharedPointer(b, loc, converter, memory);
  Value base = LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), pointer);
  // A shared address in a cluster has the block's rank above its field, from
  // bit 24 on (measured on an H200).
  base = arith::AndIOp::create(b, loc, base, makeI32(b, loc, kAddressMask));
  Value shift = makeI32(b, loc, kAddressShift);
  Value low = arith::ShRUIOp::create(b, loc, base, shift);
  if (auto constant = static_cast<uint32_t>(word))
    low = arith::AddIOp::create(b, loc, low, makeI32(b, loc, constant));
  Value high = makeI32(b, loc, static_cast<int64_t>(word >> kHalf));
  return LLVM::InlineAsmOp::create(
             b, loc, b.getI64Type(), ValueRange{low, high},
             "mov.b64 $0, {$1, $2};", "=l,r,r", /*has_side_effects=*/false,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             LLVM::AsmDialectAttr(), ArrayAttr())
      .getRes();
}

Value blockscale::addSharedAddress(OpBuilder &b, Location loc,
                                   const LLVMTypeConverter &converter,
                                   uint64_t word, Value memory, Value offset) {
  SmallVector<Value> offsets = takeViews(memory);
  offsets.push_back(offset);
  Value units;
  for (Value bytes : offsets)
    if (getConstantIntValue(bytes) != 0) {
      Value more = toUnits(b, loc, bytes);
      units = units ? b.createOrFold<arith::AddIOp>(loc, units, more) : more;
    }
  Value first = makeFirst(b, loc, converter, word, memory);
  if (!units)
    return first;
  Value wide = b.createOrFold<arith::ExtUIOp>(loc, b.getI64Type(), units);
  return arith::AddIOp::create(b, loc, first, wide);
}
