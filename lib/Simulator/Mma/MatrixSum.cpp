//===- MatrixSum.cpp - Exact sums and their rounding ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums positive and negative terms separately in limbs, and rounds once at the
// end.
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixSum.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {

/// An IEEE 754 format: sign, exponent, `fractionBits`.
struct FloatFormat {
  unsigned bits;
  unsigned fractionBits;

  int bias() const { return (1 << (bits - fractionBits - 2)) - 1; }
  /// The exponent of the least significant bit of a subnormal.
  int lowestExponent() const { return 1 - bias() - int(fractionBits); }
  uint64_t infinity() const {
    return uint64_t((1 << (bits - fractionBits - 1)) - 1) << fractionBits;
  }
};

} // namespace

static FloatFormat getFormat(Type type) {
  switch (type) {
  case Type::F16:
    return {16, 10};
  case Type::BF16:
    return {16, 7};
  case Type::F64:
    return {64, 52};
  default:
    return {32, 23};
  }
}

uint64_t sim::getCanonicalNaN(Type type) {
  if (type == Type::F64)
    return 0x7FF8000000000000;
  return type == Type::F16 ? 0x7FFF : 0x7FFFFFFF;
}

uint64_t sim::roundToBits(BinaryNumber number, Type type, Rounding rounding) {
  FloatFormat format = getFormat(type);
  uint64_t sign = uint64_t(number.isNegative) << (format.bits - 1);
  uint64_t significand = number.significand;
  if (!significand)
    return sign;

  // The exponent of the last bit that the result keeps.
  int top = number.exponent + 63 - llvm::countl_zero(significand);
  int last = std::max(top - int(format.fractionBits), format.lowestExponent());
  int drop = last - number.exponent;
  if (drop > 0) {
    // Everything from bit 63 on is less than half of the last bit kept.
    uint64_t kept = drop > 63 ? 0 : significand >> drop;
    if (rounding == Rounding::NearestEven && drop <= 64) {
      uint64_t half = uint64_t(1) << (drop - 1);
      uint64_t rest = drop > 63 ? significand : significand & (2 * half - 1);
      kept += rest > half || (rest == half && (kept & 1));
    }
    significand = kept;
  } else {
    significand <<= -drop;
  }

  // A carry out of the fraction adds one to the exponent field, and so does the
  // implicit bit of a normal value, as intended.
  uint64_t field = last - format.lowestExponent();
  if (field > format.infinity() >> format.fractionBits)
    return sign | format.infinity();
  uint64_t magnitude = (field << format.fractionBits) + significand;
  return sign | std::min(magnitude, format.infinity());
}

uint64_t sim::roundToBits(double value, Type type) {
  if (std::isnan(value))
    return getCanonicalNaN(type);
  if (type == Type::F64)
    return llvm::bit_cast<uint64_t>(value);
  if (type == Type::F32)
    return llvm::bit_cast<uint32_t>(static_cast<float>(value));
  bool isNegative = std::signbit(value);
  if (std::isinf(value))
    return getFormat(type).infinity() | uint64_t(isNegative)
                                            << (getBits(type) - 1);
  int exponent;
  double fraction = std::frexp(std::fabs(value), &exponent);
  return roundToBits({isNegative,
                      static_cast<uint64_t>(std::ldexp(fraction, 53)),
                      exponent - 53},
                     type, Rounding::NearestEven);
}

double sim::decodeFloat(Type type, uint64_t bits) {
  switch (type) {
  case Type::F64:
    return llvm::bit_cast<double>(bits);
  case Type::BF16:
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  case Type::TF32:
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits) & ~0x1FFFu);
  case Type::F32:
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits));
  default:
    break;
  }
  // F16: 1 sign bit, 5 exponent bits (bias 15), 10 fraction bits.
  unsigned exponent = bits >> 10 & 31;
  unsigned fraction = bits & 0x3FF;
  double magnitude;
  if (exponent == 31)
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = fraction * 0x1p-24;
  else
    // The fields, shifted to their positions in a double.
    magnitude = llvm::bit_cast<double>(uint64_t(exponent + 1008) << 52 |
                                       uint64_t(fraction) << 42);
  return bits >> 15 & 1 ? -magnitude : magnitude;
}

