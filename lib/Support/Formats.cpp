//===- Formats.cpp - Element and scale formats ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Formats.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::blockscale;

// clang-format off
static constexpr FormatUse kElement = FormatUse::Element,
                           kScale = FormatUse::Scale, kHighPrecision = FormatUse::HighPrecision;

static constexpr FormatInfo kFormats[kNumFormats] = {
  //                                          bits sign exp man bias subnormals special               use
  {Format::E4M3,  "e4m3",  "f8E4M3FN",  8, 1, 4, 3,   7, true,  SpecialCodes::AllOnesNaN, kElement},
  {Format::E5M2,  "e5m2",  "f8E5M2",    8, 1, 5, 2,  15, true,  SpecialCodes::Ieee,       kElement},
  {Format::E3M2,  "e3m2",  "f6E3M2FN",  6, 1, 3, 2,   3, true,  SpecialCodes::None,       kElement},
  {Format::E2M3,  "e2m3",  "f6E2M3FN",  6, 1, 2, 3,   1, true,  SpecialCodes::None,       kElement},
  {Format::E2M1,  "e2m1",  "f4E2M1FN",  4, 1, 2, 1,   1, true,  SpecialCodes::None,       kElement},
  {Format::UE8M0, "ue8m0", "f8E8M0FNU", 8, 0, 8, 0, 127, false, SpecialCodes::AllOnesNaN, kScale},
  {Format::UE4M3, "ue4m3", "f8E4M3FN",  8, 0, 4, 3,   7, true,  SpecialCodes::AllOnesNaN, kScale},
  {Format::BF16,  "bf16",  "bf16",     16, 1, 8, 7, 127, true,  SpecialCodes::Ieee,       kHighPrecision},
  {Format::F16,   "f16",   "f16",      16, 1, 5, 10, 15, true,  SpecialCodes::Ieee,       kHighPrecision},
  {Format::None,  "none",  "",          0, 0, 0, 0,   0, false, SpecialCodes::None,       kHighPrecision},
};
// clang-format on

const FormatInfo &blockscale::getFormatInfo(Format format) {
  return kFormats[static_cast<unsigned>(format)];
}

std::vector<Format> blockscale::getFormats(bool areScales) {
  std::vector<Format> formats;
  FormatUse use = areScales ? FormatUse::Scale : FormatUse::Element;
  for (const FormatInfo &info : kFormats)
    if (info.use == use)
      formats.push_back(info.format);
  return formats;
}

static std::optional<Format> lookup(std::string_view mlirName, FormatUse use) {
  for (const FormatInfo &info : kFormats)
    if (info.use == use && info.mlirName == mlirName && info.bits != 0)
      return info.format;
  return std::nullopt;
}

std::optional<Format>
blockscale::lookupElementFormat(std::string_view mlirName) {
  return lookup(mlirName, FormatUse::Element);
}

std::optional<Format> blockscale::lookupScaleFormat(std::string_view mlirName) {
  return lookup(mlirName, FormatUse::Scale);
}

std::optional<Format>
blockscale::lookupHighPrecisionFormat(std::string_view mlirName) {
  return lookup(mlirName, FormatUse::HighPrecision);
}

double blockscale::decode(Format format, unsigned code) {
  const FormatInfo &info = getFormatInfo(format);
  unsigned magnitude = code & info.magnitudeMask();
  unsigned mantissa = magnitude & ((1u << info.mantissaBits) - 1);
  unsigned exponent = magnitude >> info.mantissaBits;
  unsigned maxExponent = (1u << info.exponentBits) - 1;

  double value;
  if (info.special == SpecialCodes::AllOnesNaN &&
      magnitude == info.magnitudeMask()) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (info.special == SpecialCodes::Ieee && exponent == maxExponent) {
    value = mantissa ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  } else {
    bool isSubnormal = exponent == 0 && info.hasSubnormals;
    unsigned significand =
        isSubnormal ? mantissa : mantissa | (1u << info.mantissaBits);
    int scale = (isSubnormal ? 1 : static_cast<int>(exponent)) - info.bias -
                static_cast<int>(info.mantissaBits);
    value = std::ldexp(significand, scale);
  }

  bool isNegative = info.signBits && (code >> (info.bits - 1) & 1);
  return isNegative ? -value : value;
}
