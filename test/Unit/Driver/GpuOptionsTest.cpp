//===- GpuOptionsTest.cpp - Tests of the table of options -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/GpuOptions.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::blockscale;

static std::string set(GpuCompileOptions &options, StringRef name,
                       StringRef value) {
  Error error = setGpuOption(options, name, value);
  return error ? error.message() : "";
}

TEST(GpuOptionsTest, EveryOptionIsSet) {
  GpuCompileOptions options;
  for (auto [name, value] :
       std::initializer_list<std::pair<StringRef, StringRef>>{
           {"target", "sm_120a"},
           {"emulate-on", "sm_90"},
           {"ptx-version", "8.8"},
           {"native-only", ""},
           {"accumulate", "64"},
           {"rebase", ""},
           {"no-workspace", "true"},
           {"explain", "true"},
           {"schedule", "tile=64x64x128,warps=2x2,stages=2"},
           {"raise", "assume-positive-scales"},
           {"emit", "nvvm"}})
    EXPECT_EQ(set(options, name, value), "");
  EXPECT_EQ(options.target, lookupChip("sm_120a"));
  EXPECT_EQ(options.emulateOn, lookupChip("sm_90"));
  EXPECT_EQ(options.ptxVersion, 88u);
  EXPECT_TRUE(options.nativeOnly && options.noWorkspace && options.explain);
  EXPECT_EQ(options.accumulation.chunk, 64);
  EXPECT_TRUE(options.accumulation.rebase);
  EXPECT_EQ(options.schedule, "tile=64x64x128,warps=2x2,stages=2");
  EXPECT_EQ(options.raising, Raising::RaisePositiveScales);
  EXPECT_EQ(options.stage, GpuStage::NVVM);
  EXPECT_EQ(set(options, "native-only", "false"), "");
  EXPECT_FALSE(options.nativeOnly);
}

TEST(GpuOptionsTest, UnknownChipsAreSaidToBe) {
  GpuCompileOptions options;
  EXPECT_EQ(set(options, "target", "sm_75")
                .rfind("unknown target 'sm_75', expected one of cpu sm_80 ", 0),
            0u);
  EXPECT_EQ(set(options, "target", "sm_120"),
            "unknown target 'sm_120': block-scaled instructions need the "
            "letter, expected sm_120a or sm_120f");
  EXPECT_EQ(set(options, "target", "")
                .rfind("no target given, expected one of cpu ", 0),
            0u);
  EXPECT_EQ(set(options, "target", "cpu"),
            "expected a GPU for target, got cpu");
  EXPECT_EQ(set(options, "emulate-on", "cpu"),
            "expected a GPU for emulate-on, got cpu");
  EXPECT_EQ(options.target, nullptr);
}

TEST(GpuOptionsTest, WrongValues) {
  GpuCompileOptions options;
  EXPECT_EQ(
      set(options, "ptx-version", "8.9"),
      "unknown PTX version '8.9', expected one of 70 to 78, 80 to 88, 90");
  EXPECT_EQ(set(options, "explain", "yes"),
            "expected true or false for explain, got 'yes'");
  EXPECT_EQ(set(options, "accumulate", "100"),
            "expected 32, 64 or 128 for accumulate, got '100'");
  EXPECT_EQ(set(options, "accumulate", ""),
            "expected 32, 64 or 128 for accumulate, got ''");
  EXPECT_EQ(set(options, "rebase", "1"),
            "expected true or false for rebase, got '1'");
  EXPECT_EQ(set(options, "schedule", "large")
                .rfind("expected a schedule of the form ", 0),
            0u);
  EXPECT_EQ(set(options, "emit", "elf"),
            "expected one of tile kernel instr nvvm llvm ptx cubin for emit, "
            "got 'elf'");
  EXPECT_EQ(set(options, "raise", ""),
            "expected one of none report raise assume-positive-scales for "
            "raise, got ''");
  EXPECT_EQ(set(options, "chip", "sm_90a"),
            "unknown option 'chip', expected one of target emulate-on "
            "ptx-version native-only accumulate rebase no-workspace explain "
            "schedule raise emit");
}

/// What the table says of choices is what they take.
TEST(GpuOptionsTest, Choices) {
  for (const GpuOption &option : getGpuOptions()) {
    EXPECT_EQ(option.type == GpuOptionType::Choice, !option.values.empty());
    EXPECT_FALSE(option.means.empty() || option.byDefault.empty());
    SmallVector<StringRef> values;
    option.values.split(values, ' ', -1, /*KeepEmpty=*/false);
    GpuCompileOptions options;
    for (StringRef value : values)
      EXPECT_FALSE(option.set(options, option.name, value)) << value.str();
  }
}
