//===- MatrixProduct.cpp - D = (A * scales) * (B * scales) + C ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element of D is first summed in doubles. That sum is used if it is known
// to be exact: if the range of bits of the row and the column fits in a double,
// and no addition of scale blocks rounds. Else it is summed again: in 128-bit
// integers if they are wide enough (e5m2, most of f16), else with ExactSum.
//
// NaN and infinity follow from the same doubles: no finite sum of products
// overflows them, except for f64, which is handled separately.
//
//===----------------------------------------------------------------------===//

#include "Mma/AdderRules.h"
#include "Mma/MatrixOperands.h"
#include "Mma/MatrixSum.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {

/// The range of bits of a row or column: its elements are multiples of 2^lowest
/// below 2^(top + 1).
struct BitSpan {
  int lowest = std::numeric_limits<int>::max() / 4;
  int top = std::numeric_limits<int>::min() / 4;

  void include(double value) {
    uint64_t bits = llvm::bit_cast<uint64_t>(value);
    int exponent = bits >> 52 & 0x7FF;
    // Zeros add nothing, and infinities and NaNs are handled elsewhere.
    // Elements narrower than f64 are normal doubles.
    if (exponent == 0 || exponent == 0x7FF)
      return;
    top = std::max(top, exponent - 1023);
    lowest = std::min(lowest, exponent - 1075 +
                                  llvm::countr_zero(bits | uint64_t(1) << 52));
  }

  /// How many bits an element needs in units of 2^lowest; 0 or less if all
  /// elements are 0.
  int getWidth() const { return top - lowest + 1; }
};

constexpr int kMaxIntegerBits = 62;

/// The exponent of a normal double.
int getExponent(double value) {
  return int(llvm::bit_cast<uint64_t>(value) >> 52 & 0x7FF) - 1023;
}

class Multiplier {
public:
  Multiplier(const MmaForm &form, const MmaMatrices &matrices)
      : form(form), matrices(matrices) {}

  void run(uint64_t *bits);

private:
  template <bool isSparse>
  void sumBlock(unsigned block);
  void findSpans();
  void makeIntegers();
  bool isBlockSumExact(unsigned m, unsigned n) const;

  unsigned getPosition(unsigned m, unsigned k) const {
    return form.isSparse() ? matrices.positions[m * form.getKeptK() + k] : k;
  }
  double getElementA(unsigned m, unsigned k) const {
    return matrices.a[m * form.getKeptK() + k];
  }
  double getElementB(unsigned m, unsigned n, unsigned k) const {
    return matrices.b[getPosition(m, k) * kN + n];
  }

  uint64_t multiplyFloat(unsigned m, unsigned n) const;
  uint64_t multiplyF64(unsigned m, unsigned n) const;
  uint64_t multiplyInteger(unsigned m, unsigned n) const;
  uint64_t sumSlowly(unsigned m, unsigned n, const double *terms) const;
  std::optional<BinaryNumber> sumIntegers(unsigned m, unsigned n) const;

  double getScale(unsigned m, unsigned n, unsigned block) const {
    if (!form.isBlockScaled())
      return 1;
    return matrices.scaleA[m * kMaxBlocks + block] *
           matrices.scaleB[block * kN + n];
  }

  const MmaForm &form;
  const MmaMatrices &matrices;
  /// The sums of the products of each scale block, without scales.
  double sums[kMaxBlocks][kMaxM * kN];
  BitSpan rows[kMaxM], columns[kN];
  /// The elements in units of the lowest bit of their row or column; not set if
  /// the range has more than 62 bits.
  int64_t integersA[kMaxM * kMaxKeptK], integersB[kMaxK * kN];
};

} // namespace

//===----------------------------------------------------------------------===//
// Sums in doubles
//===----------------------------------------------------------------------===//

template <bool isSparse>
void Multiplier::sumBlock(unsigned block) {
  unsigned keptK = form.getKeptK();
  unsigned begin = block * form.getBlockSize();
  unsigned end = begin + form.getBlockSize();
  for (unsigned m = 0; m != form.m; ++m) {
    const double *a = matrices.a + m * keptK;
    const uint8_t *positions = matrices.positions + m * keptK;
    double sum[kN] = {};
    for (unsigned k = begin; k != end; ++k) {
      const double *b = matrices.b + (isSparse ? positions[k] : k) * kN;
      for (unsigned n = 0; n != kN; ++n)
        sum[n] += a[k] * b[n];
    }
    std::copy(sum, sum + kN, &sums[block][m * kN]);
  }
}

