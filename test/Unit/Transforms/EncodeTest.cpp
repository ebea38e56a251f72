//===- EncodeTest.cpp - Encoding against APFloat --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of emitEncode fold for constants. The results are compared
// with LLVM's APFloat or, where it has no such type, with the rules of
// docs/Numerics.md.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace mlir::blockscale;
using llvm::APFloat;
using llvm::APInt;

namespace {
struct Target {
  Format format;
  const llvm::fltSemantics *semantics;
};
} // namespace

static const Target kSigned[] = {
    {Format::E4M3, &APFloat::Float8E4M3FN()},
    {Format::E5M2, &APFloat::Float8E5M2()},
    {Format::E3M2, &APFloat::Float6E3M2FN()},
    {Format::E2M3, &APFloat::Float6E2M3FN()},
    {Format::E2M1, &APFloat::Float4E2M1FN()},
    {Format::BF16, &APFloat::BFloat()},
    {Format::F16, &APFloat::IEEEhalf()},
};

/// Encodes `values`, all in one tensor.
static std::vector<uint64_t> encodeAll(const std::vector<APFloat> &values,
                                       bool isDouble, Format format,
                                       Overflow overflow) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, func::FuncDialect>();
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  Type element = isDouble ? Type(builder.getF64Type()) : builder.getF32Type();
  auto type =
      RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToStart(module->getBody());
  auto function =
      func::FuncOp::create(builder, loc, "f", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value input = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<APFloat>(values)));
  Value code = emitEncode(builder, loc, input, format, overflow);
  func::ReturnOp::create(builder, loc, code);
  if (failed(applyPatternsGreedily(function, RewritePatternSet(&context))))
    return {};
  auto constant = function.getBody()
                      .front()
                      .getTerminator()
                      ->getOperand(0)
                      .getDefiningOp<arith::ConstantOp>();
  std::vector<uint64_t> codes;
  if (constant)
    for (APInt bits :
         cast<DenseElementsAttr>(constant.getValue()).getValues<APInt>())
      codes.push_back(bits.getZExtValue());
  return codes;
}

