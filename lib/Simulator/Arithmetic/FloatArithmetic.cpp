//===- FloatArithmetic.cpp - Arithmetic with a rounding mode --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// add, sub, mul, mad, fma, div, rcp and sqrt. PTX leaves open which NaN f32,
// f16 and bf16 return; here, as on GPUs, it is the canonical one. An f64 keeps
// the payload of the first source that is a NaN.
//
// Source: PTX ISA, sections 9.7.3 "Floating-Point Instructions", 9.7.4 "Half
// Precision Floating-Point Instructions" and 9.7.5 "Mixed Precision
// Floating-Point Instructions".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticInstructions.h"
#include "Arithmetic/FloatOperations.h"
#include "Translation/Emit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// f32, alone or packed in pairs.
template <FloatOperation operation>
static void emitF32(Translator &t, Type type, llvm::ArrayRef<Slot> slots,
                    const Modes &modes) {
  if (modes.rounding != RoundingMode::NearestTiesToEven ||
      modes.clamp != Clamp::None)
    return emitElements(t, type, slots,
                        WideArithmetic<F32Element, operation>(modes));
  if (modes.isFlushing)
    return emitElements(t, type, slots, NearestArithmetic<operation, true>());
  emitElements(t, type, slots, NearestArithmetic<operation, false>());
}

/// 16-bit formats, alone or packed in pairs.
template <typename Element, FloatOperation operation>
static void emitHalf(Translator &t, Type type, llvm::ArrayRef<Slot> slots,
                     const Modes &modes) {
  using Plain = WideArithmetic<Element, operation, Element, PlainModes>;
  if (!modes.isFlushing && modes.clamp == Clamp::None)
    return emitElements(t, type, slots, Plain(PlainModes()));
  emitElements(t, type, slots, WideArithmetic<Element, operation>(modes));
}

/// Sums and products of all types.
template <FloatOperation operation>
static void emitSum(Translator &t, Type type, llvm::ArrayRef<Slot> slots,
                    const Modes &modes) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return emitHalf<F16Element, operation>(t, type, slots, modes);
  case Type::BF16:
  case Type::BF16x2:
    return emitHalf<BF16Element, operation>(t, type, slots, modes);
  case Type::F32:
  case Type::F32x2:
    return emitF32<operation>(t, type, slots, modes);
  default:
    return emitOperation(t, slots, DoubleArithmetic<operation>(modes.rounding));
  }
}

/// Quotients and roots.
template <FloatOperation operation>
static void emitQuotient(Translator &t, Type type, llvm::ArrayRef<Slot> slots,
                         const Modes &modes) {
  if (type == Type::F32)
    return emitF32<operation>(t, type, slots, modes);
  emitOperation(t, slots, DoubleArithmetic<operation>(modes.rounding));
}

static void emitArithmetic(Translator &t, FloatOperation operation, Type type,
                           llvm::ArrayRef<Slot> slots, const Modes &modes) {
  switch (operation) {
  case FloatOperation::Add:
    return emitSum<FloatOperation::Add>(t, type, slots, modes);
  case FloatOperation::Sub:
    return emitSum<FloatOperation::Sub>(t, type, slots, modes);
  case FloatOperation::Mul:
    return emitSum<FloatOperation::Mul>(t, type, slots, modes);
  case FloatOperation::Fma:
    return emitSum<FloatOperation::Fma>(t, type, slots, modes);
  case FloatOperation::Div:
    return emitQuotient<FloatOperation::Div>(t, type, slots, modes);
  case FloatOperation::Sqrt:
    return emitQuotient<FloatOperation::Sqrt>(t, type, slots, modes);
  }
}

