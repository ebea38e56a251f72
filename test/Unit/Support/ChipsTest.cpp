//===- ChipsTest.cpp - The chip table -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Chips.h"
#include "blockscale/Support/InstructionTable.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir::blockscale;

TEST(Chips, AreThoseOfTheInterface) {
  std::string names;
  for (const Chip &chip : getChips())
    names += std::string(chip.name) + ' ';
  EXPECT_EQ(names, "cpu sm_80 sm_86 sm_87 sm_89 sm_90 sm_90a sm_100a sm_100f "
                   "sm_103a sm_103f sm_110a sm_110f sm_120a sm_120f sm_121a "
                   "sm_121f ");
}

TEST(Chips, PathFollowsTheFamily) {
  for (const Chip &chip : getChips()) {
    unsigned family = chip.capability / 10;
    Path expected = family == 12                   ? Path::MmaSync
                    : family == 10 || family == 11 ? Path::Tcgen05
                    : chip.isCpu()                 ? Path::Decompose
                    : chip.name == "sm_90a"        ? Path::Wgmma
                                                   : Path::DequantMma;
    EXPECT_EQ(chip.paths.front(), expected) << chip.name;
    EXPECT_EQ(chip.has(Path::DequantMma), !chip.isCpu()) << chip.name;
    EXPECT_EQ(chip.paths.back(), Path::Decompose) << chip.name;
    EXPECT_TRUE(chip.has(expected)) << chip.name;
    EXPECT_EQ(isKnownPtxVersion(chip.lowestPtx), !chip.isCpu()) << chip.name;
  }
}

static bool hasNativeInstruction(Path path) {
  for (const Instruction &instruction : getInstructions())
    if (instruction.path == path && instruction.isNative())
      return true;
  return false;
}

TEST(Chips, RowsOfPaths) {
  for (unsigned i = 0; i != kNumPaths; ++i) {
    const PathInfo &info = getPathInfo(Path(i));
    EXPECT_EQ(info.path, Path(i));
    EXPECT_FALSE(info.name.empty());
    EXPECT_EQ(info.opcode.empty(), info.path == Path::Decompose);
    // Kernels with block-scaled instructions prefer swizzled scales.
    EXPECT_EQ(info.wantsSwizzledScales, hasNativeInstruction(info.path));
    EXPECT_EQ(info.isWarpLevel, info.opcode.substr(0, 8) == "mma.sync");
    // Instructions without scales take operands that are dequantized.
    EXPECT_EQ(info.dequantization != Dequantization::None,
              !info.opcode.empty() && !hasNativeInstruction(info.path));
  }
  EXPECT_EQ(getPathInfo(Path::DequantMma).name, "dequant_mma");
  EXPECT_EQ(getPathInfo(Path::DequantMma).opcode,
            "mma.sync.m16n8k16.f32.bf16.bf16.f32");
}

TEST(Chips, PathsThatDequantize) {
  for (const Chip &chip : getChips()) {
    std::optional<Path> inRegisters =
        chip.findPath(Dequantization::InRegisters);
    EXPECT_EQ(inRegisters.has_value(), !chip.isCpu()) << chip.name;
    EXPECT_EQ(inRegisters.value_or(Path::DequantMma), Path::DequantMma);
    EXPECT_EQ(chip.findPath(Dequantization::InFront).has_value(),
              chip.name == "sm_90a")
        << chip.name;
  }
}

TEST(Chips, FactsByHand) {
  EXPECT_EQ(lookupChip("sm_100a")->lowestPtx, 86u);
  EXPECT_EQ(lookupChip("sm_100f")->lowestPtx, 88u);
  EXPECT_EQ(lookupChip("sm_110a")->lowestPtx, 90u);
  EXPECT_EQ(lookupChip("sm_120a")->sharedMemoryKiB, 99u);
  EXPECT_EQ(lookupChip("sm_90")->sharedMemoryKiB, 227u);
  EXPECT_TRUE(lookupChip("cpu")->isCpu());
  EXPECT_EQ(lookupChip("sm_120"), nullptr);
  EXPECT_EQ(lookupChip(""), nullptr);
}

TEST(Chips, UnknownNamesAreExplained) {
  EXPECT_EQ(describeUnknownChip("sm_120"),
            "unknown target 'sm_120': block-scaled instructions need the "
            "letter, expected sm_120a or sm_120f");
  EXPECT_EQ(describeUnknownChip("120"),
            "unknown target '120': block-scaled instructions need the letter, "
            "expected sm_120a or sm_120f");
  for (const char *name : {"SM_120A", "120a", "sm120a", "compute_120a"})
    EXPECT_EQ(describeUnknownChip(name).rfind(
                  "unknown target '" + std::string(name) +
                      "' (did you mean sm_120a?), expected one of cpu sm_80 ",
                  0),
              0u)
        << describeUnknownChip(name);
  EXPECT_EQ(
      describeUnknownChip("").rfind("no target given, expected one of cpu ", 0),
      0u);
  std::string text = describeUnknownChip("sm_75");
  EXPECT_NE(text.find("'sm_75'"), std::string::npos);
  for (const Chip &chip : getChips())
    EXPECT_NE(text.find(' ' + std::string(chip.name)), std::string::npos);
}

TEST(Chips, PtxVersions) {
  std::set<unsigned> known;
  for (unsigned version = 0; version != 200; ++version)
    if (isKnownPtxVersion(version))
      known.insert(version);
  EXPECT_EQ(known, (std::set<unsigned>{70, 71, 72, 73, 74, 75, 76, 77, 78, 80,
                                       81, 82, 83, 84, 85, 86, 87, 88, 90}));
  EXPECT_EQ(formatPtxVersion(87), "8.7");
  EXPECT_EQ(formatPtxVersion(90), "9.0");
}
