//===- FloatSelection.cpp - min, max, abs, neg, copysign ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// min, max, abs, neg and copysign, which select values or change bits, and
// round nothing.
//
// Sources: PTX ISA, sections 9.7.3 "Floating-Point Instructions" and 9.7.4
// "Half Precision Floating-Point Instructions".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticInstructions.h"
#include "Arithmetic/FloatElements.h"
#include "Translation/Emit.h"

#include <limits>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// An f64; only its bits matter here.
struct F64Element {
  using Bits = uint64_t;
  static constexpr FloatFormat format = kF64;
};
} // namespace

template <typename Element>
static constexpr uint64_t getSignMask() {
  return uint64_t(1) << Element::format.getSignBit();
}

template <typename Element>
static constexpr bool isNaN(uint64_t bits) {
  return sim::isNaN(bits, Element::format);
}

/// An f64 keeps the payload of a NaN; the other formats have one NaN.
template <typename Element>
static constexpr bool kKeepsPayload = sizeof(typename Element::Bits) == 8;

/// Emits Op<Element>(arguments...) of a floating-point type, packed or not.
template <template <typename> class Op, typename... Arguments>
static void emitFloat(Translator &t, Type type, llvm::ArrayRef<Slot> slots,
                      Arguments... arguments) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return emitElements(t, type, slots, Op<F16Element>{{}, arguments...});
  case Type::BF16:
  case Type::BF16x2:
    return emitElements(t, type, slots, Op<BF16Element>{{}, arguments...});
  case Type::F32:
    return emitOperation(t, slots, Op<F32Element>{{}, arguments...});
  case Type::F64:
    return emitOperation(t, slots, Op<F64Element>{{}, arguments...});
  default:
    return failType(t, type, "f16, f16x2, bf16, bf16x2, f32 and f64");
  }
}

/// Takes out `.ftz`, if the type can have it.
static bool takeFlush(Modifiers &modifiers, Type type) {
  return (type == Type::F16 || type == Type::F16x2 || type == Type::F32) &&
         modifiers.take("ftz");
}

//===----------------------------------------------------------------------===//
// Extrema
//===----------------------------------------------------------------------===//

namespace {
struct ExtremumModes {
  bool isFlushing = false;
  /// `.NaN`: the result is NaN if one source is. Otherwise it is NaN only if
  /// all of them are.
  bool propagatesNaN = false;
  bool isAbsolute = false;
  /// The sign of the result is the exclusive or of the signs of the sources.
  bool xorsSigns = false;
};

template <typename Element, bool isMax>
struct Selection {
  using Bits = typename Element::Bits;
  using Signed = std::make_signed_t<Bits>;

  /// Keys compare as the values do; +0 is larger than -0.
  static Signed getKey(uint64_t bits) {
    auto value = static_cast<Signed>(bits);
    Signed isNegative = value >> (8 * sizeof(Bits) - 1);
    return value ^ (isNegative & std::numeric_limits<Signed>::max());
  }

  static uint64_t select(uint64_t a, uint64_t b, bool propagatesNaN) {
    bool isA = isMax ? getKey(a) > getKey(b) : getKey(a) < getKey(b);
    uint64_t result = isA ? a : b;
    result = isNaN<Element>(b) ? a : isNaN<Element>(a) ? b : result;
    bool isResultNaN = propagatesNaN ? isNaN<Element>(a) || isNaN<Element>(b)
                                     : isNaN<Element>(a) && isNaN<Element>(b);
    return isResultNaN ? getNaN(a) : result;
  }

private:
  static uint64_t getNaN(uint64_t a) {
    return kKeepsPayload<Element> ? quiet(a) : Element::format.nan;
  }
};

/// With no modifier but (perhaps) `.NaN`.
template <bool isMax, bool propagatesNaN>
struct PlainExtremum {
  template <typename Element>
  struct Of : Operation<typename Element::Bits, 2> {
    uint64_t operator()(uint64_t a, uint64_t b) const {
      return Selection<Element, isMax>::select(a, b, propagatesNaN);
    }
  };
};

template <bool isMax>
struct Extremum {
  template <typename Element>
  struct Of : Operation<typename Element::Bits, 2> {
    ExtremumModes modes;

    Of(Operation<typename Element::Bits, 2>, const ExtremumModes &modes)
        : modes(modes) {}

    uint64_t operator()(uint64_t a, uint64_t b) const {
      uint64_t result = Selection<Element, isMax>::select(
          prepare(a), prepare(b), modes.propagatesNaN);
      constexpr uint64_t sign = getSignMask<Element>();
      if (modes.xorsSigns && !isNaN<Element>(result))
        result = (result & ~sign) | ((a ^ b) & sign);
      return result;
    }

