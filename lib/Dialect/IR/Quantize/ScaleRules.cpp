//===- ScaleRules.cpp - Scales of blocks ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All rules use one formula: they add different constants to the bits of the
// largest magnitude, and then extract its exponent.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/ScaleRules.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

double blockscale::getLargestNumber(Format element) {
  double largest = 0;
  for (unsigned code = 0; code != getFormatInfo(element).numCodes(); ++code)
    if (double value = decode(element, code); std::isfinite(value))
      largest = std::max(largest, value);
  return largest;
}

int blockscale::getLargestExponent(Format element) {
  return std::ilogb(getLargestNumber(element));
}

uint32_t blockscale::getScaleAddend(ScaleRule rule, Format element) {
  constexpr uint32_t kMantissa = (1u << kF32MantissaBits) - 1;
  switch (rule) {
  case ScaleRule::Floor:
    return 0;
  case ScaleRule::Ceil:
    // All values except powers of two reach the next exponent.
    return kMantissa;
  case ScaleRule::Even:
    // Half a unit in the last place of the kept bits. If all kept bits are
    // ones, a tie rounds up, too.
    return 1u << (kF32MantissaBits - 1 - getFormatInfo(element).mantissaBits);
  case ScaleRule::Rceil: {
    // Values with a larger mantissa than the largest element reach the next
    // exponent.
    auto largest = static_cast<float>(getLargestNumber(element));
    return kMantissa - (llvm::bit_cast<uint32_t>(largest) & kMantissa);
  }
  }
  llvm_unreachable("a rule without a row");
}

uint32_t blockscale::getScaleNaN(Format scale) {
  return getFormatInfo(scale).magnitudeMask();
}
