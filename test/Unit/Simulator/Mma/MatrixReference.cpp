//===- MatrixReference.cpp - Reference of matrix instructions -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixTesting.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::mmatest;

unsigned Mma::getPosition(unsigned m, unsigned kept) const {
  if (!d.isSparse)
    return kept;
  unsigned chunkSize = d.getChunk(), numKept = chunkSize / 2;
  unsigned chunk = kept / numKept, i = kept % numKept;
  Position position = locateMetadata(d, m, chunk, selector);
  unsigned field = metadata.value[position.lane] >> (4 * position.slot) & 15;
  if (chunkSize == 2)
    return 2 * chunk + (field == 0b1110);
  unsigned width = chunkSize / 4;
  unsigned index = i / width ? field >> 2 : field & 3;
  return chunkSize * chunk + width * index + i % width;
}

double Mma::getC(unsigned m, unsigned n) const {
  return decodeElement(d.c,
                       getElement(c, locateC(d, m, n), d.getAccumulatorBits()));
}

std::vector<Mma::Factors> Mma::getFactors(unsigned m, unsigned n) const {
  auto getCode = [&](const std::vector<Lanes> &operand, Position position,
                     const std::string &type) {
    uint64_t code = getElement(operand, position, d.slotBits);
    return decodeElement(type, code >> getShift(type, d.slotBits));
  };
  std::vector<Factors> all;
  for (unsigned kept = 0; kept != d.getKeptK(); ++kept) {
    unsigned k = getPosition(m, kept);
    Factors factors = {getCode(a, locateA(d, m, kept), d.a),
                       getCode(b, locateB(d, k, n), d.b), 1, 1};
    if (d.scaleVec) {
      unsigned block = k / (d.k / d.scaleVec);
      unsigned laneA = 4 * (m % 8) + 2 * unsigned(threadA.value[0]) + m / 8;
      unsigned laneB = 4 * n + unsigned(threadB.value[0]);
      unsigned byte = 8 * (unsigned(byteA.value[0]) + block);
      factors.scaleA =
          decodeElement(d.scale, scaleA.value[laneA] >> byte & 0xFF);
      byte = 8 * (unsigned(byteB.value[0]) + block);
      factors.scaleB =
          decodeElement(d.scale, scaleB.value[laneB] >> byte & 0xFF);
    }
    all.push_back(factors);
  }
  return all;
}

uint64_t Mma::getExpected(unsigned m, unsigned n) const {
  double specials = 0;
  Rational sum;
  double c = getC(m, n);
  if (std::isfinite(c))
    sum += Rational(c);
  else
    specials += c;
  for (auto [x, y, scaleOfA, scaleOfB] : getFactors(m, n))
    if (std::isfinite(x) && std::isfinite(y) && std::isfinite(scaleOfA) &&
        std::isfinite(scaleOfB))
      sum += Rational({x, y, scaleOfA, scaleOfB});
    else
      specials += x * scaleOfA * (y * scaleOfB);
  if (std::isnan(specials))
    return getNaN(d.c);
  if (std::isinf(specials)) {
    uint64_t sign = specials < 0;
    if (d.c == "f64")
      return sign << 63 | 0x7FF0000000000000;
    return d.c == "f16" ? sign << 15 | 0x7C00 : sign << 31 | 0x7F800000;
  }
  return sum.round(d.isSatfinite ? "s32.satfinite" : d.c);
}

//===----------------------------------------------------------------------===//
// Rational
//===----------------------------------------------------------------------===//

Rational::Rational(std::initializer_list<double> factors) {
  // Four significands of 53 bits.
  llvm::APInt significand(256, 1);
  int shift = int(kOne);
  for (double factor : factors) {
    int exponent;
    double fraction = std::ldexp(std::frexp(factor, &exponent), 53);
    significand *=
        llvm::APInt(256, static_cast<uint64_t>(static_cast<int64_t>(fraction)),
                    /*isSigned=*/true);
    shift += exponent - 53;
  }
  units = significand.sext(kBits);
  if (shift >= 0) {
    units <<= unsigned(shift);
    return;
  }
  EXPECT_TRUE(units.isZero() || int(units.countr_zero()) >= -shift);
  units.ashrInPlace(unsigned(-shift));
}

uint64_t Rational::round(const std::string &type) const {
  if (llvm::StringRef(type).starts_with("s32")) {
    int64_t value = units.ashr(kOne).getSExtValue();
    if (type != "s32")
      value = std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX);
    return static_cast<uint32_t>(value);
  }
  if (units.isZero())
    return 0;
  // Bisection for the largest magnitude that is not above, among the codes,
  // which are in the order of their values; then the nearer of the neighbours.
  llvm::APInt magnitude = units.abs();
  unsigned bits = getElementBits(type);
  uint64_t infinity = type == "f64"   ? 0x7FF0000000000000
                      : type == "f16" ? 0x7C00
                                      : 0x7F800000;
  auto getUnits = [&](uint64_t code) {
    // Infinity stands for the next power of two.
    if (code == infinity) {
      llvm::APInt step = Rational(decodeElement(type, infinity - 1)).units -
                         Rational(decodeElement(type, infinity - 2)).units;
      return Rational(decodeElement(type, infinity - 1)).units + step;
    }
    return Rational(decodeElement(type, code)).units;
  };
  uint64_t low = 0, high = infinity;
  while (low + 1 < high) {
    uint64_t middle = low + (high - low) / 2;
    (getUnits(middle).ule(magnitude) ? low : high) = middle;
  }
  llvm::APInt toLow = magnitude - getUnits(low),
              toHigh = getUnits(high) - magnitude;
  uint64_t nearest = low;
  if (toHigh.slt(toLow) || (toHigh == toLow && low % 2 == 1))
    nearest = high;
  return uint64_t(units.isNegative()) << (bits - 1) | nearest;
}
