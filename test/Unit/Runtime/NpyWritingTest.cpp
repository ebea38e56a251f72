//===- NpyWritingTest.cpp - Files as numpy writes them --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"
#include "blockscale/Runtime/Npy.h"
#include "blockscale/Runtime/OutputFile.h"

#include <gtest/gtest.h>

using namespace mlir::blockscale;

static void expectSame(const Result<NpyArray> &got, const NpyArray &expected) {
  ASSERT_TRUE(got) << got.message();
  EXPECT_EQ(got->dtype, expected.dtype);
  EXPECT_EQ(got->shape, expected.shape);
  EXPECT_EQ(got->data, expected.data);
}

TEST(NpyWritingTest, SerializesAsNumpy) {
  std::string file("\x93NUMPY\x01\x00\x76\x00", 10);
  file += "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3), }";
  file.append(127 - file.size(), ' ').append("\n");
  file.append("\x01\x00\x02\x00\x03\x00", 6);
  EXPECT_EQ(serializeNpy({DType::I2, {1, 3}, {1, 0, 2, 0, 3, 0}}), file);
}

TEST(NpyWritingTest, SerializesEveryRank) {
  auto getHeader = [](const NpyArray &array) {
    std::string bytes = serializeNpy(array);
    EXPECT_EQ((bytes.size() - array.data.size()) % 64, 0u);
    EXPECT_EQ(bytes[bytes.size() - array.data.size() - 1], '\n');
    return bytes.substr(10, bytes.find('}') - 9);
  };
  EXPECT_EQ(getHeader({DType::U1, {}, {1}}),
            "{'descr': '|u1', 'fortran_order': False, 'shape': (), }");
  EXPECT_EQ(getHeader({DType::F8, {0}, {}}),
            "{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }");
  EXPECT_EQ(
      getHeader({DType::I1, {0, 123456789, 3, 4}, {}}),
      "{'descr': '|i1', 'fortran_order': False, 'shape': (0, 123456789, 3, 4), "
      "}");
}

TEST(NpyWritingTest, RoundTripOfLongestHeader) {
  NpyArray array = {DType::U1, std::vector<int64_t>(63, 1), {5, 6}};
  array.shape.push_back(2);
  expectSame(parseNpy(serializeNpy(array)), array);
}

TEST(NpyWritingTest, RoundTripOfFile) {
  TestDirectory directory;
  std::string path = directory / "x.npy";
  NpyArray array = {DType::U2, {2}, {1, 2, 3, 4}};
  Error error = writeOutput(path, serializeNpy(array));
  EXPECT_FALSE(error) << error.message();
  expectSame(readNpy(path), array);
}
