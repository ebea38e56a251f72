//===- SourceFileTest.cpp - The limit of nesting --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/SourceFile.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::blockscale;

static std::string repeat(StringRef text, unsigned count) {
  std::string result;
  for (unsigned i = 0; i != count; ++i)
    result += text.str();
  return result;
}

static bool isTooDeep(const std::string &text) {
  return findTooDeepNesting(text).has_value();
}

TEST(SourceFile, BracketsUpToTheLimit) {
  for (auto [open, close] :
       {std::pair("(", ")"), {"[", "]"}, {"{", "}"}, {"<", ">"}}) {
    EXPECT_FALSE(isTooDeep(repeat(open, 256) + repeat(close, 256)));
    EXPECT_TRUE(isTooDeep(repeat(open, 257) + repeat(close, 257)));
    // Side by side is not nested.
    EXPECT_FALSE(isTooDeep(repeat(std::string(open) + close, 1000)));
  }
}

TEST(SourceFile, PositionOfTheFirstTooDeepBracket) {
  std::string text = "// comment\n  " + repeat("(", 300);
  std::optional<SourcePosition> position = findTooDeepNesting(text);
  ASSERT_TRUE(position);
  EXPECT_EQ(position->line, 2u);
  EXPECT_EQ(position->column, 2u + 257u);
}

TEST(SourceFile, StringsAndCommentsDoNotNest) {
  EXPECT_FALSE(isTooDeep("\"" + repeat("(", 500) + "\""));
  EXPECT_FALSE(isTooDeep("\"\\\"" + repeat("(", 500) + "\""));
  EXPECT_FALSE(isTooDeep("// " + repeat("(", 500) + "\n"));
  EXPECT_TRUE(isTooDeep("\"\\\\\" " + repeat("(", 500)));
  EXPECT_TRUE(isTooDeep("// \n" + repeat("(", 500)));
}

TEST(SourceFile, ArrowsAndComparisonsAreNotBrackets) {
  EXPECT_FALSE(isTooDeep(repeat("() -> () ", 1000)));
  EXPECT_FALSE(isTooDeep(repeat("d0 >= 0, d0 <= 0, d0 == 0, ", 1000)));
  EXPECT_FALSE(isTooDeep(repeat("(a < b) ", 1000)));
  // A closing bracket of an arrow would end nothing.
  EXPECT_TRUE(isTooDeep(repeat("<->", 257)));
}

TEST(SourceFile, MinusSigns) {
  EXPECT_FALSE(isTooDeep(repeat("-", 256) + "1"));
  EXPECT_TRUE(isTooDeep(repeat("-", 257) + "1"));
  EXPECT_TRUE(isTooDeep(repeat("- ", 257) + "1"));
  EXPECT_FALSE(isTooDeep(repeat("-1 ", 1000)));
  // Those before a bracket nest with it, and end with it.
  EXPECT_TRUE(isTooDeep(repeat(repeat("-", 100) + "(", 3)));
  EXPECT_FALSE(isTooDeep(repeat(repeat("-", 100) + "(1) ", 3)));
}

TEST(SourceFile, AliasesNestAsDeepAsWhatTheyStandFor) {
  auto chain = [](unsigned length) {
    std::string text = "#a0 = [1]\n";
    for (unsigned i = 1; i != length; ++i)
      text +=
          "#a" + std::to_string(i) + " = [#a" + std::to_string(i - 1) + "]\n";
    return text;
  };
  EXPECT_FALSE(isTooDeep(chain(256)));
  EXPECT_TRUE(isTooDeep(chain(257)));
  // A definition ends with its line: uses of the last one do not nest.
  EXPECT_FALSE(isTooDeep("#a = [1]\n{\n" + repeat("  f(#a)\n", 1000) + "}\n"));
  EXPECT_TRUE(isTooDeep("#a =\n" + repeat("[", 200) + repeat("]", 200) + "\n" +
                        repeat("[", 100) + "#a"));
  // The same alias many times is wide, not deep.
  EXPECT_FALSE(isTooDeep("#a = [1]\n" + repeat("#b = [#a, #a]\n", 1000)));
}

TEST(SourceFile, UnbalancedBracketsEndWithTheirPair) {
  EXPECT_FALSE(isTooDeep(repeat(")", 1000)));
  EXPECT_FALSE(isTooDeep(repeat("(<<<)", 1000)));
}

TEST(SourceFile, MissingFileIsNamed) {
  std::string error;
  EXPECT_EQ(readSourceFile("/nonexistent/x.mlir", error), nullptr);
  EXPECT_EQ(error, "error: cannot open input file '/nonexistent/x.mlir': No "
                   "such file or directory");
}
