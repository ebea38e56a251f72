//===- HardwareAdder.cpp - The adder of a tensor core ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm that all measured tensor cores have in common; AdderRules.cpp
// has the parameters in which they differ.
//
// K is split into chunks. The terms of a chunk are its products and C, or the
// sum of the chunk before it. They are aligned to the largest exponent among
// them, cut off some bits below its binary point, added without error, and the
// sum is rounded to the type of D.
//
// The exponent of a product is the sum of those of its factors, which are not
// normalized: subnormal elements have the lowest exponent of their format. The
// exponent of a group of fp4 products is that of its scales, also if the
// products cancel. Zeros have no exponent.
//
// Doubles compute all of that exactly: they hold every product, and every
// aligned term as an integer. The eight columns of a row are eight SIMD lanes
// of one loop. Infinities and NaNs count as 0 there and are added separately.
//
//===----------------------------------------------------------------------===//

#include "Mma/AdderRules.h"
#include "Mma/MatrixOperands.h"

#include "Mma/HardwareRounding.h"

#include <algorithm>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The exponent of a zero: so low that a sum of a few of them and of other
/// exponents is below kAnyExponent.
static constexpr int kNoExponent = -8192, kAnyExponent = -4096;
/// How many fp4 products are one term.
static constexpr unsigned kGroup = 16;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The exponent of a normal double or 0.
static int getExponent(double value, int minExponent) {
  int field = llvm::bit_cast<uint64_t>(value) >> 52 & 0x7FF;
  return field == 0 ? kNoExponent : std::max(field - 1023, minExponent);
}