void Multiplier::findSpans() {
  for (unsigned m = 0; m != form.m; ++m)
    for (unsigned k = 0; k != form.getKeptK(); ++k)
      rows[m].include(getElementA(m, k));
  for (unsigned k = 0; k != form.k; ++k)
    for (unsigned n = 0; n != kN; ++n)
      columns[n].include(matrices.b[k * kN + n]);
}

void Multiplier::makeIntegers() {
  unsigned keptK = form.getKeptK();
  // The conversion is exact: at most 62 bits, from the lowest one on.
  auto convert = [](double value, double unitsPerOne) {
    return std::isfinite(value) ? static_cast<int64_t>(value * unitsPerOne) : 0;
  };
  for (unsigned m = 0; m != form.m; ++m)
    if (rows[m].getWidth() <= kMaxIntegerBits) {
      double unitsPerOne = std::ldexp(1, -rows[m].lowest);
      for (unsigned k = 0; k != keptK; ++k)
        integersA[m * keptK + k] = convert(getElementA(m, k), unitsPerOne);
    }
  for (unsigned n = 0; n != kN; ++n)
    if (columns[n].getWidth() <= kMaxIntegerBits) {
      double unitsPerOne = std::ldexp(1, -columns[n].lowest);
      for (unsigned k = 0; k != form.k; ++k)
        integersB[k * kN + n] = convert(matrices.b[k * kN + n], unitsPerOne);
    }
}

bool Multiplier::isBlockSumExact(unsigned m, unsigned n) const {
  if (form.isSumExact)
    return true;
  // The same test as in the table of forms, for these elements.
  int top = rows[m].top + columns[n].top + 2 +
            int(llvm::Log2_32_Ceil(form.getBlockSize()));
  return top - (rows[m].lowest + columns[n].lowest) <= 53;
}

//===----------------------------------------------------------------------===//
// Elements of D
//===----------------------------------------------------------------------===//

