//===- Bits.cpp - Instructions on bits ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions that count bits or move them: clz, popc, bfe, shl, prmt and the
// like. Those that combine them are in Logic.cpp.
//
// Source: PTX ISA, sections 9.7.1.11 "popc" to 9.7.1.22 "bmsk", 9.7.8.6 "shf"
// to 9.7.8.8 "shr", 9.7.9.7 "prmt".
//
//===----------------------------------------------------------------------===//

#include "Translation/Emit.h"
#include "Translation/OpcodeTable.h"

#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

template <typename T>
using Unsigned = std::make_unsigned_t<T>;
template <typename T>
static constexpr unsigned kBits = 8 * sizeof(T);

namespace {
/// An operation that moves the bits of its first `numMoved` sources to
/// positions that the other sources give. It moves the masks of undefined bits
/// in the same way, which yields the undefined bits of the result.
template <typename Op, typename T, unsigned n, unsigned numMoved>
struct Mover : Operation<Unsigned<T>, n> {
  using Base = Operation<Unsigned<T>, n>;

  uint8_t getUndefined(const typename Base::Sources &values,
                       const typename Base::UndefinedBytes &undefined) const {
    typename Base::Sources masks = values;
    for (unsigned i = 0; i != n; ++i) {
      // Positions are 32-bit integers.
      if (i >= numMoved && (undefined[i] & 0xF))
        return llvm::maskTrailingOnes<uint8_t>(sizeof(T));
      if (i < numMoved)
        masks[i] = expandBytes(undefined[i]);
    }
    auto result = static_cast<Unsigned<T>>(
        std::apply(static_cast<const Op &>(*this), masks));
    return collapseBits(result);
  }
};

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

template <typename T>
struct PopCount : Operation<uint32_t, 1> {
  uint64_t operator()(uint64_t a) const {
    return llvm::popcount(Unsigned<T>(a));
  }
};

template <typename T>
struct CountLeadingZeros : Operation<uint32_t, 1> {
  uint64_t operator()(uint64_t a) const {
    return llvm::countl_zero(Unsigned<T>(a));
  }
};

/// The position of the highest bit that differs from the sign bit (signed
/// types) or that is set (unsigned types); all ones if there is none.
template <typename T>
struct FindHighest : Operation<uint32_t, 1> {
  bool isShiftAmount = false;

  uint64_t operator()(uint64_t a) const {
    auto value = static_cast<Unsigned<T>>(T(a) < 0 ? ~a : a);
    if (!value)
      return ~uint32_t(0);
    unsigned leading = llvm::countl_zero(value);
    return isShiftAmount ? leading : kBits<T> - 1 - leading;
  }
};

/// The position of the `offset`-th set bit from `base` on: upwards, or
/// downwards for a negative offset; `base` itself counts as the first.
struct FindNthSet : Operation<uint32_t, 3> {
  uint64_t operator()(uint64_t mask, uint64_t base, uint64_t offset) const {
    int32_t rest = static_cast<int32_t>(offset);
    if (rest == 0)
      return mask >> (base & 31) & 1 ? base : ~uint32_t(0);
    int step = rest < 0 ? -1 : 1;
    for (int64_t i = static_cast<uint32_t>(base); i >= 0 && i < 32; i += step)
      if (mask >> i & 1) {
        rest -= step;
        if (rest == 0)
          return i;
      }
    return ~uint32_t(0);
  }
};

//===----------------------------------------------------------------------===//
// Moved bits
//===----------------------------------------------------------------------===//

template <typename T>
struct Reverse : Mover<Reverse<T>, T, 1, 1> {
  uint64_t operator()(uint64_t a) const {
    return llvm::reverseBits(Unsigned<T>(a));
  }
};

/// Amounts beyond the width are the width.
template <typename T>
struct ShiftLeft : Mover<ShiftLeft<T>, T, 2, 1> {
  uint64_t operator()(uint64_t a, uint64_t amount) const {
    uint32_t by = static_cast<uint32_t>(amount);
    return by < kBits<T> ? a << by : 0;
  }
};

/// Fills with the sign bit of signed types.
template <typename T>
struct ShiftRight : Mover<ShiftRight<T>, T, 2, 1> {
  uint64_t operator()(uint64_t a, uint64_t amount) const {
    uint32_t by = std::min<uint32_t>(amount, kBits<T>);
    T value = T(a);
    if (by == kBits<T>)
      return std::is_signed_v<T> && value < 0 ? ~uint64_t(0) : 0;
    return value >> by;
  }
};

/// The upper or the lower 32 bits of the shifted pair {b, a}.
struct FunnelShift : Mover<FunnelShift, uint32_t, 3, 2> {
  bool isLeft = false, wraps = false;

  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    uint32_t by = static_cast<uint32_t>(c);
    by = wraps ? by & 31 : std::min(by, 32u);
    uint64_t pair = b << 32 | (a & 0xFFFFFFFF);
    return isLeft ? (pair << by) >> 32 : pair >> by;
  }
};

