//===- SharedAddress.cpp - Addresses in descriptors -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of addresses below 2^18 stay in their field: no masks. Memory and
// offsets are multiples of 16 bytes.
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

Value blockscale::getSharedPointer(OpBuilder &b, Location loc,
                                   const LLVMTypeConverter &converter,
                                   Value memory) {
  Type type = converter.convertType(memory.getType());
  Value converted =
      UnrealizedConversionCastOp::create(b, loc, type, memory).getResult(0);
  return MemRefDescriptor(converted).alignedPtr(b, loc);
}

static Value makeWord(OpBuilder &b, Location loc, uint64_t value) {
  return arith::ConstantOp::create(
      b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

/// A number of bytes, a multiple of 16, in units of 16. Sums and products are
/// divided before they are computed, as deep as `depth`.
static Value toUnits(OpBuilder &b, Location loc, Value bytes,
                     unsigned depth = 8) {
  constexpr int64_t kUnit = int64_t(1) << kAddressShift;
  auto toI32 = [&](Value value) {
    return b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), value);
  };
  if (std::optional<int64_t> constant = getConstantIntValue(bytes))
    return makeWord(b, loc, *constant / kUnit);
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
      Value rhs = makeWord(b, loc, *factor / kUnit);
      return b.createOrFold<arith::MulIOp>(loc, lhs, rhs);
    }
  Value shift = makeWord(b, loc, kAddressShift);
  return b.createOrFold<arith::ShRUIOp>(loc, toI32(bytes), shift);
}

/// Takes views off `memory`; their offsets, in bytes.
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

Value blockscale::addSharedAddress(OpBuilder &b, Location loc,
                                   const LLVMTypeConverter &converter,
                                   uint64_t word, Value memory, Value offset) {
  constexpr unsigned kHalf = 32;
  SmallVector<Value> offsets = takeViews(memory);
  offsets.push_back(offset);
  Value pointer = getSharedPointer(b, loc, converter, memory);
  Value base = LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), pointer);
  Value shift = makeWord(b, loc, kAddressShift);
  Value low = arith::ShRUIOp::create(b, loc, base, shift);
  if (auto constant = static_cast<uint32_t>(word))
    low = arith::AddIOp::create(b, loc, low, makeWord(b, loc, constant));
  for (Value bytes : offsets)
    if (getConstantIntValue(bytes) != 0) {
      Value units = toUnits(b, loc, bytes);
      low = arith::AddIOp::create(b, loc, low, units);
    }
  Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), low);
  Value high = arith::ConstantOp::create(
      b, loc,
      b.getI64IntegerAttr(static_cast<int64_t>(word >> kHalf << kHalf)));
  return arith::OrIOp::create(b, loc, wide, high);
}
