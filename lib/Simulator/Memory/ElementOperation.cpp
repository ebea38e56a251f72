//===- ElementOperation.cpp - Operations of atomics -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of atomics of threads and of reductions of asynchronous
// copies.
//
//===----------------------------------------------------------------------===//

#include "Memory/ElementOperation.h"

#include "Memory/MemoryOperands.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

using Kind = ElementOperation::Kind;

//===----------------------------------------------------------------------===//
// Floating point
//===----------------------------------------------------------------------===//

static const llvm::fltSemantics &getSemantics(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return llvm::APFloat::IEEEhalf();
  case Type::BF16:
  case Type::BF16x2:
    return llvm::APFloat::BFloat();
  case Type::F64:
    return llvm::APFloat::IEEEdouble();
  default:
    return llvm::APFloat::IEEEsingle();
  }
}

/// The NaN that instructions produce.
static uint64_t getCanonicalNaN(const llvm::fltSemantics &semantics) {
  if (&semantics == &llvm::APFloat::IEEEdouble())
    return 0x7FF8000000000000;
  return llvm::maskTrailingOnes<uint64_t>(
      llvm::APFloat::semanticsSizeInBits(semantics) - 1);
}

static void flush(llvm::APFloat &value) {
  if (value.isDenormal())
    value = llvm::APFloat::getZero(value.getSemantics(), value.isNegative());
}

static uint64_t combineFloat(const ElementOperation &operation, uint64_t old,
                             uint64_t operand) {
  const llvm::fltSemantics &semantics = getSemantics(operation.type);
  unsigned bits = llvm::APFloat::semanticsSizeInBits(semantics);
  llvm::APFloat a(semantics, llvm::APInt(bits, old));
  llvm::APFloat b(semantics, llvm::APInt(bits, operand));
  if (operation.isFlushing) {
    flush(a);
    flush(b);
  }
  if (operation.kind == Kind::Add) {
    a.add(b, llvm::APFloat::rmNearestTiesToEven);
    if (operation.isFlushing)
      flush(a);
  } else if (a.isNaN()) {
    a = b;
  } else if (!b.isNaN()) {
    // -0 is below +0.
    bool isLess = a.isZero() && b.isZero() ? a.isNegative() : a < b;
    if (isLess == (operation.kind == Kind::Max))
      a = b;
  }
  return a.isNaN() ? getCanonicalNaN(semantics)
                   : a.bitcastToAPInt().getZExtValue();
}

//===----------------------------------------------------------------------===//
// All types
//===----------------------------------------------------------------------===//

bool ElementOperation::isLegal() const {
  const TypeInfo &info = getTypeInfo(type);
  bool isInteger =
      info.kind == TypeClass::Unsigned || info.kind == TypeClass::Signed;
  bool isWord = info.elements == 1 && (info.bits == 32 || info.bits == 64);
  switch (kind) {
  case Kind::Add:
    return isInteger ? isWord && type != Type::S64
                     : info.kind == TypeClass::Float && type != Type::TF32 &&
                           type != Type::F32x2 && info.bits >= 16 &&
                           info.bits / info.elements >= 16;
  case Kind::Min:
  case Kind::Max:
    return isInteger ? isWord
                     : type == Type::F16 || type == Type::BF16 ||
                           type == Type::F16x2 || type == Type::BF16x2;
  case Kind::And:
  case Kind::Or:
  case Kind::Xor:
  case Kind::Exchange:
    return info.kind == TypeClass::Untyped && isWord;
  case Kind::Inc:
  case Kind::Dec:
    return type == Type::U32;
  }
  return false;
}

uint64_t ElementOperation::combine(uint64_t old, uint64_t operand) const {
  const TypeInfo &info = getTypeInfo(type);
  if (info.kind == TypeClass::Float && kind != Kind::Exchange) {
    if (info.elements == 1)
      return combineFloat(*this, old, operand);
    return combineFloat(*this, old & 0xFFFF, operand & 0xFFFF) |
           combineFloat(*this, old >> 16, operand >> 16) << 16;
  }
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(info.bits);
  bool isLess = info.kind == TypeClass::Signed
                    ? llvm::SignExtend64(old, info.bits) <
                          llvm::SignExtend64(operand, info.bits)
                    : old < operand;
  switch (kind) {
  case Kind::Add:
    return (old + operand) & mask;
  case Kind::Min:
    return isLess ? old : operand;
  case Kind::Max:
    return isLess ? operand : old;
  case Kind::And:
    return old & operand;
  case Kind::Or:
    return old | operand;
  case Kind::Xor:
    return old ^ operand;
  case Kind::Inc:
    return old >= operand ? 0 : old + 1;
  case Kind::Dec:
    return old == 0 || old > operand ? operand : old - 1;
  case Kind::Exchange:
    return operand;
  }
  return old;
}

void ElementOperation::apply(Span &span, uint64_t operand,
                             uint8_t undefined) const {
  const TypeInfo &info = getTypeInfo(type);
  unsigned size = getBytes();
  uint64_t old;
  uint8_t oldUndefined;
  readBytes(span, size, old, oldUndefined);
  if (kind == Kind::Exchange)
    return writeBytes(span, size, operand, undefined);
  undefined |= oldUndefined;
  bool isBitwise = kind == Kind::And || kind == Kind::Or || kind == Kind::Xor;
  unsigned elementSize = isBitwise ? 1 : size / info.elements;
  uint8_t spread = 0, element = llvm::maskTrailingOnes<uint8_t>(elementSize);
  for (unsigned i = 0; i != size; i += elementSize)
    if (undefined >> i & element)
      spread |= element << i;
  writeBytes(span, size, combine(old, operand), spread);
}