/// `length` bits of `a` from `position` on. Signed types fill the bits above
/// with copies of the highest extracted bit, or of the sign bit of `a` if the
/// field reaches beyond it.
template <typename T>
struct ExtractField : Mover<ExtractField<T>, T, 3, 1> {
  uint64_t operator()(uint64_t a, uint64_t position, uint64_t length) const {
    unsigned first = position & 0xFF, count = length & 0xFF;
    auto value = static_cast<Unsigned<T>>(a);
    unsigned last = std::min(first + count - 1, kBits<T> - 1);
    bool isNegative = std::is_signed_v<T> && count != 0 && (value >> last & 1);
    uint64_t field = first < kBits<T> ? uint64_t(value) >> first : 0;
    unsigned width = first < kBits<T> ? std::min(count, kBits<T> - first) : 0;
    uint64_t mask = llvm::maskTrailingOnes<uint64_t>(width);
    return (field & mask) | (isNegative ? ~mask : 0);
  }
};

/// `b` with `length` bits from `position` on replaced by the lowest ones of
/// `a`.
template <typename T>
struct InsertField : Mover<InsertField<T>, T, 4, 2> {
  uint64_t operator()(uint64_t a, uint64_t b, uint64_t position,
                      uint64_t length) const {
    unsigned first = position & 0xFF, count = length & 0xFF;
    if (first >= kBits<T>)
      return b;
    uint64_t mask = llvm::maskTrailingOnes<uint64_t>(std::min(count, 64u))
                    << first;
    return (b & ~mask) | (a << first & mask);
  }
};

enum class PermuteMode : uint8_t {
  General,
  Forward4,
  Backward4,
  Replicate8,
  EdgeClampLeft,
  EdgeClampRight,
  Replicate16,
};

/// Selects four of the eight bytes of {b, a}.
struct Permute : Mover<Permute, uint32_t, 3, 2> {
  PermuteMode mode = PermuteMode::General;

  uint64_t operator()(uint64_t a, uint64_t b, uint64_t selector) const {
    uint64_t pair = b << 32 | (a & 0xFFFFFFFF);
    uint64_t result = 0;
    for (unsigned i = 0; i != 4; ++i) {
      unsigned pick = getPick(i, selector);
      uint64_t byte = pair >> (pick & 7) * 8 & 0xFF;
      // Bit 3: copies of the sign bit.
      if (pick & 8)
        byte = byte & 0x80 ? 0xFF : 0;
      result |= byte << i * 8;
    }
    return result;
  }

private:
  unsigned getPick(unsigned i, uint64_t selector) const {
    unsigned c = selector & 3;
    switch (mode) {
    case PermuteMode::General:
      return selector >> i * 4 & 0xF;
    case PermuteMode::Forward4:
      return c + i;
    case PermuteMode::Backward4:
      return (c - i) & 7;
    case PermuteMode::Replicate8:
      return c;
    case PermuteMode::EdgeClampLeft:
      return std::max(c, i);
    case PermuteMode::EdgeClampRight:
      return std::min(c, i);
    case PermuteMode::Replicate16:
      return (c & 1) * 2 + (i & 1);
    }
    return 0;
  }
};

//===----------------------------------------------------------------------===//
// Masks and widths
//===----------------------------------------------------------------------===//

/// `count` ones from `position` on.
struct MakeMask : Operation<uint32_t, 2> {
  bool wraps = false;

  uint64_t operator()(uint64_t position, uint64_t count) const {
    uint32_t first = static_cast<uint32_t>(position);
    uint32_t width = static_cast<uint32_t>(count);
    first = wraps ? first & 31 : std::min(first, 32u);
    width = wraps ? width & 31 : std::min(width, 32u);
    return llvm::maskTrailingOnes<uint64_t>(width) << first;
  }
};

/// The lowest bits of a value, zero- or sign-extended.
struct Extend : Operation<uint32_t, 2> {
  bool wraps = false, isSigned = false;