/// An f32 sum with a 16-bit source.
template <typename Source>
static void emitMixed(Translator &t, FloatOperation operation,
                      llvm::ArrayRef<Slot> slots, const Modes &modes) {
  switch (operation) {
  case FloatOperation::Add:
    return emitOperation(
        t, slots,
        WideArithmetic<F32Element, FloatOperation::Add, Source>(modes));
  case FloatOperation::Sub:
    return emitOperation(
        t, slots,
        WideArithmetic<F32Element, FloatOperation::Sub, Source>(modes));
  default:
    return emitOperation(
        t, slots,
        WideArithmetic<F32Element, FloatOperation::Fma, Source>(modes));
  }
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

namespace {
/// Opcodes that have the same types and modifiers.
enum Family : unsigned {
  kSum = 1,
  kProduct = 2,
  kFma = 4,
  kMad = 8,
  kQuotient = 16,
  kReciprocal = 32,
  kRoot = 64,
};

struct OpcodeRow {
  llvm::StringRef opcode;
  FloatOperation operation;
  Family family;
};

/// Modifiers that a form allows.
enum FormModifiers : unsigned {
  kFtz = 1,
  kSat = 2,
  kRelu = 4,
  /// All rounding modes, and not only `.rn`.
  kAllModes = 8,
  /// Without a rounding mode, it is `.rn`.
  kDefault = 16,
  /// `.approx` and `.full`, which need less accuracy than `.rn`.
  kApprox = 32,
  kFull = 64,
  /// `.approx`, in Transcendental.cpp.
  kSpecialApprox = 128,
  /// `.oob`: 0 if a or b is the NaN that fills a tensor out of bounds.
  kOob = 256,
};

/// The last source has the type, the others `source`.
struct FormRow {
  unsigned families;
  Type type, source;
  unsigned modifiers;
};
} // namespace

static constexpr OpcodeRow kOpcodes[] = {
    {"add", FloatOperation::Add, kSum},
    {"sub", FloatOperation::Sub, kSum},
    {"mul", FloatOperation::Mul, kProduct},
    {"fma", FloatOperation::Fma, kFma},
    {"mad", FloatOperation::Fma, kMad},
    {"div", FloatOperation::Div, kQuotient},
    // 1 / a.
    {"rcp", FloatOperation::Div, kReciprocal},
    {"sqrt", FloatOperation::Sqrt, kRoot},
};

// clang-format off
static constexpr FormRow kForms[] = {
    {kSum | kProduct, Type::F32,    Type::F32,    kAllModes | kDefault | kFtz | kSat},
    {kSum | kProduct, Type::F32x2,  Type::F32x2,  kAllModes | kDefault | kFtz},
    {kSum | kProduct, Type::F64,    Type::F64,    kAllModes | kDefault},
    {kSum | kProduct, Type::F16,    Type::F16,    kDefault | kFtz | kSat},
    {kSum | kProduct, Type::F16x2,  Type::F16x2,  kDefault | kFtz | kSat},
    {kSum | kProduct, Type::BF16,   Type::BF16,   kDefault},
    {kSum | kProduct, Type::BF16x2, Type::BF16x2, kDefault},
    {kSum,            Type::F32,    Type::F16,    kAllModes | kDefault | kSat},
    {kSum,            Type::F32,    Type::BF16,   kAllModes | kDefault | kSat},
    {kFma | kMad,     Type::F32,    Type::F32,    kAllModes | kFtz | kSat},
    {kFma,            Type::F32x2,  Type::F32x2,  kAllModes | kFtz},
    {kFma | kMad,     Type::F64,    Type::F64,    kAllModes},
    {kFma,            Type::F16,    Type::F16,    kDefault | kFtz | kSat | kRelu | kOob},
    {kFma,            Type::F16x2,  Type::F16x2,  kDefault | kFtz | kSat | kRelu | kOob},
    {kFma,            Type::BF16,   Type::BF16,   kDefault | kRelu | kOob},
    {kFma,            Type::BF16x2, Type::BF16x2, kDefault | kRelu | kOob},
    {kFma,            Type::F32,    Type::F16,    kAllModes | kSat},
    {kFma,            Type::F32,    Type::BF16,   kAllModes | kSat},
    {kQuotient,       Type::F32,    Type::F32,    kAllModes | kFtz | kFull | kSpecialApprox},
    {kQuotient,       Type::F64,    Type::F64,    kAllModes},
    {kReciprocal,     Type::F32,    Type::F32,    kAllModes | kFtz | kApprox},
    {kReciprocal,     Type::F64,    Type::F64,    kAllModes | kSpecialApprox},
    {kRoot,           Type::F32,    Type::F32,    kAllModes | kFtz | kApprox},
    {kRoot,           Type::F64,    Type::F64,    kAllModes},
};
// clang-format on

/// `f32`, or `f32.f16` of mixed types.
static std::string getTypeNames(Type type, Type source) {
  std::string names(getName(type));
  return type == source ? names : names + "." + std::string(getName(source));
}

static const FormRow *findForm(Translator &t, Family family, Type type,
                               Type source) {
  llvm::SmallVector<std::string> names;
  for (const FormRow &row : kForms) {
    if (!(row.families & family))
      continue;
    if (row.type == type && row.source == source)
      return &row;
    names.push_back(getTypeNames(row.type, row.source));
  }
  return t.error("expected a type out of " + llvm::join(names, ", ") +
                 " behind " + t.current->opcode + ", got ." +
                 getTypeNames(type, source));
}

/// Takes out the rounding mode, or `.approx` or `.full` in its place.
static std::optional<RoundingMode>
takeRounding(Translator &t, Modifiers &modifiers, const FormRow &form) {
  static constexpr llvm::StringRef names[] = {"rn", "rz", "rm", "rp"};
  static constexpr RoundingMode modes[] = {
      RoundingMode::NearestTiesToEven, RoundingMode::TowardZero,
      RoundingMode::TowardNegative, RoundingMode::TowardPositive};
  std::optional<unsigned> mode = modifiers.takeOneOf(names);
  if (mode && (*mode == 0 || form.modifiers & kAllModes))
    return modes[*mode];
  if (!mode && (form.modifiers & kDefault ||
                (form.modifiers & kApprox && modifiers.take("approx")) ||
                (form.modifiers & kFull && modifiers.take("full"))))
    return RoundingMode::NearestTiesToEven;
  return t.error(
      llvm::Twine("expected a rounding mode (.rn") +
      (form.modifiers & kAllModes ? ", .rz, .rm, .rp" : "") +
      (form.modifiers & (kApprox | kSpecialApprox) ? ", .approx" : "") +
      (form.modifiers & kFull ? ", .full" : "") + ") behind " +
      t.current->opcode + "." + getTypeNames(form.type, form.source) +
      (mode ? ", got ." + names[*mode] : llvm::Twine()));
}

namespace {
/// An fma that yields 0 if a or b is the NaN that tensor copies fill in out of
/// bounds (with either sign, as on an H200).
struct OutOfBounds : Operation<uint32_t, 3> {
  unsigned count;

  uint64_t operator()(uint64_t sum, uint64_t a, uint64_t b) const {
    for (unsigned i = 0; i != count; ++i)
      if (isFill(a >> 16 * i) || isFill(b >> 16 * i))
        sum &= ~(uint64_t(0xFFFF) << 16 * i);
    return sum;
  }

private:
  static bool isFill(uint64_t code) { return (code & 0x7FFF) == 0x7FF7; }
};
} // namespace

/// Computes the fma into a register of its own, then applies `.oob` to it.
static void emitOutOfBounds(Translator &t, Type type, Slots slots,
                            Modes modes) {
  Slot result = std::exchange(slots[0], t.newRegister());
  emitArithmetic(t, FloatOperation::Fma, type, slots, modes);
  OutOfBounds op = {};
  op.count = getTypeInfo(type).elements;
  emitOperation(t, {result, slots[0], slots[1], slots[2]}, op);
}

void sim::translateFloatArithmetic(Translator &t, Modifiers &modifiers,
                                   Type type) {
  const OpcodeRow *row = llvm::find_if(kOpcodes, [&](const OpcodeRow &row) {
    return row.opcode == t.current->opcode;
  });
  Type source = modifiers.takeType().value_or(type);
  const FormRow *form = findForm(t, row->family, type, source);
  if (!form)
    return;
  if (form->modifiers & kSpecialApprox &&
      llvm::is_contained(modifiers.rest(), "approx"))
    return translateApproximation(t, modifiers, type);
  Modes modes;
  bool isOob = form->modifiers & kOob && modifiers.take("oob");
  std::optional<RoundingMode> rounding = takeRounding(t, modifiers, *form);
  if (!rounding)
    return;
  modes.rounding = *rounding;
  modes.isFlushing = form->modifiers & kFtz && modifiers.take("ftz");
  if (form->modifiers & kSat && modifiers.take("sat"))
    modes.clamp = Clamp::Unit;
  else if (form->modifiers & kRelu && modifiers.take("relu"))
    modes.clamp = Clamp::Positive;
  bool isReciprocal = t.current->opcode == "rcp";
  llvm::SmallVector<Type, 3> sources(
      getNumSources(row->operation) - isReciprocal, source);
  sources.back() = type;
  Slots slots = takeOperands(t, modifiers, type, sources);
  if (isReciprocal)
    slots.insert(slots.begin() + 1,
                 t.constantSlot(fromDouble(1, getFloatFormat(type),
                                           RoundingMode::NearestTiesToEven)));
  if (isOob)
    return emitOutOfBounds(t, type, slots, modes);
  if (source == type)
    return emitArithmetic(t, row->operation, type, slots, modes);
  if (source == Type::F16)
    return emitMixed<F16Element>(t, row->operation, slots, modes);
  emitMixed<BF16Element>(t, row->operation, slots, modes);
}
