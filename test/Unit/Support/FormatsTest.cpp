//===- FormatsTest.cpp - Every code of every format -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the decoder with LLVM's APFloat if it has the type, and with values
// written by hand if it does not.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Formats.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <vector>

using namespace mlir::blockscale;

static bool areSame(double lhs, double rhs) {
  if (std::isnan(lhs) || std::isnan(rhs))
    return std::isnan(lhs) && std::isnan(rhs);
  return lhs == rhs && std::signbit(lhs) == std::signbit(rhs);
}

/// All codes of `format` against APFloat's reading of the same bits.
static void expectLikeAPFloat(Format format,
                              const llvm::fltSemantics &semantics) {
  const FormatInfo &info = getFormatInfo(format);
  for (unsigned code = 0; code != info.numCodes(); ++code) {
    llvm::APFloat value(semantics, llvm::APInt(info.bits, code));
    // Conversion turns the NaN of e8m0 into infinity, so NaN is tested first.
    double expected = std::nan("");
    if (!value.isNaN()) {
      bool losesInfo = false;
      value.convert(llvm::APFloat::IEEEdouble(),
                    llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      expected = value.convertToDouble();
    }
    EXPECT_TRUE(areSame(decode(format, code), expected))
        << info.ptxName << " code " << code << ": " << decode(format, code)
        << " and " << expected;
  }
}

TEST(Formats, E4M3LikeAPFloat) {
  expectLikeAPFloat(Format::E4M3, llvm::APFloat::Float8E4M3FN());
}
TEST(Formats, E5M2LikeAPFloat) {
  expectLikeAPFloat(Format::E5M2, llvm::APFloat::Float8E5M2());
}
TEST(Formats, E3M2LikeAPFloat) {
  expectLikeAPFloat(Format::E3M2, llvm::APFloat::Float6E3M2FN());
}
TEST(Formats, E2M3LikeAPFloat) {
  expectLikeAPFloat(Format::E2M3, llvm::APFloat::Float6E2M3FN());
}
TEST(Formats, E2M1LikeAPFloat) {
  expectLikeAPFloat(Format::E2M1, llvm::APFloat::Float4E2M1FN());
}
TEST(Formats, UE8M0LikeAPFloat) {
  expectLikeAPFloat(Format::UE8M0, llvm::APFloat::Float8E8M0FNU());
}

TEST(Formats, BF16LikeAPFloat) {
  expectLikeAPFloat(Format::BF16, llvm::APFloat::BFloat());
}
TEST(Formats, F16LikeAPFloat) {
  expectLikeAPFloat(Format::F16, llvm::APFloat::IEEEhalf());
}

TEST(Formats, UE4M3IsMagnitudeOfE4M3) {
  for (unsigned code = 0; code != 256; ++code)
    EXPECT_TRUE(areSame(decode(Format::UE4M3, code),
                        std::fabs(decode(Format::E4M3, code & 0x7F))))
        << code;
}

TEST(Formats, E2M1ByHand) {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (unsigned code = 0; code != 8; ++code) {
    EXPECT_TRUE(areSame(decode(Format::E2M1, code), values[code])) << code;
    EXPECT_TRUE(areSame(decode(Format::E2M1, code | 8), -values[code])) << code;
  }
}

TEST(Formats, EndsByHand) {
  EXPECT_EQ(decode(Format::E4M3, 0x01), std::ldexp(1.0, -9));
  EXPECT_EQ(decode(Format::E4M3, 0x08), std::ldexp(1.0, -6));
  EXPECT_EQ(decode(Format::E4M3, 0x7E), 448.0);
  EXPECT_TRUE(std::isnan(decode(Format::E4M3, 0x7F)));
  EXPECT_TRUE(std::isnan(decode(Format::E4M3, 0xFF)));
  EXPECT_EQ(decode(Format::E5M2, 0x01), std::ldexp(1.0, -16));
  EXPECT_EQ(decode(Format::E5M2, 0x7B), 57344.0);
  EXPECT_EQ(decode(Format::E5M2, 0x7C), HUGE_VAL);
  EXPECT_EQ(decode(Format::E5M2, 0xFC), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(decode(Format::E5M2, 0x7D)));
  EXPECT_EQ(decode(Format::E3M2, 0x1F), 28.0);
  EXPECT_EQ(decode(Format::E3M2, 0x01), 0.0625);
  EXPECT_EQ(decode(Format::E2M3, 0x1F), 7.5);
  EXPECT_EQ(decode(Format::E2M3, 0x01), 0.125);
  EXPECT_EQ(decode(Format::UE8M0, 0x00), std::ldexp(1.0, -127));
  EXPECT_EQ(decode(Format::UE8M0, 0x01), std::ldexp(1.0, -126));
  EXPECT_EQ(decode(Format::UE8M0, 0x7F), 1.0);
  EXPECT_EQ(decode(Format::UE8M0, 0xFE), std::ldexp(1.0, 127));
  EXPECT_TRUE(std::isnan(decode(Format::UE8M0, 0xFF)));
  EXPECT_EQ(decode(Format::UE4M3, 0x80), 0.0);
  EXPECT_EQ(decode(Format::UE4M3, 0xFE), 448.0);
  EXPECT_TRUE(std::isnan(decode(Format::UE4M3, 0xFF)));
}

TEST(Formats, FieldsFillTheCode) {
  for (unsigned i = 0; i != kNumFormats; ++i) {
    const FormatInfo &info = getFormatInfo(static_cast<Format>(i));
    EXPECT_EQ(static_cast<unsigned>(info.format), i);
    unsigned ignored = info.format == Format::UE4M3 ? 1 : 0;
    EXPECT_EQ(info.signBits + info.exponentBits + info.mantissaBits + ignored,
              info.bits)
        << info.ptxName;
  }
}

TEST(Formats, LookupTellsElementsFromScales) {
  EXPECT_EQ(lookupElementFormat("f8E4M3FN"), Format::E4M3);
  EXPECT_EQ(lookupScaleFormat("f8E4M3FN"), Format::UE4M3);
  EXPECT_EQ(lookupScaleFormat("f8E8M0FNU"), Format::UE8M0);
  EXPECT_EQ(lookupElementFormat("f8E8M0FNU"), std::nullopt);
  EXPECT_EQ(lookupScaleFormat("f4E2M1FN"), std::nullopt);
  EXPECT_EQ(lookupElementFormat("f8E4M3FNUZ"), std::nullopt);
  EXPECT_EQ(lookupElementFormat(""), std::nullopt);
}

// Those without scales are neither.
TEST(Formats, PlainElements) {
  EXPECT_EQ(lookupHighPrecisionFormat("bf16"), Format::BF16);
  EXPECT_EQ(lookupHighPrecisionFormat("f16"), Format::F16);
  for (std::string_view name : {"f32", "f8E4M3FN", "", "none"})
    EXPECT_EQ(lookupHighPrecisionFormat(name), std::nullopt) << name;
  for (std::string_view name : {"bf16", "f16", ""}) {
    EXPECT_EQ(lookupElementFormat(name), std::nullopt) << name;
    EXPECT_EQ(lookupScaleFormat(name), std::nullopt) << name;
  }
  EXPECT_EQ(getFormats(/*areScales=*/false).size(), 5u);
  EXPECT_EQ(getFormats(/*areScales=*/true).size(), 2u);
}
