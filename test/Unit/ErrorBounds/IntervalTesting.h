//===- IntervalTesting.h - Programs and arrays for tests --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tests of intervals share: programs from text, and arrays from values.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_ERRORBOUNDS_INTERVALTESTING_H
#define BLOCKSCALE_TEST_UNIT_ERRORBOUNDS_INTERVALTESTING_H

#include "../Runtime/TestFiles.h"
#include "blockscale/Driver/Program.h"
#include "blockscale/Runtime/Npy.h"

#include <cstring>

namespace mlir::blockscale {

template <typename T>
NpyArray makeArray(DType dtype, std::vector<int64_t> shape,
                   const std::vector<T> &values) {
  NpyArray array{dtype, std::move(shape), {}};
  array.data.resize(values.size() * sizeof(T));
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

template <typename T>
std::vector<T> getValues(const NpyArray &array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

/// The program of this text; null after an error.
inline std::unique_ptr<Program> parseText(const std::string &text) {
  TestDirectory directory;
  return Program::parse(directory.write("test.mlir", text));
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_TEST_UNIT_ERRORBOUNDS_INTERVALTESTING_H
