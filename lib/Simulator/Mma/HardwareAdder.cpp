//===- HardwareAdder.cpp - A model of the tensor core's adder -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What others measured on sm_120 (arXiv 2511.10909). All terms of an element of
// D, C among them, are aligned to the largest exponent, truncated to some bits
// after the binary point, added, and the sum is rounded toward zero to f32.
// What is too large becomes infinity.
//
// The exponent of a term is the sum of the exponents of its factors, which are
// not normalized: subnormal elements have the lowest exponent of their format,
// and the exponent of a group of fp4 products is that of its scales. Terms of 0
// have none; but C keeps the largest exponent at -126 or above, as f32 has no
// lower one.
//
// Without a model, and computed as Numerics::Exact: sparse forms, accumulators
// in f16, all of f16, bf16, tf32, f64 and the integers, and wgmma, whose sums
// of fp8 keep fewer bits.
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixOperands.h"
#include "Mma/MatrixSum.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr int kMinExponentF32 = -126;

/// Bits after the binary point that alignment keeps.
static int getFractionBits(AdderModel model) {
  return model == AdderModel::GroupsOf16 ? 35 : 25;
}

/// 0 for 0 and what is not finite, which are not used.
static int getExponent(double value, int minExponent) {
  if (value == 0 || !std::isfinite(value))
    return 0;
  return std::max(std::ilogb(value), minExponent);
}

HardwareAdder::HardwareAdder(const MmaForm &form, const MmaMatrices &matrices)
    : form(form), matrices(matrices) {
  for (unsigned i = 0; i != form.m * form.k; ++i)
    exponentsA[i] = getExponent(matrices.a[i], form.aTable->minExponent);
  for (unsigned i = 0; i != form.k * kN; ++i)
    exponentsB[i] = getExponent(matrices.b[i], form.bTable->minExponent);
}

uint64_t HardwareAdder::add(unsigned m, unsigned n) const {
  struct Term {
    double value;
    int exponent;
  };
  llvm::SmallVector<Term, 40> terms;
  int largest = kMinExponentF32;
  auto addTerm = [&](double value, int exponent) {
    if (value == 0)
      return;
    terms.push_back({value, exponent});
    largest = std::max(largest, exponent);
  };

  double c = matrices.c[m * kN + n];
  addTerm(c, getExponent(c, kMinExponentF32));
  bool areGroups = form.adder == AdderModel::GroupsOf16;
  unsigned groupSize = areGroups ? 16 : 1;
  // ue8m0 has no subnormals; ue4m3 has those of e4m3.
  int minScaleExponent = form.scale == Type::UE4M3 ? -6 : -127;
  for (unsigned block = 0; block != form.getNumBlocks(); ++block) {
    double scale = 1;
    int scaleExponent = 0;
    if (form.isBlockScaled()) {
      double scaleA = matrices.scaleA[m * kMaxBlocks + block];
      double scaleB = matrices.scaleB[block * kN + n];
      scale = scaleA * scaleB;
      scaleExponent = getExponent(scaleA, minScaleExponent) +
                      getExponent(scaleB, minScaleExponent);
    }
    unsigned blockBegin = block * form.getBlockSize();
    unsigned blockEnd = blockBegin + form.getBlockSize();
    for (unsigned begin = blockBegin; begin != blockEnd; begin += groupSize) {
      double value = 0;
      for (unsigned k = begin; k != begin + groupSize; ++k)
        value += matrices.a[m * form.k + k] * matrices.b[k * kN + n];
      int exponent = areGroups ? 0
                               : exponentsA[m * form.k + begin] +
                                     exponentsB[begin * kN + n];
      addTerm(value * scale, exponent + scaleExponent);
    }
  }

  // Fewer than 2^12 units before the point and 35 bits after it, 33 times. The
  // conversion truncates.
  int unit = largest - getFractionBits(form.adder);
  double unitsPerOne = std::ldexp(1, -unit);
  int64_t sum = 0;
  for (const Term &term : terms)
    sum += static_cast<int64_t>(term.value * unitsPerOne);
  return roundToBits({sum < 0, static_cast<uint64_t>(std::abs(sum)), unit},
                     form.c, Rounding::TowardZero);
}
