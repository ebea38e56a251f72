//===- TensorMemory.cpp - Tensor memory of tcgen05 ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows, so that verifiers, kernels and lowerings read the same ones.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/TensorMemory.h"

using namespace mlir;
using namespace mlir::blockscale;

bool blockscale::hasTensorMemory(const Chip &chip) {
  return chip.has(Path::Tcgen05);
}

static bool isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

bool blockscale::isTensorAllocation(int64_t columns) {
  return isPowerOfTwo(columns) && columns >= kLeastTensorColumns &&
         columns <= kTensorColumns;
}

bool blockscale::isTensorMove(int64_t columns) {
  return isPowerOfTwo(columns) && columns <= kMostMovedColumns;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

const std::vector<AccLayout> &blockscale::getAccLayouts() {
  static const std::vector<AccLayout> layouts = {
      {1, 128, 'D', 128, 1},
      {2, 256, 'A', 128, 1},
      {2, 128, 'B', 64, 2},
  };
  return layouts;
}

const AccLayout *blockscale::lookupAccLayout(int64_t group, int64_t m) {
  for (const AccLayout &layout : getAccLayouts())
    if (layout.group == group && layout.m == m)
      return &layout;
  return nullptr;
}

const std::vector<AccColumns> &blockscale::getAccColumns() {
  static const std::vector<AccColumns> rules = {
      {1, false, 8},
      {2, false, 16},
      {1, true, 16},
      {2, true, 32},
  };
  return rules;
}

const AccColumns *blockscale::lookupAccColumns(int64_t group,
                                               bool isTransposed) {
  for (const AccColumns &rule : getAccColumns())
    if (rule.group == group && rule.isTransposed == isTransposed)
      return &rule;
  return nullptr;
}

bool blockscale::isLegalN(const AccColumns &rule, int64_t n) {
  return n >= rule.step && n <= kMostN && n % rule.step == 0;
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

const std::vector<ScaleRegion> &blockscale::getScaleRegions() {
  static const std::vector<ScaleRegion> regions = {
      {128, 4, 4}, {256, 8, 4}, {256, 4, 2}};
  return regions;
}

const ScaleRegion *blockscale::lookupScaleRegion(int64_t rows, int64_t copies) {
  if (rows >= 1)
    for (const ScaleRegion &region : getScaleRegions())
      if (rows <= region.mostRows && copies == region.copies)
        return &region;
  return nullptr;
}

const std::vector<ScaleFactors> &blockscale::getScaleFactors() {
  static constexpr unsigned kAny = 0b1111, kEven = 0b0101, kFirst = 0b0001;
  static const std::vector<ScaleFactors> rows = {
      {Kind::MXF8F6F4, 32, 1, kAny},  {Kind::MXF4, 64, 2, kEven},
      {Kind::MXF4NVF4, 64, 2, kEven}, {Kind::MXF4NVF4, 64, 4, kFirst},
      {Kind::MXF4, 96, 3, kAny},      {Kind::MXF4NVF4, 96, 3, kAny},
      {Kind::MXF4NVF4, 96, 6, kEven},
  };
  return rows;
}

const ScaleFactors *blockscale::lookupScaleFactors(Kind kind, unsigned k,
                                                   unsigned count) {
  for (const ScaleFactors &row : getScaleFactors())
    if (row.kind == kind && row.k == k && row.count == count)
      return &row;
  return nullptr;
}

bool blockscale::isLegalScaleId(const ScaleFactors &factors, int64_t id) {
  return id >= 0 && id < kBlocksOfWord && (factors.ids >> id & 1) != 0;
}

std::string blockscale::describeScaleIds(const ScaleFactors &factors) {
  std::string text;
  for (int64_t id = 0; id != kBlocksOfWord; ++id)
    if (isLegalScaleId(factors, id))
      text += (text.empty() ? "" : ", ") + std::to_string(id);
  return text;
}