double sim::addToOdd(double a, double b) {
  double error;
  double sum = addWithError(a, b, error);
  if (error == 0)
    return sum;
  uint64_t bits = llvm::bit_cast<uint64_t>(sum);
  // The exact sum is between `sum` and its neighbour on the side of the error,
  // and one of both is odd.
  if (!(bits & 1))
    bits += (error > 0) == (sum > 0) ? 1 : -1;
  return llvm::bit_cast<double>(bits);
}

//===----------------------------------------------------------------------===//
// ExactSum
//===----------------------------------------------------------------------===//

/// Splits a finite value other than 0.
static BinaryNumber split(double value) {
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  int field = bits >> 52 & 0x7FF;
  if (field)
    fraction |= uint64_t(1) << 52;
  return {bits >> 63 != 0, fraction, std::max(field, 1) - 1075};
}

void ExactSum::extend(unsigned first, unsigned last) {
  if (begin == end)
    begin = end = first;
  for (; begin > first; --begin)
    sums[0][begin - 1] = sums[1][begin - 1] = 0;
  for (; end < last; ++end)
    sums[0][end] = sums[1][end] = 0;
}

void ExactSum::addProduct(double a, double b) {
  if (a == 0 || b == 0)
    return;
  BinaryNumber x = split(a), y = split(b);
  using Wide = unsigned __int128;
  Wide product = Wide(x.significand) * y.significand;
  unsigned position = x.exponent + y.exponent - kLowestExponent;
  unsigned limb = position / 64, shift = position % 64;
  // 106 bits, shifted by up to 63, take three limbs, and one more for the
  // carry.
  Wide low = product << shift;
  uint64_t parts[4] = {
      static_cast<uint64_t>(low), static_cast<uint64_t>(low >> 64),
      shift ? static_cast<uint64_t>(product >> (128 - shift)) : 0, 0};
  extend(limb, limb + 4);

  std::array<uint64_t, kLimbs> &sum = sums[x.isNegative != y.isNegative];
  Wide carry = 0;
  for (unsigned i = 0; i != 4; ++i) {
    carry += Wide(sum[limb + i]) + parts[i];
    sum[limb + i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  for (unsigned i = limb + 4; carry; ++i) {
    extend(i, i + 1);
    carry += sum[i];
    sum[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
}

BinaryNumber ExactSum::get() const {
  // The larger magnitude minus the smaller one.
  int larger = 0;
  for (unsigned i = end; i-- != begin;)
    if (sums[0][i] != sums[1][i]) {
      larger = sums[0][i] < sums[1][i];
      break;
    }
  std::array<uint64_t, kLimbs> difference;
  unsigned top = end;
  bool borrow = false;
  for (unsigned i = begin; i != end; ++i) {
    uint64_t x = sums[larger][i], y = sums[1 - larger][i];
    difference[i] = x - y - borrow;
    borrow = x < y || (x == y && borrow);
    if (difference[i])
      top = i;
  }
  if (top == end)
    return {false, 0, 0};

  // The 64 most significant bits, and whether there are more below.
  unsigned shift = llvm::countl_zero(difference[top]);
  uint64_t below = top > begin ? difference[top - 1] : 0;
  uint64_t significand = difference[top] << shift;
  if (shift)
    significand |= below >> (64 - shift);
  bool hasMore = below << shift != 0;
  for (unsigned i = begin; i + 1 < top; ++i)
    hasMore |= difference[i] != 0;
  return {larger == 1, significand | hasMore,
          int(top) * 64 - int(shift) + kLowestExponent};
}
