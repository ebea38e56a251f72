//===- Formats.h - Bits of formats in bf16 ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants of formats for dequantization in registers. A code is shifted into
// position in 16 bits, so that its mantissa ends at bit 6 for bf16, or at bit 9
// for f16. There these bits are the value times 2^-exponent, subnormals
// included, because a field of zeros means the same in all of these formats.
// Multiplications correct the exponent.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_FORMATS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_FORMATS_H

#include "blockscale/Support/Formats.h"

namespace mlir::blockscale {

/// How codes of a format, in bytes, become bf16 or f16.
struct CodeFormat {
  /// The byte is shifted left by this first, so that its top bit is the sign.
  unsigned signShift;
  /// 16 bits with that byte, and copies of its sign above it, are shifted left
  /// by this; then the bits of `mask` are kept.
  unsigned shift;
  uint16_t mask;
  /// The result is the value times 2^-exponent.
  unsigned exponent;
  /// Whether one multiplication is enough, by 2^exponent times the scale: if
  /// the exponents of bf16 are enough for the scales that occur.
  bool isFolded;
  /// With e8m0 scales from the lowest to the highest, all elements are normal
  /// in bf16, or zero; in f16, which the tensor core takes with subnormals,
  /// they are exact.
  unsigned lowestScale, highestScale;
  /// For f16, whose exponents do not cover these scales: the factor of a scale
  /// is larger by 2^scaleExponent, that of elements smaller.
  unsigned scaleExponent;
  /// The same with two multiplications.
  unsigned highestExact;
  /// Infinities and NaN are the magnitudes from `firstSpecial` on; there are
  /// none if it is 0. Setting `specialBits` makes them infinity and NaN of
  /// bf16.
  unsigned firstSpecial;
  uint16_t specialBits;
};

/// The entry of an element format, for values of bf16 or f16.
CodeFormat getCodeFormat(Format format, Format value = Format::BF16);

/// The scale codes, without their sign, with which an element of `format` is
/// exact in bf16.
struct ScaleWindow {
  unsigned lowest, highest;
  /// The bits of a code that matter.
  uint8_t mask;
};
ScaleWindow getScaleWindow(Format format, Format scale);

/// If one multiplication dequantizes elements of `format`: the exponent by
/// which the values are too small. The other operand compensates for it. So the
/// scales that bf16 can hold are in the middle of the range of scales.
/// `isSplit`: with a tensor scale that is split, whatever the scales are.
unsigned getScaleShift(Format format, Format scale, Format value = Format::BF16,
                       bool isSplit = false);

/// Whether a tensor scale of elements of `format` is split (SplitScale.h), for
/// values of `value`.
bool isScaleSplit(Format format, Format value);

/// 2^`exponent` as bf16 or f16, in both halves of a word.
uint32_t getPowerPair(int exponent, Format value = Format::BF16);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_FORMATS_H
