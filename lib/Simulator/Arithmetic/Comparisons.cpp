//===- Comparisons.cpp - setp, set ----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For all types, a comparison is a set of relations (Relations.h), in a row of
// a table.
//
// Source: PTX ISA, sections 9.7.6 "Comparison and Selection Instructions" and
// 9.7.7 "Half Precision Comparison Instructions".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticInstructions.h"
#include "Arithmetic/Relations.h"
#include "Translation/Emit.h"
#include "Translation/OpcodeTable.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// How an instruction names a comparison, and for which types.
struct ComparisonRow {
  llvm::StringRef name;
  Relations relations;
  bool isForIntegers, isForBits, isForFloats;
};
} // namespace

// clang-format off
static constexpr ComparisonRow kComparisons[] = {
    {"eq",  Equal,                            true,  true,  true},
    {"ne",  Less | Greater,                   true,  true,  true},
    {"lt",  Less,                             true,  false, true},
    {"le",  Less | Equal,                     true,  false, true},
    {"gt",  Greater,                          true,  false, true},
    {"ge",  Greater | Equal,                  true,  false, true},
    // Names for unsigned integers.
    {"lo",  Less,                             true,  false, false},
    {"ls",  Less | Equal,                     true,  false, false},
    {"hi",  Greater,                          true,  false, false},
    {"hs",  Greater | Equal,                  true,  false, false},
    {"equ", Equal | Unordered,                false, false, true},
    {"neu", Less | Greater | Unordered,       false, false, true},
    {"ltu", Less | Unordered,                 false, false, true},
    {"leu", Less | Equal | Unordered,         false, false, true},
    {"gtu", Greater | Unordered,              false, false, true},
    {"geu", Greater | Equal | Unordered,      false, false, true},
    {"num", Less | Equal | Greater,           false, false, true},
    {"nan", Unordered,                        false, false, true},
};
// clang-format on

//===----------------------------------------------------------------------===//
// setp
//===----------------------------------------------------------------------===//

namespace {
enum class Combination : uint8_t { None, And, Or, Xor };

/// Operands: the two destinations, the sources and the predicate with which the
/// result is combined (kNoSlot where there is none).
struct SetPredicateForm {
  Relations relations;
  Combination combination;
  bool isNegated;
  /// The second destination gets the result of the upper halves, and not the
  /// complement.
  bool isPacked;
};

template <typename Number>
struct CompareForm : SetPredicateForm {
  Number number;
};
} // namespace

static Predicate combine(Combination combination, Predicate a, Predicate b) {
  LaneMask both = a.undefined | b.undefined;
  switch (combination) {
  case Combination::None:
    return a;
  case Combination::And: {
    LaneMask isFalse = (~a.value & ~a.undefined) | (~b.value & ~b.undefined);
    return {a.value & b.value & ~isFalse, both & ~isFalse};
  }
  case Combination::Or: {
    LaneMask isTrue = (a.value & ~a.undefined) | (b.value & ~b.undefined);
    return {a.value | b.value | isTrue, both & ~isTrue};
  }
  case Combination::Xor:
    return {a.value ^ b.value, both};
  }
  return a;
}

static Predicate complement(Predicate predicate) {
  return {~predicate.value, predicate.undefined};
}

static void store(Warp &warp, Slot slot, Predicate result) {
  if (slot == kNoSlot)
    return;
  Predicate &to = warp.pred(slot);
  to.value = (to.value & ~warp.active) | (result.value & warp.active);
  to.undefined =
      (to.undefined & ~warp.active) | (result.undefined & warp.active);
}

/// Combines the results with the third source and stores them.
static void finishSetPredicate(Warp &warp, const Step &step,
                               const SetPredicateForm &form, Predicate first,
                               Predicate second) {
  if (form.combination != Combination::None) {
    Predicate with = warp.pred(step.operands[4]);
    if (form.isNegated)
      with = complement(with);
    first = combine(form.combination, first, with);
    second = combine(form.combination, second, with);
  }
  store(warp, step.operands[0], first);
  store(warp, step.operands[1], second);
}

template <typename Number>
static void executeSetPredicate(Warp &warp, const Step &step) {
  const auto &form = step.getForm<CompareForm<Number>>();
  const Lanes &a = warp.reg(step.operands[2]), &b = warp.reg(step.operands[3]);
  Predicate first = compare(warp, a, b, form.relations, form.number);
  finishSetPredicate(warp, step, form, first, complement(first));
}

