//===- FloatFormats.cpp - Floating-point formats and rounding -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rounding function serves all formats and modes. Faster versions for f16,
// bf16 and f32 are in FloatElements.h.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/FloatFormats.h"

#include "llvm/ADT/APFloat.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

static FloatFormat getNarrowFormat(Format format) {
  const FormatInfo &info = getFormatInfo(format);
  FloatFormat row = {info.exponentBits,  info.mantissaBits,
                     /*paddingBits=*/0,  info.bias,
                     info.signBits != 0, info.hasSubnormals,
                     info.special,       info.magnitudeMask()};
  return row;
}

const FloatFormat &sim::getFloatFormat(Type type) {
  static const FloatFormat e4m3 = getNarrowFormat(Format::E4M3),
                           e5m2 = getNarrowFormat(Format::E5M2),
                           e3m2 = getNarrowFormat(Format::E3M2),
                           e2m3 = getNarrowFormat(Format::E2M3),
                           e2m1 = getNarrowFormat(Format::E2M1),
                           ue8m0 = getNarrowFormat(Format::UE8M0);
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return kF16;
  case Type::BF16:
  case Type::BF16x2:
    return kBF16;
  case Type::TF32:
    return kTF32;
  case Type::F64:
    return kF64;
  case Type::E4M3x2:
  case Type::E4M3x4:
    return e4m3;
  case Type::E5M2x2:
  case Type::E5M2x4:
    return e5m2;
  case Type::E3M2x2:
  case Type::E3M2x4:
    return e3m2;
  case Type::E2M3x2:
  case Type::E2M3x4:
    return e2m3;
  case Type::E2M1x2:
  case Type::E2M1x4:
    return e2m1;
  case Type::UE8M0x2:
    return ue8m0;
  default:
    return kF32;
  }
}

double sim::toDouble(uint64_t bits, const FloatFormat &format) {
  bits >>= format.paddingBits;
  uint64_t magnitude = bits & format.getMagnitudeMask();
  bool isNegative = format.hasSign && (bits >> format.getSignBit() & 1);
  // The exponent field and the fraction move to where a double has them.
  unsigned shift = 52 - format.mantissaBits;
  uint64_t result;
  if (format.special == SpecialCodes::Ieee &&
      magnitude >= format.getInfinity()) {
    uint64_t fraction = magnitude & ~format.getInfinity();
    result = kF64.getInfinity() | fraction << shift;
  } else if (format.special == SpecialCodes::AllOnesNaN &&
             magnitude == format.getMagnitudeMask()) {
    result = kF64.nan;
  } else if (magnitude & format.getInfinity() || !format.hasSubnormals) {
    result = (magnitude << shift) +
             (static_cast<uint64_t>(kF64.bias - format.bias) << 52);
  } else {
    int exponent = 1 - format.bias - static_cast<int>(format.mantissaBits);
    result = llvm::bit_cast<uint64_t>(
        std::ldexp(static_cast<double>(magnitude), exponent));
  }
  return llvm::bit_cast<double>(result | uint64_t(isNegative) << 63);
}

//===----------------------------------------------------------------------===//
// Rounding to a format
//===----------------------------------------------------------------------===//

namespace {
/// A value split into the bits that a format keeps and the fraction below the
/// last of them.
struct Cut {
  /// The exponent field, to which `kept` with its leading one can be added.
  int field;
  uint64_t kept;
  /// The fraction in 64 bits; the last bit is sticky.
  uint64_t fraction;
};
} // namespace

static Cut cut(const Unrounded &number, const FloatFormat &format) {
  // The highest bit goes to bit 63.
  int leading = llvm::countl_zero(number.significand);
  uint64_t significand = number.significand << leading;
  int top = number.exponent + 63 - leading;
  int lowest = (format.hasSubnormals ? 1 : 0) - format.bias;
  int exponent = std::max(top, lowest);
  Cut result;
  result.field = exponent + format.bias;
  // How many bits are dropped; at least 11.
  unsigned drop = 63 - format.mantissaBits + (exponent - top);
  if (drop < 64) {
    result.kept = significand >> drop;
    result.fraction = significand << (64 - drop);
  } else {
    result.kept = 0;
    unsigned more = drop - 64;
    result.fraction = more < 64 ? significand >> more : 0;
    bool isInexact = more >= 64 || (more && significand << (64 - more));
    result.fraction |= isInexact;
  }
  return result;
}

/// Puts the parts together, after `kept` has been rounded.
static uint64_t join(const Unrounded &number, const FloatFormat &format,
                     const Cut &parts, bool isOverflowInfinite) {
  // A carry out of `kept` adds one to the exponent field, as it must; without
  // the leading one, the field is that of subnormals.
  uint64_t one = uint64_t(1) << format.mantissaBits;
  uint64_t code =
      (static_cast<uint64_t>(parts.field) << format.mantissaBits) + parts.kept;
  code = code < one ? 0 : code - one;
  if (code > format.getLargest())
    code = isOverflowInfinite && format.special != SpecialCodes::None
               ? format.getLargest() + 1
               : format.getLargest();
  if (number.isNegative && format.hasSign)
    code |= uint64_t(1) << format.getSignBit();
  return code << format.paddingBits;
}

