//===- Logic.cpp - Logic on bits and predicates ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function of three bits is a table of eight: bit 4a + 2b + c of the table is
// the result. All of and, or, xor, not and lop3 are such tables.
//
// Source: PTX ISA, sections 9.7.8.1 "and" to 9.7.8.5 "lop3".
//
//===----------------------------------------------------------------------===//

#include "Translation/Emit.h"
#include "Translation/OpcodeTable.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
using TruthTable = uint8_t;

struct LogicRow {
  llvm::StringRef opcode;
  unsigned numSources;
  TruthTable table;
};
} // namespace

/// The truth tables of opcodes with sources `a` and `b`, or `a` alone.
static constexpr LogicRow kRows[] = {
    {"and", 2, 0b11000000},
    {"or", 2, 0b11111100},
    {"xor", 2, 0b00111100},
    {"not", 1, 0b00001111},
};

template <typename T>
static constexpr T applyTable(TruthTable table, T a, T b, T c) {
  T result = 0;
  for (unsigned i = 0; i != 8; ++i)
    if (table >> i & 1)
      result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
}

/// The table of a function whose source `second` is the same register as
/// `first` (2 is a, 1 is b, 0 is c): x ^ x is 0, whatever x is.
static TruthTable foldEqual(TruthTable table, unsigned first, unsigned second) {
  TruthTable folded = 0;
  for (unsigned i = 0; i != 8; ++i) {
    unsigned bit = i >> first & 1;
    unsigned from = (i & ~(1u << second)) | bit << second;
    folded |= (table >> from & 1) << i;
  }
  return folded;
}

/// The result bits that depend on undefined bits: those that change with some
/// choice of them.
template <typename T>
static T findUndefined(TruthTable table, std::array<T, 3> values,
                       std::array<T, 3> undefined) {
  T result = applyTable(table, values[0], values[1], values[2]);
  T changed = 0;
  for (unsigned choice = 1; choice != 8; ++choice)
    changed |= result ^
               applyTable<T>(table, values[0] ^ (choice & 1 ? undefined[0] : 0),
                             values[1] ^ (choice & 2 ? undefined[1] : 0),
                             values[2] ^ (choice & 4 ? undefined[2] : 0));
  return changed;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

namespace {
template <unsigned n>
struct LogicBase : Operation<uint64_t, n> {
  uint8_t getUndefined(TruthTable table, const std::array<uint64_t, n> &values,
                       const std::array<uint8_t, n> &undefined) const {
    std::array<uint64_t, 3> bits = {}, masks = {};
    for (unsigned i = 0; i != n; ++i) {
      bits[i] = values[i];
      masks[i] = expandBytes(undefined[i]);
    }
    return collapseBits(findUndefined(table, bits, masks));
  }
};

/// Two sources; the opcode is a constant so that the loop over lanes is one
/// machine instruction.
template <typename T, TruthTable table>
struct Logic2 : LogicBase<2> {
  using Result = T;
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return applyTable<uint64_t>(table, a, b, 0);
  }
  uint8_t getUndefined(const Sources &values,
                       const UndefinedBytes &undefined) const {
    return LogicBase<2>::getUndefined(table, values, undefined) &
           llvm::maskTrailingOnes<uint8_t>(sizeof(T));
  }
};

template <typename T>
struct And : Logic2<T, kRows[0].table> {};
template <typename T>
struct Or : Logic2<T, kRows[1].table> {};
template <typename T>
struct Xor : Logic2<T, kRows[2].table> {};

template <typename T>
struct Not : Operation<T, 1, Spread::Bytewise> {
  uint64_t operator()(uint64_t a) const { return ~a; }
};

/// C's `!`.
template <typename T>
struct IsZero : Operation<T, 1> {
  uint64_t operator()(uint64_t a) const { return T(a) == 0; }
};

struct Logic3 : LogicBase<3> {
  using Result = uint32_t;
  TruthTable table = 0;

  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    return applyTable(table, a, b, c);
  }
  uint8_t getUndefined(const Sources &values,
                       const UndefinedBytes &undefined) const {
    return LogicBase<3>::getUndefined(table, values, undefined) & 0xF;
  }
};
} // namespace