static APFloat convert(APFloat value, const llvm::fltSemantics &semantics) {
  bool losesInfo = false;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

/// Values of `source` that matter for `format`: all of its values, halves
/// between them, their neighbours, ends of both formats, NaN, random bits.
static std::vector<APFloat> getInputs(const llvm::fltSemantics &source,
                                      Format format) {
  const FormatInfo &info = getFormatInfo(format);
  std::vector<APFloat> values;
  auto add = [&](APFloat value) {
    for (APFloat sign : {value, -value})
      for (bool down : {false, true}) {
        APFloat beside = sign;
        beside.next(down);
        values.insert(values.end(), {sign, beside});
      }
  };
  auto addNumber = [&](double number) {
    add(convert(APFloat(number), source));
  };
  double before = 0;
  unsigned step = info.bits > 8 ? 37 : 1;
  for (unsigned code = 0; code <= info.magnitudeMask(); code += step) {
    double number = decode(format, code);
    if (std::isfinite(number)) {
      addNumber(number);
      addNumber((before + number) / 2);
      addNumber((decode(format, code ? code - 1 : 0) + number) / 2);
      before = number;
      // Beyond the largest, too.
      addNumber(number * (1 + std::ldexp(0.5, -int(info.mantissaBits) - 1)));
      addNumber(number * (1 + std::ldexp(0.5, -int(info.mantissaBits))));
      addNumber(number * (1 + std::ldexp(1, -int(info.mantissaBits))));
    }
  }
  for (double number : {0x1p-126, 0x1p-127, 0x1p-128, 0x1p-133, 0x1p-149,
                        0x1.8p-127, 0x1p127, 0x1.8p127, 0x1.fffffep127, 1e300,
                        1e-300, std::numeric_limits<double>::infinity()})
    addNumber(number);
  unsigned width = APFloat::getSizeInBits(source);
  std::mt19937_64 random(7);
  for (unsigned i = 0; i != 4000; ++i)
    values.emplace_back(source,
                        APInt(width, random(), false, /*implicitTrunc=*/true));
  // NaN with bits at every position.
  unsigned mantissaBits = APFloat::semanticsPrecision(source) - 1;
  APInt infinity = APFloat::getInf(source).bitcastToAPInt();
  for (unsigned i = 0; i != mantissaBits; ++i)
    for (bool sign : {false, true}) {
      APInt bits = infinity | APInt::getOneBitSet(width, i);
      if (sign)
        bits.setSignBit();
      values.emplace_back(source, bits);
    }
  return values;
}

/// The rule of docs/Numerics.md for values that APFloat does not have.
static uint64_t expectedCode(const APFloat &value, const Target &target,
                             Overflow overflow) {
  const FormatInfo &info = getFormatInfo(target.format);
  uint64_t sign = value.isNegative() ? uint64_t(1) << (info.bits - 1) : 0;
  bool hasNaN = info.special != SpecialCodes::None;
  if (value.isNaN() && !hasNaN)
    return info.magnitudeMask();
  if (!value.isNaN()) {
    APFloat largest = APFloat::getLargest(*target.semantics);
    APFloat result = convert(value, *target.semantics);
    bool isBeyond = value.isInfinity() || !result.isFinite();
    if (isBeyond && (overflow == Overflow::Saturate || !hasNaN))
      return largest.bitcastToAPInt().getZExtValue() | sign;
  }
  return convert(value, *target.semantics).bitcastToAPInt().getZExtValue();
}

/// The two rounded ways of e8m0, from its definition: nearest, ties up.
static uint64_t expectedScale(double value, Overflow overflow) {
  if (std::isnan(value) || value < 0)
    return 0xFF;
  if (value < 0x1.8p-127)
    return 0;
  if (value >= 0x1.8p127)
    return overflow == Overflow::Saturate ? 0xFE : 0xFF;
  int exponent = std::ilogb(value);
  return exponent + 127 + (value >= std::ldexp(1.5, exponent));
}

static void
expectCodes(const std::vector<APFloat> &inputs, bool isDouble, Format format,
            Overflow overflow,
            llvm::function_ref<uint64_t(const APFloat &)> expected) {
  std::vector<uint64_t> codes = encodeAll(inputs, isDouble, format, overflow);
  ASSERT_EQ(codes.size(), inputs.size());
  unsigned numFailures = 0;
  for (size_t i = 0; i != codes.size() && numFailures < 5; ++i) {
    uint64_t wanted = expected(inputs[i]);
    EXPECT_EQ(codes[i], wanted)
        << std::string(getFormatInfo(format).ptxName) << " of "
        << llvm::toString(inputs[i].bitcastToAPInt(), 16, false);
    numFailures += codes[i] != wanted;
  }
}

class Encode : public testing::TestWithParam<std::tuple<bool, Overflow>> {
protected:
  bool isDouble = std::get<0>(GetParam());
  Overflow overflow = std::get<1>(GetParam());
  const llvm::fltSemantics &source =
      isDouble ? APFloat::IEEEdouble() : APFloat::IEEEsingle();
};

TEST_P(Encode, LikeAPFloat) {
  for (const Target &target : kSigned)
    expectCodes(getInputs(source, target.format), isDouble, target.format,
                overflow, [&](const APFloat &value) {
                  return expectedCode(value, target, overflow);
                });
}

TEST_P(Encode, PowersOfTwo) {
  expectCodes(getInputs(source, Format::UE8M0), isDouble, Format::UE8M0,
              overflow, [&](const APFloat &value) {
                return expectedScale(
                    convert(value, APFloat::IEEEdouble()).convertToDouble(),
                    overflow);
              });
}

TEST_P(Encode, UnsignedE4M3) {
  Target e4m3 = {Format::E4M3, &APFloat::Float8E4M3FN()};
  expectCodes(getInputs(source, Format::E4M3), isDouble, Format::UE4M3,
              overflow, [&](const APFloat &value) -> uint64_t {
                if (value.isNaN() || (value.isNegative() && !value.isZero()))
                  return 0x7F;
                return expectedCode(value, e4m3, overflow) & 0x7F;
              });
}

INSTANTIATE_TEST_SUITE_P(, Encode,
                         testing::Combine(testing::Bool(),
                                          testing::Values(Overflow::Ieee,
                                                          Overflow::Saturate)));
