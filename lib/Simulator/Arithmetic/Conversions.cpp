//===- Conversions.cpp - cvt of one element -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One template serves all pairs of types. The modifiers are checked against
// what the types need before a step is emitted.
//
// Source: PTX ISA, sections 9.7.9.21 "cvt", 9.7.9.22 "cvt.pack".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/Conversions.h"

#include "Translation/Emit.h"
#include "Translation/OpcodeTable.h"

#include <algorithm>
#include <cmath>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

namespace {
struct RoundingRow {
  llvm::StringRef name;
  RoundingMode mode;
  bool isIntegral;
};
} // namespace

static constexpr RoundingRow kRoundings[] = {
    {"rn", RoundingMode::NearestTiesToEven, false},
    {"rna", RoundingMode::NearestTiesToAway, false},
    {"rz", RoundingMode::TowardZero, false},
    {"rm", RoundingMode::TowardNegative, false},
    {"rp", RoundingMode::TowardPositive, false},
    {"rni", RoundingMode::NearestTiesToEven, true},
    {"rzi", RoundingMode::TowardZero, true},
    {"rmi", RoundingMode::TowardNegative, true},
    {"rpi", RoundingMode::TowardPositive, true},
};

static ConversionModifiers takeConversionModifiers(Modifiers &modifiers) {
  ConversionModifiers form;
  if (const RoundingRow *row = modifiers.takeRow(kRoundings)) {
    form.rounding = row->mode;
    form.isIntegral = row->isIntegral;
  }
  form.isStochastic = modifiers.take("rs");
  form.isFlushing = modifiers.take("ftz");
  form.isSaturating = modifiers.take("sat");
  form.isSatFinite = modifiers.take("satfinite");
  form.isRelu = modifiers.take("relu");
  return form;
}

uint64_t sim::convertTo(const FloatFormat &format, double value,
                        const ConversionModifiers &form) {
  RoundingMode mode = form.rounding.value_or(RoundingMode::NearestTiesToEven);
  if (form.isSaturating)
    value = value > 0 ? std::min(value, 1.0) : 0.0;
  if (form.isRelu && !std::isnan(value) && std::signbit(value))
    value = 0;
  return fromDouble(value, format, mode, form.isSatFinite);
}

//===----------------------------------------------------------------------===//
// Integers to integers
//===----------------------------------------------------------------------===//

namespace {
/// Extends the lowest bits of a value.
struct Extension {
  uint8_t bits;
  bool isSigned;

  uint64_t operator()(uint64_t value) const {
    unsigned shift = 64 - bits;
    value <<= shift;
    return isSigned
               ? static_cast<uint64_t>(static_cast<int64_t>(value) >> shift)
               : value >> shift;
  }
};

struct ConvertInteger : Operation<uint64_t, 1> {
  Extension from, to;
  /// The bits of the result register.
  uint64_t mask;

  uint64_t operator()(uint64_t a) const { return to(from(a)) & mask; }
  /// Bytes keep their positions; the extension depends on the highest one.
  uint8_t getUndefined(const Sources &, const UndefinedBytes &undefined) const {
    return collapseBits(to(from(expandBytes(undefined[0]))) & mask);
  }
};

/// Clamps to the range of the result.
struct SaturateInteger : Operation<uint64_t, 1> {
  Extension from, to;
  uint64_t mask;

  uint64_t operator()(uint64_t a) const {
    return clamp(from(a), from.isSigned) & mask;
  }
  uint8_t getUndefined(const Sources &, const UndefinedBytes &undefined) const {
    bool isUndefined =
        undefined[0] & llvm::maskTrailingOnes<uint8_t>(from.bits / 8);
    return isUndefined ? collapseBits(mask) : 0;
  }

private:
  uint64_t clamp(uint64_t value, bool isSigned) const {
    uint64_t largest =
        llvm::maskTrailingOnes<uint64_t>(to.bits - (to.isSigned ? 1 : 0));
    bool isNegative = isSigned && static_cast<int64_t>(value) < 0;
    if (!isNegative)
      return std::min(value, largest);
    if (!to.isSigned)
      return 0;
    return std::max(static_cast<int64_t>(value),
                    -static_cast<int64_t>(largest) - 1);
  }
};
} // namespace