  uint64_t operator()(uint64_t a, uint64_t count) const {
    uint32_t width = static_cast<uint32_t>(count);
    width = wraps ? width & 31 : std::min(width, 32u);
    if (width == 0)
      return 0;
    uint64_t value = a & llvm::maskTrailingOnes<uint64_t>(width);
    return isSigned ? llvm::SignExtend64(value, width) : value;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// Takes out the type behind an opcode; fails if it is not in the list.
static Type takeTypeOf(Translator &t, Modifiers &modifiers,
                       llvm::ArrayRef<Type> types) {
  std::optional<Type> type = modifiers.takeType();
  if (type && llvm::is_contained(types, *type))
    return *type;
  std::string names;
  for (Type row : types)
    names += (names.empty() ? "." : ", .") + std::string(getName(row));
  t.fail("expected one of " + names + " behind " + t.current->opcode +
         (type ? ", got ." + std::string(getName(*type)) : std::string()));
  return types.front();
}

/// Takes out `.clamp` or `.wrap`; true for `.wrap`.
static bool takeWrap(Translator &t, Modifiers &modifiers) {
  std::optional<unsigned> mode = modifiers.takeOneOf({"clamp", "wrap"});
  if (!mode)
    t.fail("expected .clamp or .wrap behind " + t.current->opcode);
  return mode == 1u;
}

template <template <typename> class Op>
static void translateCount(Translator &t, Modifiers &modifiers) {
  Type type = takeTypeOf(t, modifiers, {Type::B32, Type::B64});
  emitInteger<Op>(t, type, takeOperands(t, modifiers, Type::U32, {type}));
}

static void translateFindHighest(Translator &t, Modifiers &modifiers) {
  bool isShiftAmount = modifiers.take("shiftamt");
  Type type =
      takeTypeOf(t, modifiers, {Type::U32, Type::U64, Type::S32, Type::S64});
  emitInteger<FindHighest>(
      t, type, takeOperands(t, modifiers, Type::U32, {type}), isShiftAmount);
}

static void translateFindNthSet(Translator &t, Modifiers &modifiers) {
  Type type = takeTypeOf(t, modifiers, {Type::B32});
  emitOperation(t, takeOperands(t, modifiers, type, {type, type, Type::S32}),
                FindNthSet());
}

static void translateReverse(Translator &t, Modifiers &modifiers) {
  Type type = takeTypeOf(t, modifiers, {Type::B32, Type::B64});
  emitInteger<Reverse>(t, type, takeOperands(t, modifiers, type, {type}));
}

static void translateShift(Translator &t, Modifiers &modifiers) {
  bool isLeft = t.current->opcode == "shl";
  llvm::SmallVector<Type> types = {Type::B16, Type::B32, Type::B64};
  if (!isLeft)
    types.append(
        {Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64});
  Type type = takeTypeOf(t, modifiers, types);
  Slots slots = takeOperands(t, modifiers, type, {type, Type::U32});
  if (isLeft)
    emitInteger<ShiftLeft>(t, type, slots);
  else
    emitInteger<ShiftRight>(t, type, slots);
}

static void translateFunnelShift(Translator &t, Modifiers &modifiers) {
  FunnelShift shift;
  shift.isLeft = modifiers.take("l");
  if (!shift.isLeft && !modifiers.take("r"))
    return t.fail("expected .l or .r behind shf");
  shift.wraps = takeWrap(t, modifiers);
  Type type = takeTypeOf(t, modifiers, {Type::B32});
  emitOperation(t, takeOperands(t, modifiers, type, {type, type, Type::U32}),
                shift);
}

static void translateExtractField(Translator &t, Modifiers &modifiers) {
  Type type =
      takeTypeOf(t, modifiers, {Type::U32, Type::U64, Type::S32, Type::S64});
  emitInteger<ExtractField>(
      t, type, takeOperands(t, modifiers, type, {type, Type::U32, Type::U32}));
}

static void translateInsertField(Translator &t, Modifiers &modifiers) {
  Type type = takeTypeOf(t, modifiers, {Type::B32, Type::B64});
  emitInteger<InsertField>(
      t, type,
      takeOperands(t, modifiers, type, {type, type, Type::U32, Type::U32}));
}

static void translatePermute(Translator &t, Modifiers &modifiers) {
  Type type = takeTypeOf(t, modifiers, {Type::B32});
  // In the order of PermuteMode.
  Permute permute;
  if (std::optional<unsigned> mode =
          modifiers.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}))
    permute.mode = static_cast<PermuteMode>(*mode + 1);
  emitOperation(t, takeOperands(t, modifiers, type, {type, type, type}),
                permute);
}

static void translateMask(Translator &t, Modifiers &modifiers) {
  MakeMask mask;
  mask.wraps = takeWrap(t, modifiers);
  Type type = takeTypeOf(t, modifiers, {Type::B32});
  emitOperation(t, takeOperands(t, modifiers, type, {Type::U32, Type::U32}),
                mask);
}

static void translateExtend(Translator &t, Modifiers &modifiers) {
  Extend extend;
  extend.wraps = takeWrap(t, modifiers);
  Type type = takeTypeOf(t, modifiers, {Type::U32, Type::S32});
  extend.isSigned = type == Type::S32;
  emitOperation(t, takeOperands(t, modifiers, type, {type, Type::U32}), extend);
}

void sim::addBitInstructions(OpcodeTable &table) {
  table["popc"] = translateCount<PopCount>;
  table["clz"] = translateCount<CountLeadingZeros>;
  table["bfind"] = translateFindHighest;
  table["fns"] = translateFindNthSet;
  table["brev"] = translateReverse;
  table["shl"] = translateShift;
  table["shr"] = translateShift;
  table["shf"] = translateFunnelShift;
  table["bfe"] = translateExtractField;
  table["bfi"] = translateInsertField;
  table["prmt"] = translatePermute;
  table["bmsk"] = translateMask;
  table["szext"] = translateExtend;
}
