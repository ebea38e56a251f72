//===- PackedConversions.cpp - cvt of packed elements ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first source becomes the highest element of the result.
//
// Source: PTX ISA, section 9.7.9.21 "cvt".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/Conversions.h"
#include "Translation/Emit.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

//===----------------------------------------------------------------------===//
// The table of conversions
//===----------------------------------------------------------------------===//

namespace {
/// Sets of types, roundings and flags.
enum : unsigned {
  FromF32 = 1 << 0,
  FromF16x2 = 1 << 1,
  FromBF16x2 = 1 << 2,
  RoundNearest = 1 << 3,
  RoundZero = 1 << 4,
  RoundUp = 1 << 5,
  Stochastic = 1 << 6,
  MayRelu = 1 << 7,
  MaySatFinite = 1 << 8,
  NeedsSatFinite = 1 << 9,
};

struct NarrowRow {
  Type to;
  unsigned legal;
};

/// Narrow formats to f16x2 or bf16x2, exactly.
struct WidenRow {
  Type from, to;
  bool mayRelu;
};
} // namespace

// clang-format off
static constexpr unsigned kToHalf =
    FromF32 | RoundNearest | RoundZero | Stochastic | MayRelu | MaySatFinite;
static constexpr unsigned kToNarrow =
    FromF32 | FromF16x2 | FromBF16x2 | RoundNearest | MayRelu | NeedsSatFinite;
static constexpr unsigned kToFour =
    FromF32 | Stochastic | MayRelu | NeedsSatFinite;

static constexpr NarrowRow kNarrow[] = {
    {Type::F16x2,   kToHalf},
    {Type::BF16x2,  kToHalf},
    {Type::E4M3x2,  kToNarrow},
    {Type::E5M2x2,  kToNarrow},
    {Type::E2M3x2,  kToNarrow},
    {Type::E3M2x2,  kToNarrow},
    {Type::E2M1x2,  kToNarrow},
    {Type::UE8M0x2, FromF32 | FromBF16x2 | RoundZero | RoundUp | MaySatFinite},
    {Type::E4M3x4,  kToFour},
    {Type::E5M2x4,  kToFour},
    {Type::E2M3x4,  kToFour},
    {Type::E3M2x4,  kToFour},
    {Type::E2M1x4,  kToFour},
};

static constexpr WidenRow kWiden[] = {
    {Type::E4M3x2,  Type::F16x2,  true},
    {Type::E5M2x2,  Type::F16x2,  true},
    {Type::E2M3x2,  Type::F16x2,  true},
    {Type::E3M2x2,  Type::F16x2,  true},
    {Type::E2M1x2,  Type::F16x2,  true},
    {Type::UE8M0x2, Type::BF16x2, false},
};
// clang-format on

/// The flags of an instruction's modifiers; nothing if no row of the table can
/// have them.
static std::optional<unsigned> getFlags(const ConversionModifiers &form,
                                        Type from) {
  unsigned flags = 0;
  if (form.isFlushing || form.isSaturating || form.isIntegral)
    return std::nullopt;
  if (form.isStochastic)
    flags |= Stochastic;
  if (form.rounding == RoundingMode::NearestTiesToEven)
    flags |= RoundNearest;
  else if (form.rounding == RoundingMode::TowardZero)
    flags |= RoundZero;
  else if (form.rounding == RoundingMode::TowardPositive)
    flags |= RoundUp;
  else if (form.rounding || !form.isStochastic)
    return std::nullopt;
  if (form.isRelu)
    flags |= MayRelu;
  if (form.isSatFinite)
    flags |= MaySatFinite;
  switch (from) {
  case Type::F32:
    return flags | FromF32;
  case Type::F16x2:
    return flags | FromF16x2;
  case Type::BF16x2:
    return flags | FromBF16x2;
  default:
    return std::nullopt;
  }
}

static bool isLegal(const ConversionModifiers &form, Type to, Type from) {
  for (const WidenRow &row : kWiden)
    if (row.to == to && row.from == from)
      return form.rounding == RoundingMode::NearestTiesToEven &&
             !form.isIntegral && !form.isStochastic && !form.isFlushing &&
             !form.isSaturating && !form.isSatFinite &&
             (row.mayRelu || !form.isRelu);
  const NarrowRow *row = llvm::find_if(
      kNarrow, [&](const NarrowRow &row) { return row.to == to; });
  std::optional<unsigned> flags = getFlags(form, from);
  if (row == std::end(kNarrow) || !flags)
    return false;
  unsigned legal = row->legal;
  if (legal & NeedsSatFinite) {
    if (!form.isSatFinite)
      return false;
    legal |= MaySatFinite;
  }
  return !(*flags & ~legal);
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the result, the sources from the first element of the instruction
/// on (one register if they are packed), the random bits.
struct PackedForm {
  ConversionModifiers modifiers;
  const FloatFormat *from, *to;
  unsigned count, fromBits, toBits;
  bool isSourcePacked;
};

/// Bits of a register with their undefined bytes.
struct Bits {
  uint64_t value = 0;
  uint8_t undefined = 0;
};
} // namespace

