//===- ArithmeticInstructions.cpp - The opcodes of arithmetic -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An opcode such as add belongs to integers, carries or floating point: the
// type and the modifiers pick the family.
//
// Source: PTX ISA, sections 9.7.1 to 9.7.5.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticInstructions.h"

#include "Translation/OpcodeTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// The translators of an opcode for integer types and for floating-point types;
/// null where there is no such instruction.
struct ArithmeticRow {
  llvm::StringRef opcode;
  TranslateTyped integer, floatingPoint;
};
} // namespace

static constexpr ArithmeticRow kRows[] = {
    {"add", translateIntegerSum, translateFloatArithmetic},
    {"sub", translateIntegerSum, translateFloatArithmetic},
    {"mul", translateIntegerProduct, translateFloatArithmetic},
    {"mad", translateIntegerProduct, translateFloatArithmetic},
    {"fma", nullptr, translateFloatArithmetic},
    {"div", translateIntegerQuotient, translateFloatArithmetic},
    {"rem", translateIntegerQuotient, nullptr},
    {"rcp", nullptr, translateFloatArithmetic},
    {"sqrt", nullptr, translateFloatArithmetic},
    {"abs", translateIntegerSign, translateFloatSign},
    {"neg", translateIntegerSign, translateFloatSign},
    {"min", translateIntegerExtremum, translateFloatExtremum},
    {"max", translateIntegerExtremum, translateFloatExtremum},
    {"mul24", translateProduct24, nullptr},
    {"mad24", translateProduct24, nullptr},
    {"sad", translateDifferenceSum, nullptr},
    {"dp4a", translateDotProduct, nullptr},
    {"dp2a", translateDotProduct, nullptr},
    {"addc", translateCarry, nullptr},
    {"subc", translateCarry, nullptr},
    {"madc", translateCarry, nullptr},
    {"copysign", nullptr, translateCopySign},
    {"rsqrt", nullptr, translateApproximation},
    {"sin", nullptr, translateApproximation},
    {"cos", nullptr, translateApproximation},
    {"lg2", nullptr, translateApproximation},
    {"ex2", nullptr, translateApproximation},
    {"tanh", nullptr, translateApproximation},
};

static void translateArithmetic(Translator &t, Modifiers &modifiers) {
  const ArithmeticRow *row =
      llvm::find_if(kRows, [&](const ArithmeticRow &row) {
        return row.opcode == t.current->opcode;
      });
  std::optional<Type> type = modifiers.takeType();
  if (!type)
    return t.fail("expected a type behind " + t.current->opcode);
  TranslateTyped translate = nullptr;
  switch (getTypeInfo(*type).kind) {
  case TypeClass::Unsigned:
  case TypeClass::Signed:
    translate = row->integer;
    break;
  case TypeClass::Float:
    translate = row->floatingPoint;
    break;
  default:
    break;
  }
  if (!translate)
    return t.fail("expected " +
                  llvm::Twine(!row->integer        ? "a floating-point"
                              : row->floatingPoint ? "an integer or a "
                                                     "floating-point"
                                                   : "an integer") +
                  " type behind " + t.current->opcode + ", got ." +
                  std::string(getName(*type)));
  translate(t, modifiers, *type);
}

void sim::addArithmeticInstructions(OpcodeTable &table) {
  for (const ArithmeticRow &row : kRows)
    table[row.opcode] = translateArithmetic;
}
