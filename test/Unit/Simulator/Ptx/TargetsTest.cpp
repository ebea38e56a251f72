//===- TargetsTest.cpp ----------------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Targets.h"

#include "gtest/gtest.h"

#include <string>

using namespace mlir::blockscale::sim;

namespace {

TEST(Targets, Names) {
  for (const char *name : {"sm_75", "sm_90", "sm_90a", "sm_100f", "sm_121a"})
    EXPECT_TRUE(isTarget(name)) << name;
  for (const char *name : {"", "sm_", "90", "sm_90b", "sm_90aa", "compute_90"})
    EXPECT_FALSE(isTarget(name)) << name;
}

/// Those of the common targets that have a feature.
std::string getTargets(Feature feature) {
  std::string names;
  for (const char *name :
       {"sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100f",
        "sm_100a", "sm_103f", "sm_103a", "sm_110f", "sm_110a", "sm_120",
        "sm_120f", "sm_120a", "sm_121f", "sm_121a"})
    if (hasFeature(name, feature))
      names += (names.empty() ? "" : " ") + std::string(name).substr(3);
  return names;
}

TEST(Targets, Features) {
  const std::string specific =
      "100f 100a 103f 103a 110f 110a 120f 120a 121f 121a";
  EXPECT_EQ(getTargets(Feature::Clusters),
            "90 90a 100 100f 100a 103f 103a 110f 110a 120 120f 120a 121f 121a");
  EXPECT_EQ(getTargets(Feature::RegisterLimits), "90a " + specific);
  EXPECT_EQ(getTargets(Feature::ByteMatrices), specific);
  EXPECT_EQ(getTargets(Feature::FloatReductions), "100 100f 100a 103f 103a");
  EXPECT_EQ(getTargets(Feature::MmaOfSm89),
            "89 90 90a 100 100f 100a 103f 103a 110f 110a 120 120f 120a 121f "
            "121a");
  EXPECT_EQ(getTargets(Feature::MmaOfSm120), "120f 120a 121f 121a");
  EXPECT_EQ(getTargets(Feature::MmaOfSm100AndSm120),
            "100f 100a 103a 110a 120f 120a 121f 121a");
  EXPECT_EQ(getTargets(Feature::MmaOfSm120a), "120a 121a");
  EXPECT_EQ(getTargets(Feature::Wgmma), "90a");
  EXPECT_EQ(getTargets(Feature::Tcgen05), "100f 100a 103f 103a 110f 110a");
  EXPECT_EQ(getTargets(Feature::Tcgen05Integers), "100a 110a");
  EXPECT_EQ(getTargets(Feature::Tcgen05K96), "103f 103a");
  EXPECT_EQ(getTargets(Feature::Tcgen05ScaleVec), "100a 103a 110a");
  EXPECT_EQ(getTargets(Feature::Tcgen05SparseNibbles), "100a 103a 110a");
  EXPECT_EQ(getTargets(Feature::Tcgen05InputScale), "100f 100a 103f 103a");
  EXPECT_EQ(getTargets(Feature::Tcgen05Shift), "100a 103a 110a");
}

} // namespace
