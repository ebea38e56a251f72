//===- ArithmeticInstructions.h - Families of arithmetic --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opcodes such as `add` belong to several families; the type decides.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_ARITHMETICINSTRUCTIONS_H
#define BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_ARITHMETICINSTRUCTIONS_H

#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

/// Translates an instruction whose first type has been taken out of the
/// modifiers.
using TranslateTyped = void (*)(Translator &t, Modifiers &modifiers, Type type);

// Integers: IntegerArithmetic.cpp.
void translateIntegerSum(Translator &t, Modifiers &modifiers, Type type);
void translateIntegerProduct(Translator &t, Modifiers &modifiers, Type type);
void translateProduct24(Translator &t, Modifiers &modifiers, Type type);
void translateIntegerQuotient(Translator &t, Modifiers &modifiers, Type type);
void translateIntegerExtremum(Translator &t, Modifiers &modifiers, Type type);
void translateIntegerSign(Translator &t, Modifiers &modifiers, Type type);
void translateDifferenceSum(Translator &t, Modifiers &modifiers, Type type);
void translateDotProduct(Translator &t, Modifiers &modifiers, Type type);

/// With the carry flag: CarryArithmetic.cpp.
void translateCarry(Translator &t, Modifiers &modifiers, Type type);

// Floating point: FloatArithmetic.cpp, FloatSelection.cpp.
void translateFloatArithmetic(Translator &t, Modifiers &modifiers, Type type);
void translateFloatExtremum(Translator &t, Modifiers &modifiers, Type type);
void translateFloatSign(Translator &t, Modifiers &modifiers, Type type);
void translateCopySign(Translator &t, Modifiers &modifiers, Type type);

/// `.approx` and `.full`: Transcendental.cpp.
void translateApproximation(Translator &t, Modifiers &modifiers, Type type);

/// slct: Selections.cpp.
void translateSelectBySign(Translator &t, Modifiers &modifiers);
/// testp: NumberTests.cpp.
void translateTest(Translator &t, Modifiers &modifiers);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_ARITHMETICINSTRUCTIONS_H
