//===- Transcendental.cpp - Functions that GPUs approximate ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rsqrt, sin, cos, lg2, ex2 and tanh, and approximate divisions with rules of
// their own. A result is computed in double precision and rounded to the type.
// It is more accurate than PTX requires; the last bits of a GPU differ. The C
// library returns the special values that PTX lists in its tables.
//
// Sources: PTX ISA, sections 9.7.3 "Floating-Point Instructions" and 9.7.4
// "Half Precision Floating-Point Instructions".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticInstructions.h"
#include "Arithmetic/FloatElements.h"
#include "Translation/Emit.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr RoundingMode kNearest = RoundingMode::NearestTiesToEven;

static double computeReciprocal(double x) { return 1 / x; }
static double computeReciprocalRoot(double x) { return 1 / std::sqrt(x); }

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {
using MathFunction = double (*)(double);

template <typename Element>
struct Approximation : Operation<typename Element::Bits, 1> {
  MathFunction function;
  bool isFlushing;

  Approximation(MathFunction function, bool isFlushing)
      : function(function), isFlushing(isFlushing) {}

  uint64_t operator()(uint64_t a) const {
    return narrowResult<Element>(function(widenSource<Element>(a, isFlushing)),
                                 kNearest, isFlushing);
  }
};

/// On f64; a NaN keeps its payload.
struct DoubleApproximation : Operation<uint64_t, 1> {
  MathFunction function;

  DoubleApproximation(MathFunction function) : function(function) {}

  uint64_t operator()(uint64_t a) const {
    if (isNaN(a, kF64))
      return quiet(a);
    double result = function(llvm::bit_cast<double>(a));
    return result == result ? llvm::bit_cast<uint64_t>(result) : kF64.nan;
  }
};

/// On the upper half of an f64, which has 20 mantissa bits. The lower half of
/// the source is ignored, and that of the result is 0.
struct UpperHalfApproximation : Operation<uint64_t, 1> {
  static constexpr FloatFormat kUpperHalf = {
      11, 20, 0, 1023, true, true, SpecialCodes::Ieee, 0x7FFFFFFF};
  MathFunction function;

  UpperHalfApproximation(MathFunction function) : function(function) {}

  uint64_t operator()(uint64_t a) const {
    double source = toDouble(flushSubnormal(a >> 32, kUpperHalf), kUpperHalf);
    uint64_t half = fromDouble(function(source), kUpperHalf, kNearest);
    return flushSubnormal(half, kUpperHalf) << 32;
  }

  uint8_t getUndefined(const Sources &, const UndefinedBytes &undefined) const {
    return undefined[0] & 0xF0 ? 0xF0 : 0;
  }
};

/// div.approx.f32: a * (1 / b), where the reciprocal of a large number is
/// flushed to zero.
template <bool isFlushing>
struct ApproximateQuotient : Operation<uint32_t, 2> {
  uint64_t operator()(uint64_t a, uint64_t b) const {
    double dividend = widenSource<F32Element>(a, isFlushing);
    double divisor = widenSource<F32Element>(b, isFlushing);
    double quotient = std::abs(divisor) > 0x1p126
                          ? dividend * std::copysign(0.0, divisor)
                          : dividend / divisor;
    return narrowResult<F32Element>(quotient, kNearest, isFlushing);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

template <typename Element>
static void emitFloat(Translator &t, Type type, llvm::ArrayRef<Slot> slots,
                      MathFunction function, bool isFlushing) {
  emitElements(t, type, slots, Approximation<Element>(function, isFlushing));
}

static void emitDouble(Translator &t, Type, llvm::ArrayRef<Slot> slots,
                       MathFunction function, bool isFlushing) {
  if (isFlushing)
    return emitOperation(t, slots, UpperHalfApproximation(function));
  emitOperation(t, slots, DoubleApproximation(function));
}

static void emitQuotient(Translator &t, Type, llvm::ArrayRef<Slot> slots,
                         MathFunction, bool isFlushing) {
  if (isFlushing)
    return emitOperation(t, slots, ApproximateQuotient<true>());
  emitOperation(t, slots, ApproximateQuotient<false>());
}

namespace {
/// Whether there is a form with `.ftz`, and one without.
enum class Flush : uint8_t { Never, Optional, Always };

struct FormRow {
  llvm::StringRef opcode;
  Type type;
  Flush flush;
  unsigned numSources;
  void (*emit)(Translator &, Type, llvm::ArrayRef<Slot>, MathFunction,
               bool isFlushing);
  MathFunction function;
};
} // namespace

// clang-format off
static constexpr FormRow kForms[] = {
    {"div",   Type::F32,    Flush::Optional, 2, emitQuotient,            nullptr},
    {"rcp",   Type::F64,    Flush::Always,   1, emitDouble,              computeReciprocal},
    {"rsqrt", Type::F32,    Flush::Optional, 1, emitFloat<F32Element>,  computeReciprocalRoot},
    {"rsqrt", Type::F64,    Flush::Optional, 1, emitDouble,              computeReciprocalRoot},
    {"sin",   Type::F32,    Flush::Optional, 1, emitFloat<F32Element>,  std::sin},
    {"cos",   Type::F32,    Flush::Optional, 1, emitFloat<F32Element>,  std::cos},
    {"lg2",   Type::F32,    Flush::Optional, 1, emitFloat<F32Element>,  std::log2},
    {"ex2",   Type::F32,    Flush::Optional, 1, emitFloat<F32Element>,  std::exp2},
    {"ex2",   Type::F16,    Flush::Never,    1, emitFloat<F16Element>,  std::exp2},
    {"ex2",   Type::F16x2,  Flush::Never,    1, emitFloat<F16Element>,   std::exp2},
    {"ex2",   Type::BF16,   Flush::Always,   1, emitFloat<BF16Element>, std::exp2},
    {"ex2",   Type::BF16x2, Flush::Always,   1, emitFloat<BF16Element>,  std::exp2},
    {"tanh",  Type::F32,    Flush::Never,    1, emitFloat<F32Element>,  std::tanh},
    {"tanh",  Type::F16,    Flush::Never,    1, emitFloat<F16Element>,  std::tanh},
    {"tanh",  Type::F16x2,  Flush::Never,    1, emitFloat<F16Element>,   std::tanh},
    {"tanh",  Type::BF16,   Flush::Never,    1, emitFloat<BF16Element>, std::tanh},
    {"tanh",  Type::BF16x2, Flush::Never,    1, emitFloat<BF16Element>,  std::tanh},
};
// clang-format on

static const FormRow *findForm(Translator &t, Type type) {
  llvm::SmallVector<std::string> names;
  for (const FormRow &row : kForms) {
    if (row.opcode != t.current->opcode)
      continue;
    if (row.type == type)
      return &row;
    names.emplace_back(getName(row.type));
  }
  return t.error("expected a type out of " + llvm::join(names, ", ") +
                 " behind " + t.current->opcode + ".approx, got ." +
                 std::string(getName(type)));
}

void sim::translateApproximation(Translator &t, Modifiers &modifiers,
                                 Type type) {
  if (!modifiers.take("approx"))
    return t.fail("expected .approx behind " + t.current->opcode);
  const FormRow *form = findForm(t, type);
  if (!form)
    return;
  bool isFlushing = form->flush != Flush::Never && modifiers.take("ftz");
  if (form->flush == Flush::Always && !isFlushing)
    return t.fail("expected .ftz behind " + t.current->opcode + ".approx." +
                  std::string(getName(type)));
  llvm::SmallVector<Type, 2> sources(form->numSources, type);
  Slots slots = takeOperands(t, modifiers, type, sources);
  form->emit(t, type, slots, form->function, isFlushing);
}
