//===- IntegerArithmetic.cpp - Arithmetic on integers ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers of 16 to 64 bits, alone or packed: an operation is a template over
// the C++ type of the same width and sign.
//
// Source: PTX ISA, section 9.7.1 "Integer Arithmetic Instructions".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticInstructions.h"
#include "Translation/Emit.h"

#include <algorithm>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

static int64_t saturateS32(int64_t value) {
  return std::clamp<int64_t>(value, INT32_MIN, INT32_MAX);
}

static bool isWord(Type type) { return type == Type::U32 || type == Type::S32; }

/// Takes out `.lo`, `.hi` or `.wide`.
static std::optional<unsigned> takeHalf(Translator &t, Modifiers &modifiers) {
  std::optional<unsigned> half = modifiers.takeOneOf({"lo", "hi", "wide"});
  if (!half)
    t.fail("expected .lo, .hi or .wide behind " + t.current->opcode);
  return half;
}
static constexpr unsigned kLow = 0, kHigh = 1, kWide = 2;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {
template <typename T>
struct Add : Operation<Unsigned<T>, 2, Spread::Upwards> {
  uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
};

template <typename T>
struct Sub : Operation<Unsigned<T>, 2, Spread::Upwards> {
  uint64_t operator()(uint64_t a, uint64_t b) const { return a - b; }
};

struct AddSaturated : Operation<uint32_t, 2> {
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return saturateS32(int64_t(int32_t(a)) + int32_t(b));
  }
};

struct SubSaturated : Operation<uint32_t, 2> {
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return saturateS32(int64_t(int32_t(a)) - int32_t(b));
  }
};

template <typename T>
struct DifferenceSum : Operation<Unsigned<T>, 3> {
  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    return c + (T(a) < T(b) ? b - a : a - b);
  }
};
} // namespace

void sim::translateIntegerSum(Translator &t, Modifiers &modifiers, Type type) {
  if (llvm::is_contained(modifiers.rest(), "cc"))
    return translateCarry(t, modifiers, type);
  bool isSub = t.current->opcode == "sub";
  bool isSaturating = modifiers.take("sat");
  Slots slots = takeOperands(t, modifiers, type, {type, type});
  if (isSaturating) {
    if (type != Type::S32)
      return failType(t, type, "s32 (with .sat)");
    return isSub ? emitOperation(t, slots, SubSaturated())
                 : emitOperation(t, slots, AddSaturated());
  }
  if (!isSub && (type == Type::U16x2 || type == Type::S16x2))
    return emitOperation(t, slots, Packed<Add<uint16_t>, uint32_t, 2>());
  if (!isSub)
    return emitInteger<Add>(t, type, slots);
  // x - x is 0, whatever x is.
  if (slots[1] == slots[2])
    slots[1] = slots[2] = t.constantSlot(0);
  emitInteger<Sub>(t, type, slots);
}

void sim::translateDifferenceSum(Translator &t, Modifiers &modifiers,
                                 Type type) {
  Slots slots = takeOperands(t, modifiers, type, {type, type, type});
  emitInteger<DifferenceSum>(t, type, slots);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The upper half of a product.
template <typename T>
static Unsigned<T> multiplyHigh(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using Wide =
        std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<Wide>(a) * b >> 64;
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return static_cast<Wide>(a) * b >> (8 * sizeof(T));
  }
}

namespace {
template <typename T>
struct MulLow : Operation<Unsigned<T>, 2, Spread::Upwards> {
  uint64_t operator()(uint64_t a, uint64_t b) const { return a * b; }
};

template <typename T>
struct MadLow : Operation<Unsigned<T>, 3, Spread::Upwards> {
  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    return a * b + c;
  }
};

template <typename T>
struct MulHigh : Operation<Unsigned<T>, 2> {
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return multiplyHigh<T>(T(a), T(b));
  }
};

template <typename T>
struct MadHigh : Operation<Unsigned<T>, 3> {
  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    return multiplyHigh<T>(T(a), T(b)) + c;
  }
};

struct MadHighSaturated : Operation<uint32_t, 3> {
  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    int32_t high = multiplyHigh<int32_t>(int32_t(a), int32_t(b));
    return saturateS32(int64_t(high) + int32_t(c));
  }
};

/// Sources of type T and a product (and a third source) of twice the size.
template <typename T>
struct MulWide
    : Operation<std::conditional_t<sizeof(T) == 2, uint32_t, uint64_t>, 2,
                Spread::Upwards> {
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return extend(a) * extend(b);
  }

private:
  /// Sign-extended, if T has a sign.
  static uint64_t extend(uint64_t value) {
    return static_cast<int64_t>(T(value));
  }
};

template <typename T>
struct MadWide : Operation<typename MulWide<T>::Result, 3, Spread::Upwards> {
  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    return MulWide<T>()(a, b) + c;
  }
};
} // namespace