/// f16x2 and bf16x2: the lower halves, and the upper ones.
static void executeSetPredicatePair(Warp &warp, const Step &step) {
  const auto &form = step.getForm<CompareForm<Half>>();
  const Lanes &a = warp.reg(step.operands[2]), &b = warp.reg(step.operands[3]);
  Half upper = form.number;
  upper.shift = 16;
  finishSetPredicate(warp, step, form,
                     compare(warp, a, b, form.relations, form.number),
                     compare(warp, a, b, form.relations, upper, /*first=*/2));
}

//===----------------------------------------------------------------------===//
// set
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the destination, the sources and the predicate.
template <typename Number>
struct SetForm : CompareForm<Number> {
  /// The bits that mean true in the destination, or in each half of it. The
  /// destination has `resultBytes`.
  uint32_t trueBits;
  uint8_t resultBytes;
};
} // namespace

template <typename Number>
static void executeSet(Warp &warp, const Step &step) {
  const auto &form = step.getForm<SetForm<Number>>();
  const Lanes &a = warp.reg(step.operands[1]), &b = warp.reg(step.operands[2]);
  Predicate results[2] = {compare(warp, a, b, form.relations, form.number),
                          {0, 0}};
  unsigned count = 1;
  if constexpr (std::is_same_v<Number, Half>)
    if (form.isPacked) {
      Half upper = form.number;
      upper.shift = 16;
      results[1] = compare(warp, a, b, form.relations, upper, /*first=*/2);
      count = 2;
    }
  if (form.combination != Combination::None) {
    Predicate with = warp.pred(step.operands[3]);
    if (form.isNegated)
      with = complement(with);
    for (unsigned i = 0; i != count; ++i)
      results[i] = combine(form.combination, results[i], with);
  }
  Lanes &to = warp.reg(step.operands[0]);
  forEachLane(warp.active, [&](unsigned lane) {
    uint64_t value = 0;
    uint8_t undefined = 0;
    for (unsigned i = 0; i != count; ++i) {
      if (results[i].value >> lane & 1)
        value |= uint64_t(form.trueBits) << i * 16;
      if (results[i].undefined >> lane & 1)
        undefined |= llvm::maskTrailingOnes<uint8_t>(form.resultBytes / count)
                     << i * form.resultBytes / count;
    }
    to.set(lane, value, undefined);
  });
}

//===----------------------------------------------------------------------===//
// Translation of set and setp
//===----------------------------------------------------------------------===//

/// Calls `body(number)` with the class that reads values of the type; false if
/// there is none.
template <typename Body>
static bool withNumber(Type type, bool isFlushing, Body body) {
  switch (type) {
  case Type::U16:
  case Type::B16:
    return body(Integer<uint16_t>()), true;
  case Type::U32:
  case Type::B32:
    return body(Integer<uint32_t>()), true;
  case Type::U64:
  case Type::B64:
    return body(Integer<uint64_t>()), true;
  case Type::S16:
    return body(Integer<int16_t>()), true;
  case Type::S32:
    return body(Integer<int32_t>()), true;
  case Type::S64:
    return body(Integer<int64_t>()), true;
  case Type::F32:
    return body(Single{isFlushing}), true;
  case Type::F64:
    return body(Double()), true;
  case Type::F16:
  case Type::F16x2:
  case Type::BF16:
  case Type::BF16x2:
    return body(Half{&getFloatFormat(type), isFlushing, 0}), true;
  default:
    return false;
  }
}

/// Takes out the comparison and the combination.
static bool takeComparison(Translator &t, Modifiers &modifiers,
                           SetPredicateForm &form, const ComparisonRow *&row) {
  row = modifiers.takeRow(kComparisons);
  if (!row)
    return t.error("expected a comparison such as .eq behind " +
                   t.current->opcode);
  form.relations = row->relations;
  if (std::optional<unsigned> combination =
          modifiers.takeOneOf({"and", "or", "xor"}))
    form.combination = static_cast<Combination>(*combination + 1);
  return true;
}

static bool checkComparison(Translator &t, const ComparisonRow &row,
                            Type type) {
  TypeClass kind = getTypeInfo(type).kind;
  bool isLegal = kind == TypeClass::Float     ? row.isForFloats
                 : kind == TypeClass::Untyped ? row.isForBits
                                              : row.isForIntegers;
  if (!isLegal)
    t.fail("expected a comparison that ." + llvm::Twine(getName(type)) +
           " has, got ." + row.name);
  return isLegal;
}

/// The flag `.ftz`, which f32 and f16 have.
static bool takeFlushing(Translator &t, Modifiers &modifiers, Type type) {
  if (!modifiers.take("ftz"))
    return false;
  if (type != Type::F32 && type != Type::F16 && type != Type::F16x2)
    t.fail("expected .ftz with .f32, .f16 or .f16x2, got ." +
           llvm::Twine(getName(type)));
  return true;
}

