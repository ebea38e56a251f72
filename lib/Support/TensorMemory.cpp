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

bool blockscale::isLegalScaleId(ScaleIds ids, int64_t id) {
  return id >= 0 && id < kBlocksOfWord && (ids >> id & 1) != 0;
}

std::string blockscale::describeScaleIds(ScaleIds ids) {
  std::string text;
  for (int64_t id = 0; id != kBlocksOfWord; ++id)
    if (isLegalScaleId(ids, id))
      text += (text.empty() ? "" : ", ") + std::to_string(id);
  return text.empty() ? "none" : text;
}
