//===- Formats.h - Element and scale formats --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The narrow floating-point formats of block-scaled matrix multiply: a table
// with one row per format, and one decoder that reads it.
//
// Sources: OCP Microscaling Formats (MX) v1.0, section 5.3; PTX ISA, section
// "Alternate Floating-Point Data Formats".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_FORMATS_H
#define BLOCKSCALE_SUPPORT_FORMATS_H

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// In the order of the format table.
enum class Format : uint8_t {
  E4M3,
  E5M2,
  E3M2,
  E2M3,
  E2M1,
  UE8M0,
  UE4M3,
  BF16,
  F16,
  /// The format of scales if there are none.
  None,
};
inline constexpr unsigned kNumFormats = 10;

/// The use of a format in a matrix multiply.
enum class FormatUse : uint8_t {
  /// Elements of A and B with scales.
  Element,
  /// Scales of blocks.
  Scale,
  /// Elements of A and B without scales.
  HighPrecision,
};

/// The magnitudes (the code without its sign) that are not finite.
enum class SpecialCodes : uint8_t {
  /// Every code is a finite number.
  None,
  /// The magnitude with all bits set is NaN; there is no infinity.
  AllOnesNaN,
  /// The largest exponent field is infinity (mantissa 0) or NaN, as in IEEE
  /// 754.
  Ieee,
};

/// One format. A code consists, from its most significant bit, of the sign (if
/// there is one, or if it is ignored), `exponentBits`, `mantissaBits`.
/// Invariant: `signBits + exponentBits + mantissaBits == bits`, except for
/// UE4M3, whose eighth bit is ignored.
struct FormatInfo {
  Format format;
  /// The name in PTX.
  std::string_view ptxName;
  /// The element type that holds it in MLIR. UE4M3 is stored as f8E4M3FN.
  std::string_view mlirName;
  unsigned bits;
  unsigned signBits;
  unsigned exponentBits;
  unsigned mantissaBits;
  int bias;
  /// Whether an exponent field of 0 means 0.mantissa (true) or 1.mantissa.
  bool hasSubnormals;
  SpecialCodes special;
  FormatUse use;

  /// Number of codes, and the mask of a code's bits.
  constexpr unsigned numCodes() const { return 1u << bits; }
  constexpr unsigned codeMask() const { return numCodes() - 1; }
  /// The bits that a code occupies outside of bit streams: a nibble or a byte.
  constexpr unsigned storedBits() const { return bits == 6 ? 8 : bits; }
  /// The bits of a code that decide its magnitude.
  constexpr unsigned magnitudeMask() const {
    return (1u << (exponentBits + mantissaBits)) - 1;
  }
};

/// The element formats, or the scale formats, in the order of the table.
std::vector<Format> getFormats(bool areScales);

/// The row of `format`.
const FormatInfo &getFormatInfo(Format format);

/// The element format held by the MLIR type of this name, such as
/// "f8E4M3FN"; nullopt if it holds none.
std::optional<Format> lookupElementFormat(std::string_view mlirName);

/// The scale format held by the MLIR type of this name: "f8E8M0FNU" or
/// "f8E4M3FN" (which means UE4M3 for scales).
std::optional<Format> lookupScaleFormat(std::string_view mlirName);

/// The format of elements without scales held by the MLIR type of this name:
/// "bf16" or "f16".
std::optional<Format> lookupHighPrecisionFormat(std::string_view mlirName);

/// The value of `code`, exactly. Bits above the width of the format are
/// ignored, as is the sign bit of UE4M3.
double decode(Format format, unsigned code);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_FORMATS_H
