//===- Conversions.h - Parts of cvt -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_CONVERSIONS_H
#define BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_CONVERSIONS_H

#include "Arithmetic/FloatFormats.h"
#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

/// The modifiers between `cvt` and its types.
struct ConversionModifiers {
  /// `.rn` and the like; `.rni` and the like have `isIntegral`.
  std::optional<RoundingMode> rounding;
  bool isIntegral = false;
  /// `.rs`: the last operand has the random bits.
  bool isStochastic = false;
  bool isFlushing = false, isSaturating = false, isSatFinite = false,
       isRelu = false;
};

/// Conversions of several elements: PackedConversions.cpp.
void translatePackedConversion(Translator &t, const ConversionModifiers &form,
                               Type to, Type from);

/// Rounds a value to a format and applies the rest of the modifiers.
uint64_t convertTo(const FloatFormat &format, double value,
                   const ConversionModifiers &form);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_CONVERSIONS_H