static bool isPacked(Type type) { return getTypeInfo(type).elements == 2; }

/// Takes out the modifiers that set and setp share. Returns whether `.ftz` is
/// there, or nothing after an error.
static std::optional<bool> takeForm(Translator &t, Modifiers &modifiers,
                                    Type type, SetPredicateForm &form) {
  const ComparisonRow *row;
  bool isFlushing = takeFlushing(t, modifiers, type);
  if (!takeComparison(t, modifiers, form, row) ||
      !checkComparison(t, *row, type) || !t.finish(modifiers) ||
      !t.expectOperands(form.combination == Combination::None ? 3 : 4))
    return std::nullopt;
  form.isPacked = isPacked(type);
  return isFlushing;
}

/// The registers of the sources, and of the predicate behind them.
static void addSources(Translator &t, Type type, SetPredicateForm &form,
                       llvm::SmallVectorImpl<Slot> &slots) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  slots.push_back(t.source(operands[1], type));
  slots.push_back(t.source(operands[2], type));
  if (form.combination != Combination::None)
    slots.push_back(t.predicateSource(operands[3], &form.isNegated));
}

static void translateSetPredicate(Translator &t, Modifiers &modifiers) {
  SetPredicateForm form = {};
  std::optional<Type> type = modifiers.takeType();
  if (!type)
    return t.fail("expected a type behind setp");
  std::optional<bool> isFlushing = takeForm(t, modifiers, *type, form);
  if (!isFlushing)
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  llvm::SmallVector<Slot, 5> slots = {kNoSlot, kNoSlot};
  llvm::ArrayRef<PtxOperand> destinations(operands[0]);
  if (operands[0].kind == PtxOperand::Kind::Pair)
    destinations = operands[0].elements;
  for (auto [i, operand] : llvm::enumerate(destinations))
    slots[i] = t.predicateDestination(operand);
  addSources(t, *type, form, slots);
  if (t.hasFailed())
    return;
  bool isKnown = withNumber(*type, *isFlushing, [&](auto number) {
    using Number = decltype(number);
    CompareForm<Number> compareForm;
    static_cast<SetPredicateForm &>(compareForm) = form;
    compareForm.number = number;
    Step::Execute execute = executeSetPredicate<Number>;
    if constexpr (std::is_same_v<Number, Half>)
      if (form.isPacked)
        execute = executeSetPredicatePair;
    t.emit(execute, StepClass::Arithmetic, slots, t.keep(compareForm));
  });
  if (!isKnown)
    failType(t, *type, "16, 32 and 64 bits");
}

/// The bits that mean true in a destination type; nothing for other types.
static std::optional<uint32_t> getTrue(Type type) {
  switch (type) {
  case Type::U32:
  case Type::S32:
    return 0xFFFFFFFF;
  case Type::U16:
  case Type::S16:
    return 0xFFFF;
  case Type::F32:
    return 0x3F800000;
  case Type::F16:
  case Type::F16x2:
    return 0x3C00;
  case Type::BF16:
  case Type::BF16x2:
    return 0x3F80;
  default:
    return std::nullopt;
  }
}

static void translateSet(Translator &t, Modifiers &modifiers) {
  SetPredicateForm form = {};
  std::optional<Type> result = modifiers.takeType(),
                      type = modifiers.takeType();
  if (!result || !type)
    return t.fail("expected two types behind set");
  std::optional<bool> isFlushing = takeForm(t, modifiers, *type, form);
  if (!isFlushing)
    return;
  std::optional<uint32_t> trueBits = getTrue(*result);
  if (!trueBits || isPacked(*result) != form.isPacked)
    return failType(t, *result,
                    "u32, s32, u16, s16, f32 and halves for the "
                    "result");
  llvm::SmallVector<Slot, 4> slots = {
      t.destination(t.current->operands[0], *result)};
  addSources(t, *type, form, slots);
  if (t.hasFailed())
    return;
  bool isKnown = withNumber(*type, *isFlushing, [&](auto number) {
    using Number = decltype(number);
    SetForm<Number> setForm;
    static_cast<SetPredicateForm &>(setForm) = form;
    setForm.number = number;
    setForm.trueBits = *trueBits;
    setForm.resultBytes = static_cast<uint8_t>(getBytes(*result));
    t.emit(executeSet<Number>, StepClass::Arithmetic, slots, t.keep(setForm));
  });
  if (!isKnown)
    failType(t, *type, "16, 32 and 64 bits");
}

void sim::addComparisonInstructions(OpcodeTable &table) {
  table["setp"] = translateSetPredicate;
  table["set"] = translateSet;
  table["slct"] = translateSelectBySign;
  table["testp"] = translateTest;
}