static Extension getExtension(Type type) {
  const TypeInfo &info = getTypeInfo(type);
  return {static_cast<uint8_t>(info.bits), info.kind == TypeClass::Signed};
}

//===----------------------------------------------------------------------===//
// With floating point
//===----------------------------------------------------------------------===//

namespace {
/// The result depends on all bytes of the source type.
struct FloatConversion : Operation<uint64_t, 1> {
  ConversionModifiers form;
  const FloatFormat *from, *to;
  uint8_t fromBytes;
  uint64_t mask;

  uint8_t getUndefined(const Sources &, const UndefinedBytes &undefined) const {
    bool isUndefined =
        undefined[0] & llvm::maskTrailingOnes<uint8_t>(fromBytes);
    return isUndefined ? collapseBits(mask) : 0;
  }

protected:
  double read(uint64_t bits) const {
    bits &= llvm::maskTrailingOnes<uint64_t>(fromBytes * 8);
    if (form.isFlushing && from->mantissaBits == kF32.mantissaBits)
      bits = flushSubnormal(bits, *from);
    return toDouble(bits, *from);
  }
};

struct FloatToFloat : FloatConversion {
  /// A NaN keeps its sign and the part of its payload that fits; else it
  /// becomes the canonical NaN. The ISA leaves it open; GPUs do so.
  bool keepsNaN;

  uint64_t operator()(uint64_t a) const {
    double value = read(a);
    if (keepsNaN && std::isnan(value))
      return moveNaN(a);
    if (form.isIntegral)
      value = roundToIntegral(value, *form.rounding);
    uint64_t bits = convertTo(*to, value, form);
    if (form.isFlushing && to->mantissaBits == kF32.mantissaBits)
      bits = flushSubnormal(bits, *to);
    return bits;
  }

private:
  uint64_t moveNaN(uint64_t nan) const {
    uint64_t payload = nan & ~from->getInfinity() & from->getMagnitudeMask();
    int shift = static_cast<int>(to->mantissaBits - from->mantissaBits);
    payload = shift < 0 ? payload >> -shift : payload << shift;
    // NaNs of wide formats become quiet.
    if (from->exponentBits == kF64.exponentBits ||
        to->exponentBits == kF64.exponentBits)
      payload |= uint64_t(1) << (to->mantissaBits - 1);
    uint64_t sign = nan >> from->getSignBit() & 1;
    return sign << to->getSignBit() | to->getInfinity() | payload;
  }
};

struct FloatToInteger : FloatConversion {
  Extension result;
  /// The result for a NaN.
  uint64_t nan;

  uint64_t operator()(uint64_t a) const {
    double value = read(a);
    if (std::isnan(value))
      return nan;
    value = roundToIntegral(value, *form.rounding);
    // Both ends of the range are doubles, or one above the end.
    double end = std::ldexp(1.0, result.bits - (result.isSigned ? 1 : 0));
    if (value >= end)
      return llvm::maskTrailingOnes<uint64_t>(result.bits -
                                              (result.isSigned ? 1 : 0));
    if (!result.isSigned)
      return value > 0 ? static_cast<uint64_t>(value) : 0;
    value = std::max(value, -end);
    return static_cast<uint64_t>(static_cast<int64_t>(value)) & mask;
  }
};

struct IntegerToFloat : FloatConversion {
  Extension source;