/// The bytes that bits from `first` on touch.
static uint8_t getBytesOf(unsigned first, unsigned count) {
  unsigned begin = first / 8, end = (first + count + 7) / 8;
  return llvm::maskTrailingOnes<uint8_t>(end - begin) << begin;
}

/// The random bits of element i (0 is the lowest). Each of two elements gets a
/// half of the register (an f16 the lower 13 bits of it). Of four elements,
/// each two share a half; the upper one uses its bits in reverse order.
static uint32_t getRandomBits(const PackedForm &form, unsigned i, uint64_t bits,
                              unsigned &count) {
  unsigned half = i * 2 / form.count;
  auto random = static_cast<uint16_t>(bits >> half * 16);
  count = 16;
  if (form.count == 4)
    return i % 2 ? llvm::reverseBits(random) : random;
  if (form.to->mantissaBits != kF16.mantissaBits)
    return random;
  count = 13;
  return random & 0x1FFF;
}

static uint64_t convertElement(const PackedForm &form, unsigned i,
                               uint64_t source, uint64_t random) {
  double value = toDouble(source, *form.from);
  if (!form.modifiers.isStochastic || !std::isfinite(value))
    return convertTo(*form.to, value, form.modifiers);
  if (form.modifiers.isRelu && std::signbit(value))
    return 0;
  unsigned count;
  uint32_t bits = getRandomBits(form, i, random, count);
  return roundStochastically(toUnrounded(value), *form.to, bits, count,
                             form.modifiers.isSatFinite);
}

/// Element i of the sources (0 is the lowest).
static Bits readElement(Warp &warp, const Step &step, const PackedForm &form,
                        unsigned i, unsigned lane) {
  unsigned reg = form.isSourcePacked ? 1 : form.count - i;
  unsigned shift = form.isSourcePacked ? i * form.fromBits : 0;
  const Lanes &source = warp.reg(step.operands[reg]);
  Bits bits;
  bits.value = source.value[lane] >> shift &
               llvm::maskTrailingOnes<uint64_t>(form.fromBits);
  bits.undefined = source.getUndefined(lane) & getBytesOf(shift, form.fromBits);
  return bits;
}

static void executePackedConversion(Warp &warp, const Step &step) {
  const auto &form = step.getForm<PackedForm>();
  const Lanes *random =
      form.modifiers.isStochastic ? &warp.reg(step.operands.back()) : nullptr;
  forEachLane(warp.active, [&](unsigned lane) {
    bool isRandomUndefined = random && random->isUndefined(lane);
    Bits result;
    for (unsigned i = 0; i != form.count; ++i) {
      Bits source = readElement(warp, step, form, i, lane);
      uint64_t element = convertElement(form, i, source.value,
                                        random ? random->value[lane] : 0);
      result.value |= element << i * form.toBits;
      if (source.undefined || isRandomUndefined)
        result.undefined |= getBytesOf(i * form.toBits, form.toBits);
    }
    Lanes &to = warp.reg(step.operands[0]);
    to.set(lane, result.value, result.undefined);
  });
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

void sim::translatePackedConversion(Translator &t,
                                    const ConversionModifiers &modifiers,
                                    Type to, Type from) {
  if (!isLegal(modifiers, to, from))
    return t.fail("expected types, rounding and modifiers that cvt has, got "
                  "cvt." +
                  llvm::join(t.current->modifiers, "."));
  const TypeInfo &result = getTypeInfo(to), &source = getTypeInfo(from);
  PackedForm form = {};
  form.modifiers = modifiers;
  form.from = &getFloatFormat(from);
  form.to = &getFloatFormat(to);
  form.count = result.elements;
  form.fromBits = source.bits / source.elements;
  form.toBits = result.bits / result.elements;
  form.isSourcePacked = source.elements > 1;
  bool isVector = form.count == 4;
  unsigned numSources = form.isSourcePacked || isVector ? 1 : 2;
  if (!t.expectOperands(1 + numSources + modifiers.isStochastic))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  llvm::SmallVector<Slot, 6> slots = {t.destination(operands[0], to)};
  if (isVector)
    t.sources(operands[1], from, form.count, slots);
  else
    for (const PtxOperand &operand : operands.slice(1, numSources))
      slots.push_back(t.source(operand, from));
  if (modifiers.isStochastic)
    slots.push_back(t.source(operands.back(), Type::B32));
  t.emit(executePackedConversion, StepClass::Conversion, slots, t.keep(form));
}