    uint64_t prepare(uint64_t source) const {
      if (modes.isFlushing)
        source = flushSubnormal(source, Element::format);
      return modes.isAbsolute ? source & ~getSignMask<Element>() : source;
    }
  };
};

/// The extremum of three f32 sources.
template <bool isMax>
struct TripleExtremum : Operation<uint32_t, 3> {
  using Pair = typename Extremum<isMax>::template Of<F32Element>;
  Pair pair;

  TripleExtremum(const ExtremumModes &modes) : pair({}, modes) {}

  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    return pair(pair(a, b), c);
  }
};
} // namespace

template <bool isMax>
static void emitExtremum(Translator &t, Type type, llvm::ArrayRef<Slot> slots,
                         const ExtremumModes &modes) {
  if (slots.size() == 4)
    return emitOperation(t, slots, TripleExtremum<isMax>(modes));
  if (modes.isFlushing || modes.isAbsolute)
    return emitFloat<Extremum<isMax>::template Of>(t, type, slots, modes);
  if (modes.propagatesNaN)
    return emitFloat<PlainExtremum<isMax, true>::template Of>(t, type, slots);
  emitFloat<PlainExtremum<isMax, false>::template Of>(t, type, slots);
}

void sim::translateFloatExtremum(Translator &t, Modifiers &modifiers,
                                 Type type) {
  // Three sources: only for f32, and without `.xorsign`.
  bool isTriple = type == Type::F32 && t.current->operands.size() == 4;
  ExtremumModes modes;
  modes.isFlushing = takeFlush(modifiers, type);
  if (type != Type::F64) {
    modes.propagatesNaN = modifiers.take("NaN");
    modes.xorsSigns = modifiers.take("xorsign");
    modes.isAbsolute = modifiers.take("abs");
  }
  if (isTriple && modes.xorsSigns)
    return t.fail("expected two sources behind " + t.current->opcode +
                  ".xorsign, got 3");
  if (!isTriple && modes.xorsSigns != modes.isAbsolute)
    return t.fail("expected .xorsign and .abs together behind " +
                  t.current->opcode + " of two sources");
  llvm::SmallVector<Type, 3> sources(isTriple ? 3 : 2, type);
  Slots slots = takeOperands(t, modifiers, type, sources);
  if (t.current->opcode == "max")
    emitExtremum<true>(t, type, slots, modes);
  else
    emitExtremum<false>(t, type, slots, modes);
}

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

namespace {
/// Changes the sign of a number, or clears it.
template <typename Element>
struct ChangeSign : Operation<typename Element::Bits, 1> {
  bool isFlushing, clears;

  ChangeSign(Operation<typename Element::Bits, 1>, bool isFlushing, bool clears)
      : isFlushing(isFlushing), clears(clears) {}

  uint64_t operator()(uint64_t a) const {
    if (isNaN<Element>(a))
      return kKeepsPayload<Element> ? a : Element::format.nan;
    if (isFlushing)
      a = flushSubnormal(a, Element::format);
    uint64_t magnitude = a & ~getSignMask<Element>();
    return clears ? magnitude : a ^ getSignMask<Element>();
  }
};

/// The magnitude of b with the sign of a.
template <typename Element>
struct CopySign : Operation<typename Element::Bits, 2> {
  using Base = Operation<typename Element::Bits, 2>;

  uint64_t operator()(uint64_t a, uint64_t b) const {
    constexpr uint64_t sign = getSignMask<Element>();
    return (a & sign) | (b & ~sign);
  }

  /// Only the byte of `a` that has the sign counts.
  uint8_t getUndefined(const typename Base::Sources &,
                       const typename Base::UndefinedBytes &undefined) const {
    constexpr unsigned size = sizeof(typename Element::Bits);
    return (undefined[0] & 1 << (size - 1)) |
           spreadUndefined(Spread::Bytewise, undefined[1], size);
  }
};
} // namespace

void sim::translateFloatSign(Translator &t, Modifiers &modifiers, Type type) {
  bool isFlushing = takeFlush(modifiers, type);
  Slots slots = takeOperands(t, modifiers, type, {type});
  emitFloat<ChangeSign>(t, type, slots, isFlushing,
                        /*clears=*/t.current->opcode == "abs");
}

void sim::translateCopySign(Translator &t, Modifiers &modifiers, Type type) {
  Slots slots = takeOperands(t, modifiers, type, {type, type});
  switch (type) {
  case Type::F32:
    return emitOperation(t, slots, CopySign<F32Element>());
  case Type::F64:
    return emitOperation(t, slots, CopySign<F64Element>());
  default:
    return failType(t, type, "f32 and f64");
  }
}