  uint64_t operator()(uint64_t a) const {
    uint64_t value = source(a);
    bool isNegative = source.isSigned && static_cast<int64_t>(value) < 0;
    Unrounded number = {isNegative, isNegative ? -value : value, 0};
    if (form.isSaturating)
      number.significand = !isNegative && value ? 1 : 0;
    if (!number.significand)
      return 0;
    return round(number, *to, *form.rounding);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

static bool isInteger(Type type) {
  TypeClass kind = getTypeInfo(type).kind;
  return getTypeInfo(type).elements == 1 && getBits(type) >= 8 &&
         (kind == TypeClass::Unsigned || kind == TypeClass::Signed);
}

static bool isFloat(Type type) {
  switch (type) {
  case Type::F16:
  case Type::BF16:
  case Type::TF32:
  case Type::F32:
  case Type::F64:
    return true;
  default:
    return false;
  }
}

/// Whether some values of one format do not exist in the other.
static bool isNarrowing(const FloatFormat &from, const FloatFormat &to) {
  return to.mantissaBits < from.mantissaBits ||
         to.exponentBits < from.exponentBits;
}

/// Checks the modifiers against what the types need.
static bool checkModifiers(Translator &t, const ConversionModifiers &form,
                           Type to, Type from) {
  auto fail = [&](const llvm::Twine &expected) {
    return t.error("expected " + expected + " of cvt." + getName(to) + "." +
                   getName(from));
  };
  bool needsIntegral = isFloat(from) && isInteger(to);
  bool needsRounding = needsIntegral || (isInteger(from) && isFloat(to)) ||
                       (isFloat(from) && isFloat(to) &&
                        isNarrowing(getFloatFormat(from), getFloatFormat(to)));
  bool mayRound = needsRounding || (isFloat(from) && from == to);
  if (form.isStochastic)
    return fail("a rounding other than .rs");
  if (needsRounding && !form.rounding)
    return fail("a rounding modifier");
  if (!mayRound && form.rounding)
    return fail("no rounding modifier");
  if (form.rounding && form.isIntegral != (needsIntegral || !needsRounding))
    return fail(needsIntegral || !needsRounding
                    ? "an integer rounding such as .rni"
                    : "a rounding such as .rn");
  if (form.rounding == RoundingMode::NearestTiesToAway && to != Type::TF32)
    return fail("a rounding other than .rna");
  bool hasF32 = from == Type::F32 || to == Type::F32;
  if (form.isFlushing && !hasF32)
    return fail("no .ftz");
  if ((form.isRelu || form.isSatFinite) &&
      (from != Type::F32 ||
       (to != Type::F16 && to != Type::BF16 && to != Type::TF32)))
    return fail("no .relu or .satfinite");
  return true;
}

static void emitIntegerConversion(Translator &t,
                                  const ConversionModifiers &form, Type to,
                                  Type from, llvm::ArrayRef<Slot> slots,
                                  uint64_t mask) {
  if (form.isSaturating)
    return emitOperation(
        t, slots,
        SaturateInteger{{}, getExtension(from), getExtension(to), mask},
        StepClass::Conversion);
  emitOperation(t, slots,
                ConvertInteger{{}, getExtension(from), getExtension(to), mask},
                StepClass::Conversion);
}

static void emitFloatConversion(Translator &t, const ConversionModifiers &form,
                                Type to, Type from, llvm::ArrayRef<Slot> slots,
                                uint64_t mask) {
  FloatConversion base = {};
  base.form = form;
  base.from = &getFloatFormat(from);
  base.to = &getFloatFormat(to);
  base.fromBytes = static_cast<uint8_t>(getBytes(from));
  base.mask = mask;
  if (!isInteger(to)) {
    if (!isInteger(from)) {
      bool isMove = from == to && !form.isFlushing && !form.isSaturating &&
                    !form.isIntegral;
      bool keepsNaN = from == Type::F64 || to == Type::F64 || isMove ||
                      (from == Type::BF16 && to == Type::F32);
      return emitOperation(t, slots, FloatToFloat{base, keepsNaN},
                           StepClass::Conversion);
    }
    return emitOperation(t, slots, IntegerToFloat{base, getExtension(from)},
                         StepClass::Conversion);
  }
  FloatToInteger conversion = {base, getExtension(to), 0};
  // If the source or the result has 64 bits, a NaN becomes the highest bit
  // alone.
  unsigned bits = getBits(to);
  if (from == Type::F64 || bits == 64)
    conversion.nan = getExtension(to)(uint64_t(1) << (bits - 1)) & mask;
  emitOperation(t, slots, conversion, StepClass::Conversion);
}

//===----------------------------------------------------------------------===//
// cvt.pack
//===----------------------------------------------------------------------===//

namespace {
/// Rounds a and b to the nearest integers of `bits` bits and packs them, b
/// below a, with the low bits of c above them.
struct PackIntegers : Operation<uint32_t, 3> {
  unsigned bits;
  bool isSigned;

  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    return convert(b) | convert(a) << bits | c << 2 * bits;
  }

private:
  uint64_t convert(uint64_t value) const {
    int64_t least = isSigned ? llvm::minIntN(bits) : 0;
    int64_t most = isSigned ? llvm::maxIntN(bits)
                            : static_cast<int64_t>(llvm::maxUIntN(bits));
    return std::clamp(llvm::SignExtend64<32>(value), least, most) &
           llvm::maskTrailingOnes<uint64_t>(bits);
  }
};
} // namespace

static void translatePack(Translator &t, Modifiers &modifiers) {
  static constexpr struct {
    llvm::StringRef name;
    unsigned bits;
    bool isSigned;
  } types[] = {
      {"u16", 16, false}, {"s16", 16, true}, {"u8", 8, false}, {"s8", 8, true},
      {"u4", 4, false},   {"s4", 4, true},   {"u2", 2, false}, {"s2", 2, true},
  };
  bool saturates = modifiers.take("sat");
  const auto *row = modifiers.takeRow(types);
  if (!saturates || !row || !modifiers.take("s32"))
    return t.fail("expected .sat, a type of 2 to 16 bits and .s32 behind "
                  "cvt.pack");
  bool hasThird = row->bits != 16;
  if (hasThird && !modifiers.take("b32"))
    return t.fail("expected .b32 behind cvt.pack.sat." + row->name + ".s32");
  PackIntegers pack = {};
  pack.bits = row->bits;
  pack.isSigned = row->isSigned;
  llvm::SmallVector<Type, 3> sources(2, Type::S32);
  if (hasThird)
    sources.push_back(Type::B32);
  Slots slots = takeOperands(t, modifiers, Type::B32, sources);
  if (!hasThird)
    slots.push_back(t.constantSlot(0));
  emitOperation(t, slots, pack, StepClass::Conversion);
}

static void translateConversion(Translator &t, Modifiers &modifiers) {
  if (modifiers.take("pack"))
    return translatePack(t, modifiers);
  std::optional<Type> to = modifiers.takeType(), from = modifiers.takeType();
  if (!to || !from)
    return t.fail("expected two types behind cvt");
  ConversionModifiers form = takeConversionModifiers(modifiers);
  if (!t.finish(modifiers))
    return;
  if (getTypeInfo(*to).elements > 1)
    return translatePackedConversion(t, form, *to, *from);
  if (!(isInteger(*to) || isFloat(*to)) ||
      !(isInteger(*from) || isFloat(*from)))
    return t.fail("expected types that cvt converts, got ." +
                  llvm::Twine(getName(*to)) + " and ." + getName(*from));
  if (!checkModifiers(t, form, *to, *from) || !t.expectOperands(2))
    return;
  const PtxOperand &destination = t.current->operands[0];
  Slot slots[] = {t.destination(destination, *to, /*isWide=*/isInteger(*to)),
                  t.source(t.current->operands[1], *from,
                           /*isWide=*/isInteger(*from))};
  if (t.hasFailed())
    return;
  uint64_t mask = t.getRegisterMask(destination);
  if (isInteger(*to) && isInteger(*from))
    emitIntegerConversion(t, form, *to, *from, slots, mask);
  else
    emitFloatConversion(t, form, *to, *from, slots, mask);
}

void sim::addConversionInstructions(OpcodeTable &table) {
  table["cvt"] = translateConversion;
}
