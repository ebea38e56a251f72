//===- Targets.cpp - Features of targets ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One row for each feature and range of targets, as ptxas 13.0 has them, and
// one lookup.
//
//===----------------------------------------------------------------------===//

#include "Ptx/Targets.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <optional>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {

/// 'a': of this architecture alone, 'f': of its family, '-': neither.
struct Target {
  unsigned number;
  char suffix;
};

/// All targets from `first` to `last` with one of the suffixes.
struct FeatureRow {
  Feature feature;
  unsigned first, last;
  llvm::StringRef suffixes;
};

} // namespace

static constexpr unsigned kNewest = std::numeric_limits<unsigned>::max();

// clang-format off
static constexpr FeatureRow kFeatures[] = {
    {Feature::Clusters,           90,  kNewest, "-af"},
    {Feature::RegisterLimits,     90,  kNewest, "af"},
    {Feature::LaunchControl,      100, kNewest, "-af"},
    {Feature::LaunchControlToAll, 100, kNewest, "af"},
    {Feature::TensorMapReplace,   90,  90,      "a"},
    {Feature::TensorMapReplace,   100, kNewest, "af"},
    {Feature::TensorMapAtomicity, 100, kNewest, "af"},
    {Feature::GatherFour,         100, kNewest, "-af"},
    {Feature::RowsBeyondBlock,    100, 110,     "af"},
    {Feature::FloatReductions,    100, 100,     "-af"},
    {Feature::FloatReductions,    103, 103,     "-af"},
    {Feature::ByteMatrices,       100, kNewest, "af"},
    {Feature::MmaOfSm75,          75,  kNewest, "-af"},
    {Feature::MmaOfSm80,          80,  kNewest, "-af"},
    {Feature::MmaOfSm89,          89,  kNewest, "-af"},
    {Feature::MmaOfSm90,          90,  kNewest, "-af"},
    {Feature::MmaOfSm120,         120, 121,     "af"},
    {Feature::MmaOfSm100AndSm120, 100, 100,     "af"},
    {Feature::MmaOfSm100AndSm120, 103, 103,     "a"},
    {Feature::MmaOfSm100AndSm120, 110, 110,     "a"},
    {Feature::MmaOfSm100AndSm120, 120, 121,     "af"},
    {Feature::MmaOfSm120a,        120, 121,     "a"},
    {Feature::Wgmma,              90,  90,      "a"},
    {Feature::Tcgen05,            100, 100,     "af"},
    {Feature::Tcgen05,            103, 103,     "af"},
    {Feature::Tcgen05,            110, 110,     "af"},
    {Feature::Tcgen05Integers,     100, 100,     "a"},
    {Feature::Tcgen05Integers,     110, 110,     "a"},
    {Feature::Tcgen05K96,          103, 103,     "af"},
    {Feature::Tcgen05ScaleVec,     100, 100,     "a"},
    {Feature::Tcgen05ScaleVec,     103, 103,     "a"},
    {Feature::Tcgen05ScaleVec,     110, 110,     "a"},
    {Feature::Tcgen05InputScale,   100, 100,     "af"},
    {Feature::Tcgen05InputScale,   103, 103,     "af"},
    {Feature::Tcgen05SparseNibbles, 100, 100,    "a"},
    {Feature::Tcgen05SparseNibbles, 103, 103,    "a"},
    {Feature::Tcgen05SparseNibbles, 110, 110,    "a"},
    {Feature::Tcgen05Reductions,   103, 103,     "af"},
    {Feature::Tcgen05Reductions,   110, 110,     "af"},
    {Feature::Tcgen05Shift,        100, 100,     "a"},
    {Feature::Tcgen05Shift,        103, 103,     "a"},
    {Feature::Tcgen05Shift,        110, 110,     "a"},
};
// clang-format on

static std::optional<Target> parseTarget(llvm::StringRef name) {
  Target target = {};
  if (!name.consume_front("sm_") || name.consumeInteger(10, target.number) ||
      (!name.empty() && name != "a" && name != "f"))
    return std::nullopt;
  target.suffix = name.empty() ? '-' : name[0];
  return target;
}

bool sim::isTarget(llvm::StringRef name) {
  return parseTarget(name).has_value();
}

unsigned sim::getTargetNumber(llvm::StringRef name) {
  std::optional<Target> target = parseTarget(name);
  return target ? target->number : 0;
}

bool sim::hasFeature(llvm::StringRef name, Feature feature) {
  std::optional<Target> target = parseTarget(name);
  return target && llvm::any_of(kFeatures, [&](const FeatureRow &row) {
           return row.feature == feature && row.first <= target->number &&
                  target->number <= row.last &&
                  row.suffixes.contains(target->suffix);
         });
}