/// The lowest exponent of normal values of a type.
static int getMinExponent(Type type) {
  switch (type) {
  case Type::F16:
  case Type::E5M2:
    return -14;
  case Type::E4M3:
  case Type::UE4M3:
    return -6;
  case Type::E3M2:
    return -2;
  case Type::E2M3:
  case Type::E2M1:
    return 0;
  case Type::UE8M0:
    return -127;
  default:
    return -126;
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {

class HardwareAdder {
public:
  HardwareAdder(const MmaForm &form, const AdderRule &rule,
                const MmaMatrices &matrices)
      : form(form), rule(rule), matrices(matrices), keptK(form.getKeptK()),
        floor(form.c == Type::F16 ? rule.floorF16 : rule.floorF32),
        minExponentC(getMinExponent(form.c)) {}

  void run(uint64_t *bits);

private:
  /// The largest exponent and the terms of each column.
  struct Chunk {
    int largest[kN];
    double total[kN];
  };

  void prepareProducts();
  void orderHalves();
  void prepareGroups();
  void prepareScales();

  void addRow(unsigned m, double *sums) const;
  void addChunk(unsigned m, unsigned begin, unsigned end, double *sums) const;
  void findLargest(unsigned m, unsigned begin, unsigned end,
                   int16_t *largest) const;
  void alignProducts(unsigned m, unsigned begin, unsigned end,
                     const double *sums, Chunk &chunk) const;
  void alignGroups(unsigned m, unsigned begin, unsigned end, const double *sums,
                   Chunk &chunk) const;
  bool hasProduct(unsigned m, unsigned n, unsigned first) const;
  void addSpecials(unsigned m, unsigned begin, unsigned end,
                   double *sums) const;

  unsigned getRowOfB(unsigned m, unsigned i) const {
    return form.isSparse() ? positions[m * keptK + i] : i;
  }

  const MmaForm &form;
  const AdderRule &rule;
  const MmaMatrices &matrices;
  const unsigned keptK;
  const int floor, minExponentC;

  /// The elements in the order of addition, with 0 for infinities and NaNs. In
  /// sparse forms, B keeps its order, and the positions are in the order of
  /// addition.
  double a[kMaxM * kMaxKeptK], b[kMaxK * kN];
  int16_t exponentsA[kMaxM * kMaxKeptK], exponentsB[kMaxK * kN];
  uint8_t positions[kMaxM * kMaxKeptK];
  uint8_t order[kMaxK];
  /// With GroupsOf16: elements in units of 0.5, and the positions along K with
  /// elements other than 0.
  int16_t halvesA[kMaxM * kMaxKeptK], halvesB[kMaxK * kN];
  uint64_t nonzeroA[kMaxM][kMaxK / 64] = {}, nonzeroB[kN][kMaxK / 64] = {};
  /// The scales, and their exponents.
  double scaleA[kMaxM * kMaxBlocks], scaleB[kMaxBlocks * kN];
  int exponentsScaleA[kMaxM * kMaxBlocks], exponentsScaleB[kMaxBlocks * kN];
  /// Rows and columns with an infinity or a NaN.
  uint32_t specialRows = 0, specialColumns = 0;
};

} // namespace

/// Elements with k mod 4 < 2 come first.
void HardwareAdder::orderHalves() {
  unsigned count = 0;
  for (unsigned half = 0; half != 2; ++half)
    for (unsigned k = 0; k != keptK; ++k)
      if (k % 4 / 2 == half)
        order[count++] = k;
}

/// False for infinities and NaNs, which become 0.
static bool split(double value, int minExponent, double &finite,
                  int16_t &exponent) {
  bool isFinite = std::isfinite(value);
  finite = isFinite ? value : 0;
  exponent = getExponent(finite, minExponent);
  return isFinite;
}

void HardwareAdder::prepareProducts() {
  bool isSplit = rule.method == AdderMethod::TwoHalves;
  for (unsigned k = 0; k != kMaxK; ++k)
    order[k] = k;
  if (isSplit)
    orderHalves();
  // The chip converts types that it cannot multiply to f16.
  int minA = getMinExponent(isSplit ? Type::F16 : form.a);
  int minB = getMinExponent(isSplit ? Type::F16 : form.b);
  for (unsigned m = 0; m != form.m; ++m)
    for (unsigned i = 0; i != keptK; ++i) {
      unsigned from = m * keptK + order[i], to = m * keptK + i;
      if (!split(matrices.a[from], minA, a[to], exponentsA[to]))
        specialRows |= 1u << m;
      if (form.isSparse())
        positions[to] = matrices.positions[from];
    }
  for (unsigned k = 0; k != form.k; ++k)
    for (unsigned n = 0; n != kN; ++n) {
      unsigned from = (form.isSparse() ? k : order[k]) * kN + n;
      unsigned to = k * kN + n;
      if (!split(matrices.b[from], minB, b[to], exponentsB[to]))
        specialColumns |= 1u << n;
    }
}

void HardwareAdder::prepareGroups() {
  // fp4 values are finite multiples of 0.5.
  for (unsigned m = 0; m != form.m; ++m)
    for (unsigned i = 0; i != keptK; ++i) {
      unsigned at = m * keptK + i;
      halvesA[at] = static_cast<int16_t>(2 * matrices.a[at]);
      positions[at] = form.isSparse() ? matrices.positions[at] : i;
      unsigned k = positions[at];
      nonzeroA[m][k / 64] |= uint64_t(halvesA[at] != 0) << (k % 64);
    }
  for (unsigned k = 0; k != form.k; ++k)
    for (unsigned n = 0; n != kN; ++n) {
      unsigned at = k * kN + n;
      halvesB[at] = static_cast<int16_t>(2 * matrices.b[at]);
      nonzeroB[n][k / 64] |= uint64_t(halvesB[at] != 0) << (k % 64);
    }
  for (unsigned i = 0; i != keptK; ++i)
    order[i] = i;
}

void HardwareAdder::prepareScales() {
  int minExponent = getMinExponent(form.scale);
  int16_t exponent;
  for (unsigned m = 0; m != form.m; ++m)
    for (unsigned q = 0; q != form.getNumBlocks(); ++q) {
      unsigned i = m * kMaxBlocks + q;
      if (!split(matrices.scaleA[i], minExponent, scaleA[i], exponent))
        specialRows |= 1u << m;
      exponentsScaleA[i] = exponent;
    }
  for (unsigned q = 0; q != form.getNumBlocks(); ++q)
    for (unsigned n = 0; n != kN; ++n) {
      unsigned i = q * kN + n;
      if (!split(matrices.scaleB[i], minExponent, scaleB[i], exponent))
        specialColumns |= 1u << n;
      exponentsScaleB[i] = exponent;
    }
}

/// Finds the largest exponent of the products of each column, without scales.
void HardwareAdder::findLargest(unsigned m, unsigned begin, unsigned end,
                                int16_t *largest) const {
  std::fill(largest, largest + kN, int16_t(2 * kNoExponent));
  for (unsigned i = begin; i != end; ++i) {
    int16_t exponentA = exponentsA[m * keptK + i];
    const int16_t *exponents = exponentsB + getRowOfB(m, i) * kN;
    for (unsigned n = 0; n != kN; ++n)
      largest[n] = std::max<int16_t>(largest[n], exponentA + exponents[n]);
  }
}

/// Less than 2^28: a product has at most two bits before its point, and an
/// aligned one at most 25 behind it.
static double truncateTerm(double value) {
  return static_cast<double>(static_cast<int32_t>(value));
}

void HardwareAdder::alignProducts(unsigned m, unsigned begin, unsigned end,
                                  const double *sums, Chunk &chunk) const {
  int16_t largest[kN];
  findLargest(m, begin, end, largest);
  // Scales products to units of the lowest bit that is kept; the scales are
  // powers of two.
  double unitsPerOne[kN];
  unsigned block = begin / form.getBlockSize();
  for (unsigned n = 0; n != kN; ++n) {
    int exponentC = std::max(getExponent(sums[n], minExponentC), floor);
    int scale = 0;
    if (form.isBlockScaled())
      scale = exponentsScaleA[m * kMaxBlocks + block] +
              exponentsScaleB[block * kN + n];
    bool hasProducts = largest[n] > kAnyExponent && scale > kAnyExponent;
    int top = hasProducts ? std::max(exponentC, largest[n] + scale) : exponentC;
    chunk.largest[n] = top;
    chunk.total[n] =
        truncateTerm(sums[n] * makePowerOfTwo(rule.alignedBits - top));
    unitsPerOne[n] =
        hasProducts ? makePowerOfTwo(rule.alignedBits - top + scale) : 0;
  }
  for (unsigned i = begin; i != end; ++i) {
    double elementA = a[m * keptK + i];
    const double *elements = b + getRowOfB(m, i) * kN;
    for (unsigned n = 0; n != kN; ++n)
      chunk.total[n] += truncateTerm(elementA * elements[n] * unitsPerOne[n]);
  }
}

void HardwareAdder::alignGroups(unsigned m, unsigned begin, unsigned end,
                                const double *sums, Chunk &chunk) const {
  constexpr unsigned maxGroups = kMaxKeptK / kGroup;
  double terms[maxGroups][kN];
  for (unsigned n = 0; n != kN; ++n)
    chunk.largest[n] = std::max(getExponent(sums[n], minExponentC), floor);
  unsigned numGroups = (end - begin) / kGroup;
  for (unsigned group = 0; group != numGroups; ++group) {
    unsigned first = begin + group * kGroup;
    int16_t products[kN] = {};
    for (unsigned i = first; i != first + kGroup; ++i) {
      int16_t half = halvesA[m * keptK + i];
      const int16_t *halves = halvesB + getRowOfB(m, i) * kN;
      for (unsigned n = 0; n != kN; ++n)
        products[n] += half * halves[n];
    }
    unsigned block = first / form.getBlockSize();
    for (unsigned n = 0; n != kN; ++n) {
      unsigned i = m * kMaxBlocks + block, j = block * kN + n;
      terms[group][n] = products[n] * 0.25 * scaleA[i] * scaleB[j];
      int exponent = exponentsScaleA[i] + exponentsScaleB[j];
      if (hasProduct(m, n, first) && exponent > kAnyExponent)
        chunk.largest[n] = std::max(chunk.largest[n], exponent);
    }
  }
  for (unsigned n = 0; n != kN; ++n) {
    double unitsPerOne = makePowerOfTwo(rule.alignedBits - chunk.largest[n]);
    // Fewer than 2^12 units before the point and 35 bits behind it.
    auto total = static_cast<int64_t>(sums[n] * unitsPerOne);
    for (unsigned group = 0; group != numGroups; ++group)
      total += static_cast<int64_t>(terms[group][n] * unitsPerOne);
    chunk.total[n] = static_cast<double>(total);
  }
}

/// Whether the group that begins at `first` has a product other than 0.
bool HardwareAdder::hasProduct(unsigned m, unsigned n, unsigned first) const {
  unsigned width = form.isSparse() ? 2 * kGroup : kGroup;
  unsigned bit = first / kGroup * width;
  uint64_t both = nonzeroA[m][bit / 64] & nonzeroB[n][bit / 64];
  return both >> (bit % 64) & ((uint64_t(1) << width) - 1);
}

/// The sum of a chunk with infinities or NaNs.
void HardwareAdder::addSpecials(unsigned m, unsigned begin, unsigned end,
                                double *sums) const {
  const double *scalesA = matrices.scaleA + m * kMaxBlocks;
  for (unsigned i = begin; i != end; ++i) {
    unsigned k = order[i], block = i / form.getBlockSize();
    unsigned rowOfB = form.isSparse() ? positions[m * keptK + i] : k;
    double element = matrices.a[m * keptK + k];
    for (unsigned n = 0; n != kN; ++n) {
      double product = element * matrices.b[rowOfB * kN + n];
      if (form.isBlockScaled())
        product *= scalesA[block] * matrices.scaleB[block * kN + n];
      sums[n] += product;
    }
  }
}

void HardwareAdder::addChunk(unsigned m, unsigned begin, unsigned end,
                             double *sums) const {
  double finite[kN];
  uint32_t specials = specialRows >> m & 1 ? 0xFF : specialColumns;
  for (unsigned n = 0; n != kN; ++n) {
    bool isFinite = std::isfinite(sums[n]);
    finite[n] = isFinite ? sums[n] : 0;
    specials |= uint32_t(!isFinite) << n;
  }
  Chunk chunk;
  if (rule.method == AdderMethod::GroupsOf16)
    alignGroups(m, begin, end, finite, chunk);
  else
    alignProducts(m, begin, end, finite, chunk);
  if (specials)
    addSpecials(m, begin, end, sums);
  for (unsigned n = 0; n != kN; ++n) {
    if (specials >> n & 1 && !std::isfinite(sums[n]))
      continue;
    double sum =
        chunk.total[n] * makePowerOfTwo(chunk.largest[n] - rule.alignedBits);
    sums[n] = form.c == Type::F16 ? roundToF16(sum)
                                  : truncate(sum, rule.fractionBits);
  }
}

void HardwareAdder::addRow(unsigned m, double *sums) const {
  bool isSplit = rule.method == AdderMethod::TwoHalves;
  unsigned size = isSplit ? keptK / 2 : rule.chunk;
  for (unsigned begin = 0; begin < keptK; begin += size)
    addChunk(m, begin, std::min(begin + size, keptK), sums);
}

void HardwareAdder::run(uint64_t *bits) {
  if (rule.method == AdderMethod::GroupsOf16)
    prepareGroups();
  else
    prepareProducts();
  if (form.isBlockScaled())
    prepareScales();
  bool startsFromC = rule.method != AdderMethod::TwoHalves;
  for (unsigned m = 0; m != form.m; ++m) {
    const double *c = matrices.c + m * kN;
    double sums[kN] = {};
    if (startsFromC)
      std::copy(c, c + kN, sums);
    addRow(m, sums);
    for (unsigned n = 0; n != kN; ++n) {
      double sum = sums[n];
      // The sum is rounded to double and then to f32 (or f16), which equals one
      // rounding, as a double has more than 2 * 24 + 2 bits.
      if (!startsFromC)
        sum = form.c == Type::F16 && std::isfinite(sum + c[n])
                  ? roundToF16(sum + c[n])
                  : static_cast<float>(sum + c[n]);
      bits[m * kN + n] = encode(sum, form.c);
    }
  }
}

/// a * b + c of f64. A NaN result is that of b, else of c, else of a, made
/// quiet; a new NaN is negative.
static double multiplyAdd(double a, double b, double c) {
  constexpr uint64_t quietBit = uint64_t(1) << 51;
  for (double operand : {b, c, a})
    if (std::isnan(operand))
      return llvm::bit_cast<double>(llvm::bit_cast<uint64_t>(operand) |
                                    quietBit);
  double sum = std::fma(a, b, c);
  if (std::isnan(sum))
    return llvm::bit_cast<double>(uint64_t(0xFFF) << 52 | quietBit);
  return sum;
}

/// In the order of k.
static void multiplyChain(const MmaForm &form, const MmaMatrices &matrices,
                          uint64_t *bits) {
  for (unsigned m = 0; m != form.m; ++m)
    for (unsigned n = 0; n != kN; ++n) {
      double sum = matrices.c[m * kN + n];
      for (unsigned k = 0; k != form.k; ++k)
        sum = multiplyAdd(matrices.a[m * form.k + k], matrices.b[k * kN + n],
                          sum);
      bits[m * kN + n] = llvm::bit_cast<uint64_t>(sum);
    }
}

void sim::multiplyInHardware(const MmaForm &form, const AdderRule &rule,
                             const MmaMatrices &matrices, uint64_t *bits) {
  if (rule.method == AdderMethod::Chain)
    return multiplyChain(form, matrices, bits);
  HardwareAdder(form, rule, matrices).run(bits);
}
