//===- Formats.h - How codes become bf16 ------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts about formats that the path dequant_mma is made of. A code is placed in
// 16 bits so that its mantissa ends at bit 6: these are the code times
// 2^-exponent as bf16, subnormals included, because a field of zeros means the
// same in all of these formats. Multiplications make it what it stands for.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_FORMATS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_FORMATS_H

#include "blockscale/Support/Formats.h"

namespace mlir::blockscale {

/// How codes of a format that lie in bytes become bf16.
struct CodeFormat {
  /// The byte is shifted left by this first, so that its top bit is the sign.
  unsigned signShift;
  /// 16 bits with that byte, and copies of its sign above it, are shifted left
  /// by this; then the bits of `mask` are kept.
  unsigned shift;
  uint16_t mask;
  /// That is the code times 2^-exponent.
  unsigned exponent;
  /// Whether one multiplication is enough, by 2^exponent times the scale: where
  /// bf16 has room for the scales that occur.
  bool isFolded;
  /// With e8m0 scales from the lowest to the highest, all codes are normal in
  /// bf16, or zero.
  unsigned lowestScale, highestScale;
  /// The same with two multiplications.
  unsigned highestExact;
  /// Infinities and NaN are magnitudes from `firstSpecial` on, none if it is 0;
  /// they become what they are by setting `specialBits`.
  unsigned firstSpecial;
  uint16_t specialBits;
};

/// That of an element format.
CodeFormat getCodeFormat(Format format);

/// The scale codes, without their sign, with which an element of `format` is
/// exact in bf16.
struct ScaleWindow {
  unsigned lowest, highest;
  /// The bits of a code that count.
  uint8_t mask;
};
ScaleWindow getScaleWindow(Format format, Format scale);

/// Where one multiplication makes numbers of codes of `format`, the exponent by
/// which they are too small, and that numbers they are multiplied with make up
/// for: so that what bf16 holds is in the middle of what scales can be.
unsigned getScaleShift(Format format, Format scale);

/// 2^`exponent` as bf16, in both halves of a word.
uint32_t getPowerPair(int exponent);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_FORMATS_H