/// The sum of a form with one scale block, if 126 bits are enough.
std::optional<BinaryNumber> Multiplier::sumIntegers(unsigned m,
                                                    unsigned n) const {
  constexpr int maxBits = 126;
  int widthA = rows[m].getWidth(), widthB = columns[n].getWidth();
  int width = widthA + widthB + int(llvm::Log2_32_Ceil(form.getKeptK()));
  if (form.getNumBlocks() != 1 || widthA > kMaxIntegerBits ||
      widthB > kMaxIntegerBits || width > maxBits)
    return std::nullopt;
  __int128 sum = 0;
  for (unsigned k = 0; k != form.getKeptK(); ++k)
    sum += static_cast<__int128>(integersA[m * form.getKeptK() + k]) *
           integersB[getPosition(m, k) * kN + n];

  // The scale of a single scale block is a power of two.
  int unit = rows[m].lowest + columns[n].lowest +
             getExponent(getScale(m, n, /*block=*/0));
  double c = matrices.c[m * kN + n];
  if (c != 0) {
    BitSpan span;
    span.include(c);
    int commonUnit = std::min(unit, span.lowest);
    if (std::max(unit + width, span.top + 1) + 1 - commonUnit > maxBits)
      return std::nullopt;
    sum *= static_cast<__int128>(1) << (unit - commonUnit);
    // The significand of c, down to its lowest bit.
    uint64_t bits = llvm::bit_cast<uint64_t>(c);
    uint64_t fraction = (bits & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
    auto significand =
        static_cast<__int128>(fraction >> llvm::countr_zero(fraction))
        << (span.lowest - commonUnit);
    sum += c < 0 ? -significand : significand;
    unit = commonUnit;
  }

  bool isNegative = sum < 0;
  auto magnitude = static_cast<unsigned __int128>(isNegative ? -sum : sum);
  auto high = static_cast<uint64_t>(magnitude >> 64);
  if (!high)
    return BinaryNumber{isNegative, static_cast<uint64_t>(magnitude), unit};
  int drop = 64 - llvm::countl_zero(high);
  bool hasMore = magnitude << (128 - drop) != 0;
  return BinaryNumber{isNegative,
                      static_cast<uint64_t>(magnitude >> drop) | hasMore,
                      unit + drop};
}

uint64_t Multiplier::sumSlowly(unsigned m, unsigned n,
                               const double *terms) const {
  if (!isBlockSumExact(m, n))
    if (std::optional<BinaryNumber> sum = sumIntegers(m, n))
      return roundToBits(*sum, form.c, Rounding::NearestEven);
  ExactSum sum;
  sum.add(matrices.c[m * kN + n]);
  for (unsigned block = 0; block != form.getNumBlocks(); ++block) {
    if (isBlockSumExact(m, n)) {
      sum.add(terms[block]);
      continue;
    }
    unsigned begin = block * form.getBlockSize();
    for (unsigned k = begin; k != begin + form.getBlockSize(); ++k)
      // The product of two elements narrower than f64 is exact.
      sum.addProduct(getElementA(m, k) * getElementB(m, n, k),
                     getScale(m, n, block));
  }
  return roundToBits(sum.get(), form.c, Rounding::NearestEven);
}

uint64_t Multiplier::multiplyFloat(unsigned m, unsigned n) const {
  double c = matrices.c[m * kN + n];
  double terms[kMaxBlocks];
  double sum = 0;
  bool isExact = true;
  for (unsigned block = 0; block != form.getNumBlocks(); ++block) {
    double term = sums[block][m * kN + n];
    // Exact: the significands of ue4m3 scales have 4 bits and the sums of fp4
    // have 13; the other scales are powers of two. (x * 0 of a ue4m3 scale of 0
    // is 0: fp4 has no infinity.)
    term *= getScale(m, n, block);
    terms[block] = term;
    double error;
    sum = addWithError(sum, term, error);
    isExact &= error == 0;
  }
  if (!std::isfinite(sum) || !std::isfinite(c))
    return roundToBits(sum + c, form.c);
  if (!isExact || !isBlockSumExact(m, n))
    return sumSlowly(m, n, terms);
  return roundToBits(addToOdd(sum, c), form.c);
}

uint64_t Multiplier::multiplyF64(unsigned m, unsigned n) const {
  double c = matrices.c[m * kN + n];
  // Finite terms do not change an infinite sum or a NaN, so they count as 0
  // here.
  double special = std::isfinite(c) ? 0 : c;
  ExactSum sum;
  if (std::isfinite(c))
    sum.add(c);
  for (unsigned k = 0; k != form.getKeptK(); ++k) {
    double a = getElementA(m, k), b = getElementB(m, n, k);
    if (std::isfinite(a) && std::isfinite(b))
      sum.addProduct(a, b);
    else
      special += a * b;
  }
  if (!std::isfinite(special))
    return roundToBits(special, form.c);
  return roundToBits(sum.get(), form.c, Rounding::NearestEven);
}

uint64_t Multiplier::multiplyInteger(unsigned m, unsigned n) const {
  auto sum = static_cast<int64_t>(sums[0][m * kN + n] + matrices.c[m * kN + n]);
  if (form.isSatfinite)
    sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                              std::numeric_limits<int32_t>::max());
  return static_cast<uint32_t>(sum);
}

void Multiplier::run(uint64_t *bits) {
  uint64_t (Multiplier::*multiply)(unsigned, unsigned) const =
      form.c == Type::F64   ? &Multiplier::multiplyF64
      : form.c == Type::S32 ? &Multiplier::multiplyInteger
                            : &Multiplier::multiplyFloat;
  for (unsigned block = 0; block != form.getNumBlocks(); ++block)
    if (form.isSparse())
      sumBlock<true>(block);
    else
      sumBlock<false>(block);
  if (!form.isSumExact && form.c != Type::F64) {
    findSpans();
    bool areSumsExact = true;
    for (unsigned m = 0; m != form.m; ++m)
      for (unsigned n = 0; n != kN; ++n)
        areSumsExact &= isBlockSumExact(m, n);
    if (!areSumsExact)
      makeIntegers();
  }
  for (unsigned m = 0; m != form.m; ++m)
    for (unsigned n = 0; n != kN; ++n)
      bits[m * kN + n] = (this->*multiply)(m, n);
}

void sim::multiplyMatrices(const MmaForm &form, const MmaMatrices &matrices,
                           const AdderRule *adder, uint64_t *bits) {
  if (adder)
    return multiplyInHardware(form, *adder, matrices, bits);
  Multiplier(form, matrices).run(bits);
}