/// MulWide and MadWide of the types that have them.
template <template <typename> class Op>
static void emitWide(Translator &t, Type type, llvm::ArrayRef<Slot> slots) {
  switch (type) {
  case Type::U16:
    return emitOperation(t, slots, Op<uint16_t>());
  case Type::S16:
    return emitOperation(t, slots, Op<int16_t>());
  case Type::U32:
    return emitOperation(t, slots, Op<uint32_t>());
  default:
    return emitOperation(t, slots, Op<int32_t>());
  }
}

static std::optional<Type> getWideType(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  case Type::S32:
    return Type::S64;
  default:
    return std::nullopt;
  }
}

void sim::translateIntegerProduct(Translator &t, Modifiers &modifiers,
                                  Type type) {
  if (llvm::is_contained(modifiers.rest(), "cc"))
    return translateCarry(t, modifiers, type);
  bool isMad = t.current->opcode == "mad";
  std::optional<unsigned> half = takeHalf(t, modifiers);
  bool isSaturating = modifiers.take("sat");
  if (!half || !t.finish(modifiers))
    return;
  if (isSaturating && !(isMad && *half == kHigh && type == Type::S32))
    return t.fail("expected .sat behind mad.hi.s32 only");
  Type result = type;
  if (*half == kWide) {
    std::optional<Type> wide = getWideType(type);
    if (!wide)
      return failType(t, type, "u16, s16, u32 and s32 (with .wide)");
    result = *wide;
  }
  llvm::SmallVector<Type, 3> sources = {type, type};
  if (isMad)
    sources.push_back(result);
  Slots slots = takeOperands(t, modifiers, result, sources);
  if (isSaturating)
    return emitOperation(t, slots, MadHighSaturated());
  switch (*half) {
  case kLow:
    return isMad ? emitInteger<MadLow>(t, type, slots)
                 : emitInteger<MulLow>(t, type, slots);
  case kHigh:
    return isMad ? emitInteger<MadHigh>(t, type, slots)
                 : emitInteger<MulHigh>(t, type, slots);
  default:
    return isMad ? emitWide<MadWide>(t, type, slots)
                 : emitWide<MulWide>(t, type, slots);
  }
}

//===----------------------------------------------------------------------===//
// Products of 24 bits
//===----------------------------------------------------------------------===//

namespace {
/// The 48-bit product of the low 24 bits, shifted right, plus `c`.
template <typename T>
struct Product24 : Operation<Unsigned<T>, 3> {
  unsigned shift = 0;
  bool isSaturating = false;

  Product24(Operation<Unsigned<T>, 3>, unsigned shift, bool isSaturating)
      : shift(shift), isSaturating(isSaturating) {}

  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    int64_t product = extend(a) * extend(b) >> shift;
    if (isSaturating)
      return saturateS32(int64_t(int32_t(product)) + int32_t(c));
    return product + c;
  }

private:
  static int64_t extend(uint64_t value) {
    return std::is_signed_v<T> ? llvm::SignExtend64<24>(value)
                               : int64_t(value & 0xFFFFFF);
  }
};
} // namespace

