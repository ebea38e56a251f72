//===- LastWritersTest.cpp - Tests of who has stored to memory ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory/Storage.h"

#include "gtest/gtest.h"

using namespace mlir::blockscale::sim;

TEST(LastWritersTest, Lines) {
  GlobalMemory memory;
  auto &buffer = memory.allocate("buffer", 1020, 16);
  uint64_t at = buffer.address;
  EXPECT_EQ(buffer.getLastWriter(at, 1020), 0u);
  buffer.noteWriter(at + 250, 12, 1); // the first and the second line
  buffer.noteWriter(at + 600, 4, 2);
  EXPECT_EQ(buffer.getLastWriter(at, 4), 1u);
  EXPECT_EQ(buffer.getLastWriter(at + 508, 4), 1u);
  EXPECT_EQ(buffer.getLastWriter(at + 508, 8), 2u);
  EXPECT_EQ(buffer.getLastWriter(at + 768, 4), 0u);
}

/// A copy may have no bytes, or ask for more than there are, for zeros.
TEST(LastWritersTest, Ends) {
  GlobalMemory memory;
  auto &buffer = memory.allocate("buffer", 1020, 16);
  uint64_t at = buffer.address;
  buffer.noteWriter(at, 0, 1);
  EXPECT_EQ(buffer.getLastWriter(at, 0), 0u);
  EXPECT_EQ(buffer.getLastWriter(at, 1020), 0u);
  buffer.noteWriter(at + 1016, 16, 2);
  EXPECT_EQ(buffer.getLastWriter(at + 1016, 16), 2u);
}