uint64_t sim::round(const Unrounded &number, const FloatFormat &format,
                    RoundingMode mode, bool isSaturating) {
  if (!number.significand)
    return number.isNegative && format.hasSign
               ? uint64_t(1) << (format.getSignBit() + format.paddingBits)
               : 0;
  Cut parts = cut(number, format);
  constexpr uint64_t half = uint64_t(1) << 63;
  bool isNegative = number.isNegative && format.hasSign;
  bool isUp = false, isAway = true;
  switch (mode) {
  case RoundingMode::NearestTiesToEven:
    isUp = parts.fraction > half || (parts.fraction == half && parts.kept & 1);
    break;
  case RoundingMode::NearestTiesToAway:
    isUp = parts.fraction >= half;
    break;
  case RoundingMode::TowardPositive:
    isAway = !isNegative;
    isUp = parts.fraction && isAway;
    break;
  case RoundingMode::TowardNegative:
    isAway = isNegative;
    isUp = parts.fraction && isAway;
    break;
  default:
    isAway = false;
    break;
  }
  parts.kept += isUp;
  return join(number, format, parts, isAway && !isSaturating);
}

uint64_t sim::roundStochastically(const Unrounded &number,
                                  const FloatFormat &format,
                                  uint32_t randomBits, unsigned numRandomBits,
                                  bool isSaturating) {
  if (!number.significand)
    return round(number, format, RoundingMode::TowardZero, isSaturating);
  Cut parts = cut(number, format);
  uint64_t fraction = parts.fraction >> (64 - numRandomBits);
  parts.kept += (fraction + randomBits) >> numRandomBits;
  return join(number, format, parts, !isSaturating);
}

uint64_t sim::fromDouble(double value, const FloatFormat &format,
                         RoundingMode mode, bool isSaturating) {
  if (std::isfinite(value))
    return round(toUnrounded(value), format, mode, isSaturating);
  if (std::isnan(value))
    return format.nan;
  uint64_t code = format.getLargest();
  if (!isSaturating && format.special != SpecialCodes::None)
    ++code;
  if (format.hasSign && value < 0)
    code |= uint64_t(1) << format.getSignBit();
  return code << format.paddingBits;
}

double sim::roundToIntegral(double value, RoundingMode mode) {
  switch (mode) {
  case RoundingMode::TowardZero:
    return std::trunc(value);
  case RoundingMode::TowardNegative:
    return std::floor(value);
  case RoundingMode::TowardPositive:
    return std::ceil(value);
  case RoundingMode::NearestTiesToAway:
    return std::round(value);
  default:
    return std::nearbyint(value);
  }
}

//===----------------------------------------------------------------------===//
// Arithmetic with a rounding mode
//===----------------------------------------------------------------------===//

/// In each mode the result is the square root to nearest or one of its
/// neighbours: the sign of x - root^2, which an fma yields, says which.
static double computeRoundedSqrt(double x, RoundingMode mode) {
  // A power of four away from subnormals, where x - root^2 would be inexact.
  int scale = 0;
  if (x > 0 && x < 0x1p-900) {
    scale = -100;
    x *= 0x1p200;
  }
  double root = std::sqrt(x);
  if (!(root > 0) || std::isinf(root))
    return root;
  double rest = std::fma(-root, root, x);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (rest > 0 && mode == RoundingMode::TowardPositive)
    root = std::nextafter(root, infinity);
  else if (rest < 0 && mode != RoundingMode::TowardPositive &&
           mode != RoundingMode::NearestTiesToEven)
    root = std::nextafter(root, 0);
  return std::ldexp(root, scale);
}

/// The same for f32: a double that is rounded towards zero, with its last bit
/// set if there is more, rounds to f32 correctly in all modes.
static uint64_t computeRoundedSqrt32(double x, RoundingMode mode) {
  double root = computeRoundedSqrt(x, RoundingMode::TowardZero);
  if (!(root > 0) || std::isinf(root))
    return fromDouble(root, kF32, mode);
  Unrounded number = toUnrounded(root);
  number.significand |= std::fma(-root, root, x) != 0;
  return round(number, kF32, mode);
}

uint64_t sim::computeRounded(FloatOperation operation,
                             const FloatFormat &format, RoundingMode mode,
                             uint64_t a, uint64_t b, uint64_t c) {
  bool isDouble = format.exponentBits == kF64.exponentBits;
  if (operation == FloatOperation::Sqrt) {
    if (!isDouble)
      return computeRoundedSqrt32(toDouble(a, kF32), mode);
    return llvm::bit_cast<uint64_t>(
        computeRoundedSqrt(llvm::bit_cast<double>(a), mode));
  }
  const llvm::fltSemantics &semantics =
      isDouble ? llvm::APFloat::IEEEdouble() : llvm::APFloat::IEEEsingle();
  unsigned bits = isDouble ? 64 : 32;
  auto make = [&](uint64_t value) {
    return llvm::APFloat(semantics, llvm::APInt(bits, value));
  };
  llvm::APFloat result = make(a);
  switch (operation) {
  case FloatOperation::Add:
    result.add(make(b), mode);
    break;
  case FloatOperation::Sub:
    result.subtract(make(b), mode);
    break;
  case FloatOperation::Mul:
    result.multiply(make(b), mode);
    break;
  case FloatOperation::Fma:
    result.fusedMultiplyAdd(make(b), make(c), mode);
    break;
  case FloatOperation::Div:
    result.divide(make(b), mode);
    break;
  case FloatOperation::Sqrt:
    break;
  }
  return result.bitcastToAPInt().getZExtValue();
}