void sim::translateProduct24(Translator &t, Modifiers &modifiers, Type type) {
  bool isMad = t.current->opcode == "mad24";
  std::optional<unsigned> half = takeHalf(t, modifiers);
  bool isSaturating = modifiers.take("sat");
  if (!half || !t.finish(modifiers))
    return;
  if (*half == kWide || !isWord(type))
    return t.fail("expected .lo or .hi, and .u32 or .s32, behind " +
                  t.current->opcode);
  if (isSaturating && !(isMad && *half == kHigh && type == Type::S32))
    return t.fail("expected .sat behind mad24.hi.s32 only");
  llvm::SmallVector<Type, 3> sources(isMad ? 3 : 2, type);
  Slots slots = takeOperands(t, modifiers, type, sources);
  if (!isMad)
    slots.push_back(t.constantSlot(0));
  unsigned shift = *half == kHigh ? 16 : 0;
  if (type == Type::S32)
    emitOperation(t, slots, Product24<int32_t>({}, shift, isSaturating));
  else
    emitOperation(t, slots, Product24<uint32_t>({}, shift, isSaturating));
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

namespace {
/// The ISA does not specify the result of a division by zero. The smallest
/// value divided by -1 is itself, and there is no trap.
template <typename T>
struct Quotient : Operation<Unsigned<T>, 2> {
  uint64_t operator()(uint64_t a, uint64_t b) const {
    if (T(b) == 0)
      return 0;
    if (std::is_signed_v<T> && T(b) == T(-1))
      return -a;
    return T(a) / T(b);
  }
  bool isUnspecified(uint64_t a, uint64_t b) const { return T(b) == 0; }
};

template <typename T>
struct Remainder : Operation<Unsigned<T>, 2> {
  uint64_t operator()(uint64_t a, uint64_t b) const {
    if (T(b) == 0 || (std::is_signed_v<T> && T(b) == T(-1)))
      return 0;
    return T(a) % T(b);
  }
  bool isUnspecified(uint64_t a, uint64_t b) const { return T(b) == 0; }
};
} // namespace

void sim::translateIntegerQuotient(Translator &t, Modifiers &modifiers,
                                   Type type) {
  Slots slots = takeOperands(t, modifiers, type, {type, type});
  if (t.current->opcode == "rem")
    emitInteger<Remainder>(t, type, slots);
  else
    emitInteger<Quotient>(t, type, slots);
}

//===----------------------------------------------------------------------===//
// Signs and extrema
//===----------------------------------------------------------------------===//

namespace {
template <typename T>
struct Negate : Operation<Unsigned<T>, 1, Spread::Upwards> {
  uint64_t operator()(uint64_t a) const { return -a; }
};

template <typename T>
struct Absolute : Operation<Unsigned<T>, 1> {
  uint64_t operator()(uint64_t a) const { return T(a) < 0 ? -a : a; }
};

template <typename T, bool isMax, bool isRelu>
struct Extremum : Operation<Unsigned<T>, 2> {
  uint64_t operator()(uint64_t a, uint64_t b) const {
    T x = T(a), y = T(b);
    T result = isMax ? (x > y ? x : y) : (x < y ? x : y);
    if (isRelu && result < 0)
      result = 0;
    return result;
  }
};

template <typename T>
using Min = Extremum<T, false, false>;
template <typename T>
using Max = Extremum<T, true, false>;
} // namespace

void sim::translateIntegerSign(Translator &t, Modifiers &modifiers, Type type) {
  Slots slots = takeOperands(t, modifiers, type, {type});
  if (type != Type::S16 && type != Type::S32 && type != Type::S64)
    return failType(t, type, "s16, s32 and s64");
  if (t.current->opcode == "abs")
    emitInteger<Absolute>(t, type, slots);
  else
    emitInteger<Negate>(t, type, slots);
}

template <bool isMax>
static void emitExtremum(Translator &t, Type type, bool isRelu,
                         llvm::ArrayRef<Slot> slots) {
  switch (type) {
  case Type::U16x2:
    return emitElements(t, type, slots, Extremum<uint16_t, isMax, false>());
  case Type::S16x2:
    if (isRelu)
      return emitElements(t, type, slots, Extremum<int16_t, isMax, true>());
    return emitElements(t, type, slots, Extremum<int16_t, isMax, false>());
  case Type::S32:
    if (isRelu)
      return emitOperation(t, slots, Extremum<int32_t, isMax, true>());
    [[fallthrough]];
  default:
    return isMax ? emitInteger<Max>(t, type, slots)
                 : emitInteger<Min>(t, type, slots);
  }
}

void sim::translateIntegerExtremum(Translator &t, Modifiers &modifiers,
                                   Type type) {
  bool isRelu = modifiers.take("relu");
  Slots slots = takeOperands(t, modifiers, type, {type, type});
  if (isRelu && type != Type::S32 && type != Type::S16x2)
    return failType(t, type, "s32 and s16x2 (with .relu)");
  if (t.current->opcode == "max")
    emitExtremum<true>(t, type, isRelu, slots);
  else
    emitExtremum<false>(t, type, isRelu, slots);
}

//===----------------------------------------------------------------------===//
// Dot products
//===----------------------------------------------------------------------===//

namespace {
/// c plus a dot product: of the four bytes of both, or of the two halves of `a`
/// and two bytes of `b` from `first` on.
struct DotProduct : Operation<uint32_t, 3> {
  bool isSignedA, isSignedB;
  unsigned count, bitsA, first;

  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    for (unsigned i = 0; i != count; ++i)
      c += extract(a, i * bitsA, bitsA, isSignedA) *
           extract(b, (first + i) * 8, 8, isSignedB);
    return c;
  }

private:
  static int64_t extract(uint64_t value, unsigned shift, unsigned bits,
                         bool isSigned) {
    uint64_t element = value >> shift & ((uint64_t(1) << bits) - 1);
    return isSigned ? llvm::SignExtend64(element, bits) : element;
  }
};
} // namespace

void sim::translateDotProduct(Translator &t, Modifiers &modifiers, Type type) {
  DotProduct dot = {};
  dot.count = t.current->opcode == "dp4a" ? 4 : 2;
  dot.bitsA = 32 / dot.count;
  if (dot.count == 2) {
    std::optional<unsigned> half = takeHalf(t, modifiers);
    if (!half)
      return;
    if (*half == kWide)
      return t.fail("expected .lo or .hi behind dp2a");
    dot.first = *half == kHigh ? 2 : 0;
  }
  std::optional<Type> typeB = modifiers.takeType();
  if (!isWord(type) || !typeB || !isWord(*typeB))
    return t.fail("expected two types out of u32 and s32 behind " +
                  t.current->opcode);
  dot.isSignedA = type == Type::S32;
  dot.isSignedB = *typeB == Type::S32;
  Slots slots =
      takeOperands(t, modifiers, Type::S32, {type, *typeB, Type::S32});
  emitOperation(t, slots, dot);
}
