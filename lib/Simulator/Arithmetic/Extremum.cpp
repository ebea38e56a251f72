//===- Extremum.cpp - Minimum or maximum of several values ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// redux.sync combines lanes and tcgen05.ld.red combines columns; both have the
// same rules for zeros and NaNs.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/Extremum.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr uint32_t kCanonicalNaN = 0x7FFFFFFF;
static constexpr uint32_t kMagnitude = 0x7FFFFFFF;

/// -0 is below +0.
static bool isFloatLess(uint32_t a, uint32_t b) {
  float x = llvm::bit_cast<float>(a), y = llvm::bit_cast<float>(b);
  return x < y || (x == y && std::signbit(x) && !std::signbit(y));
}

template <typename T>
static uint32_t least(uint32_t a, uint32_t b) {
  return std::min(static_cast<T>(a), static_cast<T>(b));
}
template <typename T>
static uint32_t most(uint32_t a, uint32_t b) {
  return std::max(static_cast<T>(a), static_cast<T>(b));
}
static uint32_t leastFloat(uint32_t a, uint32_t b) {
  return isFloatLess(b, a) ? b : a;
}
static uint32_t mostFloat(uint32_t a, uint32_t b) {
  return isFloatLess(a, b) ? b : a;
}

Combine sim::findExtremum(llvm::StringRef name, Type type) {
  static constexpr struct {
    llvm::StringRef name;
    Type type;
    Combine combine;
  } rows[] = {
      {"min", Type::U32, least<uint32_t>}, {"min", Type::S32, least<int32_t>},
      {"min", Type::F32, leastFloat},      {"max", Type::U32, most<uint32_t>},
      {"max", Type::S32, most<int32_t>},   {"max", Type::F32, mostFloat},
  };
  for (const auto &row : rows)
    if (row.name == name && row.type == type)
      return row.combine;
  return nullptr;
}

void Reduction::add(uint32_t value) {
  if (rule.isAbsolute)
    value &= kMagnitude;
  if (rule.isFloat && std::isnan(llvm::bit_cast<float>(value)))
    hasNaN = true;
  else
    result = result ? rule.combine(*result, value) : value;
}

uint32_t Reduction::get() const {
  bool isNumber = result && !(hasNaN && rule.propagatesNaN);
  return isNumber ? *result : kCanonicalNaN;
}