/// Emits Op<T>(arguments...) for an untyped type.
template <template <typename> class Op>
static void emitUntyped(Translator &t, Type type, llvm::ArrayRef<Slot> slots) {
  switch (type) {
  case Type::B16:
    return emitOperation(t, slots, Op<uint16_t>());
  case Type::B32:
    return emitOperation(t, slots, Op<uint32_t>());
  case Type::B64:
    return emitOperation(t, slots, Op<uint64_t>());
  default:
    return failType(t, type, "b16, b32 and b64");
  }
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

/// Operands: the destination and two sources.
static void executePredicateLogic(Warp &warp, const Step &step) {
  TruthTable table = step.getForm<TruthTable>();
  Predicate &to = warp.pred(step.operands[0]);
  const Predicate &a = warp.pred(step.operands[1]);
  const Predicate &b = warp.pred(step.operands[2]);
  LaneMask value = applyTable<LaneMask>(table, a.value, b.value, 0);
  LaneMask undefined = findUndefined<LaneMask>(table, {a.value, b.value, 0},
                                               {a.undefined, b.undefined, 0});
  to.value = (to.value & ~warp.active) | (value & warp.active);
  to.undefined = (to.undefined & ~warp.active) | (undefined & warp.active);
}

static void emitPredicateLogic(Translator &t, const LogicRow &row) {
  if (!t.expectOperands(1 + row.numSources))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  Slot slots[] = {t.predicateDestination(operands[0]),
                  t.predicateSource(operands[1], nullptr),
                  t.predicateSource(operands[row.numSources], nullptr)};
  TruthTable table = row.table;
  if (slots[1] == slots[2])
    table = foldEqual(table, /*first=*/2, /*second=*/1);
  t.emit(executePredicateLogic, StepClass::Arithmetic, slots, t.keep(table));
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

static void translateLogic(Translator &t, Modifiers &modifiers) {
  const LogicRow *row = llvm::find_if(kRows, [&](const LogicRow &row) {
    return row.opcode == t.current->opcode;
  });
  std::optional<Type> type = modifiers.takeType();
  if (!type)
    return t.fail("expected a type behind " + t.current->opcode);
  if (!t.finish(modifiers))
    return;
  if (*type == Type::Pred)
    return emitPredicateLogic(t, *row);
  llvm::SmallVector<Type, 2> sources(row->numSources, *type);
  Slots slots = takeOperands(t, modifiers, *type, sources);
  if (row->numSources == 1)
    return emitUntyped<Not>(t, *type, slots);
  if (t.current->opcode == "and")
    return emitUntyped<And>(t, *type, slots);
  if (t.current->opcode == "or")
    return emitUntyped<Or>(t, *type, slots);
  // x ^ x is 0, whatever x is.
  if (slots[1] == slots[2])
    slots[1] = slots[2] = t.constantSlot(0);
  emitUntyped<Xor>(t, *type, slots);
}

static void translateIsZero(Translator &t, Modifiers &modifiers) {
  std::optional<Type> type = modifiers.takeType();
  if (!type)
    return t.fail("expected a type behind " + t.current->opcode);
  Slots slots = takeOperands(t, modifiers, *type, {*type});
  emitUntyped<IsZero>(t, *type, slots);
}

/// lop3 without a predicate result (`lop3.or.b32 d|p` is not here).
static void translateLogic3(Translator &t, Modifiers &modifiers) {
  if (modifiers.takeType() != Type::B32)
    return t.fail("expected .b32 behind lop3");
  if (!t.finish(modifiers) || !t.expectOperands(5))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  int64_t table = t.constant(operands[4], "the truth table");
  if (table < 0 || table > 255)
    return t.fail(operands[4].location,
                  "expected a truth table from 0 to 255, got " +
                      llvm::Twine(table));
  Logic3 logic;
  logic.table = static_cast<TruthTable>(table);
  Slot slots[] = {
      t.destination(operands[0], Type::B32), t.source(operands[1], Type::B32),
      t.source(operands[2], Type::B32), t.source(operands[3], Type::B32)};
  for (unsigned first = 1; first != 4; ++first)
    for (unsigned second = first + 1; second != 4; ++second)
      if (slots[first] == slots[second])
        logic.table = foldEqual(logic.table, 3 - first, 3 - second);
  emitOperation(t, slots, logic);
}

void sim::addLogicInstructions(OpcodeTable &table) {
  for (const LogicRow &row : kRows)
    table[row.opcode] = translateLogic;
  table["cnot"] = translateIsZero;
  table["lop3"] = translateLogic3;
}
