//===- NumberPrinter.cpp - Numbers as text --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the fewest digits that identify a number in its type, also for f16 and
// bf16, which the C++ library does not support.
//
//===----------------------------------------------------------------------===//

#include "NumberPrinter.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>

using namespace mlir;
using namespace mlir::blockscale;

/// Enough for every number of every type.
static constexpr size_t maxNumberLength = 32;

template <typename T>
static T load(const uint8_t *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

//===----------------------------------------------------------------------===//
// Decimal notation
//===----------------------------------------------------------------------===//

/// Appends a number of the form `-1.25e+03` the way Python would: with an
/// exponent only outside of 1e-4 <= |x| < 1e16. Works on the digits, since in
/// its fixed notation std::to_chars prints more of them than identify a number.
static void appendDecimal(std::string_view scientific, std::string &text) {
  constexpr int minFixedExponent = -4, maxFixedExponent = 15;
  size_t exponentMark = scientific.find('e');
  int exponent = 0;
  const char *first = scientific.data() + exponentMark + 1;
  const char *last = scientific.data() + scientific.size();
  // from_chars takes no plus sign.
  std::from_chars(first + (*first == '+'), last, exponent);
  if (exponent < minFixedExponent || exponent > maxFixedExponent) {
    text.append(scientific);
    return;
  }
  if (scientific[0] == '-') {
    text += '-';
    scientific.remove_prefix(1);
    --exponentMark;
  }
  std::string digits(1, scientific[0]);
  if (exponentMark > 2)
    digits.append(scientific.substr(2, exponentMark - 2));
  if (exponent < 0) {
    text.append("0.").append(-exponent - 1, '0').append(digits);
    return;
  }
  size_t wholeDigits = static_cast<size_t>(exponent) + 1;
  // At least one digit after the point.
  if (digits.size() <= wholeDigits)
    digits.append(wholeDigits + 1 - digits.size(), '0');
  text.append(digits, 0, wholeDigits).append(".").append(digits, wholeDigits);
}

/// Appends infinity or NaN. Python does not show the sign of a NaN.
static bool appendNonFinite(double value, std::string &text) {
  if (std::isfinite(value))
    return false;
  text += std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  return true;
}

//===----------------------------------------------------------------------===//
// One printer per kind
//===----------------------------------------------------------------------===//

template <typename T>
static void appendInteger(const uint8_t *element, std::string &text) {
  char buffer[maxNumberLength];
  auto result = std::to_chars(buffer, std::end(buffer), load<T>(element));
  text.append(buffer, result.ptr);
}

template <typename T>
static void appendFloat(const uint8_t *element, std::string &text) {
  T value = load<T>(element);
  if (appendNonFinite(value, text))
    return;
  char buffer[maxNumberLength];
  auto result = std::to_chars(buffer, std::end(buffer), value,
                              std::chars_format::scientific);
  appendDecimal(std::string_view(buffer, result.ptr - buffer), text);
}

namespace {
/// A type of 16 bits: sign, exponent, fraction.
struct HalfType {
  unsigned fractionBits;
  int bias;
  /// Decimal digits that identify every number.
  int digits;

  constexpr unsigned infinity() const {
    return 0x7fff & ~((1u << fractionBits) - 1);
  }
};
} // namespace

static constexpr HalfType kF16 = {10, 15, 5}, kBFloat16 = {7, 127, 4};

/// The value of a half-precision number's magnitude, given as its bits, with
/// the exponent of infinity read as the next binade. Increases with the bits.
static double decodeHalfMagnitude(const HalfType &type, unsigned bits) {
  int exponent = static_cast<int>(bits >> type.fractionBits);
  int one = 1 << type.fractionBits;
  int fraction = static_cast<int>(bits) & (one - 1);
  int unit = 1 - type.bias - static_cast<int>(type.fractionBits);
  if (exponent == 0)
    return std::ldexp(fraction, unit);
  return std::ldexp(one + fraction, exponent - 1 + unit);
}

/// The standard library does not print half-precision numbers. So this tries
/// more and more digits until they lie between the midpoints to the two
/// neighbours.
template <const HalfType &type>
static void appendHalf(const uint8_t *element, std::string &text) {
  constexpr unsigned infinity = type.infinity();
  unsigned bits = load<uint16_t>(element);
  unsigned magnitude = bits & 0x7fff;
  bool negative = bits != magnitude;
  if (magnitude >= infinity) {
    double value = magnitude == infinity ? INFINITY : NAN;
    appendNonFinite(negative ? -value : value, text);
    return;
  }
  double value = decodeHalfMagnitude(type, magnitude);
  double above = (value + decodeHalfMagnitude(type, magnitude + 1)) / 2;
  double below = magnitude == 0
                     ? value
                     : (value + decodeHalfMagnitude(type, magnitude - 1)) / 2;
  // A midpoint is rounded to the even neighbour.
  bool even = magnitude % 2 == 0;
  auto isIdentified = [&](double decimal) {
    return even ? below <= decimal && decimal <= above
                : below < decimal && decimal < above;
  };
  // std::to_chars rounds a tie to the even digit. That may be down, to where
  // the neighbour below a power of two is too near; then up is tried.
  double roundedUp = value * (1 + std::numeric_limits<double>::epsilon());
  char buffer[maxNumberLength];
  for (int precision = 0; precision < type.digits; ++precision)
    for (double candidate : {value, roundedUp}) {
      auto result = std::to_chars(buffer, std::end(buffer), candidate,
                                  std::chars_format::scientific, precision);
      double decimal = 0;
      std::from_chars(buffer, result.ptr, decimal);
      if (!isIdentified(decimal))
        continue;
      text += negative ? "-" : "";
      appendDecimal(std::string_view(buffer, result.ptr - buffer), text);
      return;
    }
}

/// In the order of `DType`.
static constexpr ElementPrinter elementPrinters[] = {
    /*U1=*/appendInteger<uint8_t>,
    /*I1=*/appendInteger<int8_t>,
    /*U2=*/appendInteger<uint16_t>,
    /*I2=*/appendInteger<int16_t>,
    /*F2=*/appendHalf<kF16>,
    /*U4=*/appendInteger<uint32_t>,
    /*I4=*/appendInteger<int32_t>,
    /*F4=*/appendFloat<float>,
    /*U8=*/appendInteger<uint64_t>,
    /*I8=*/appendInteger<int64_t>,
    /*F8=*/appendFloat<double>,
};

ElementPrinter blockscale::getElementPrinter(DType dtype) {
  return elementPrinters[static_cast<size_t>(dtype)];
}

ElementPrinter blockscale::getBFloat16Printer() {
  return appendHalf<kBFloat16>;
}
