//===- Npy.h - Arrays and .npy files ----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads versions 1.0, 2.0 and 3.0 of numpy's array format: little-endian data
// of the types in DType.h, in C order. Files are untrusted: sizes are checked
// against the size of the file before memory is allocated, data must end where
// the shape says, and anything that numpy would not write is an error with a
// position.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_NPY_H
#define BLOCKSCALE_RUNTIME_NPY_H

#include "blockscale/Runtime/DType.h"
#include "blockscale/Runtime/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// An array as a file holds it. `data` is row-major and little-endian, and its
/// size equals the product of the dimensions times the size of an element.
struct NpyArray {
  DType dtype = DType::U1;
  std::vector<int64_t> shape;
  std::vector<uint8_t> data;

  unsigned elementSize() const { return getDTypeInfo(dtype).size; }
  int64_t numElements() const {
    return static_cast<int64_t>(data.size()) / elementSize();
  }
};

/// The limit of dimensions in numpy.
inline constexpr size_t maxRank = 64;

/// The bytes of an array of this type and shape; fails on a rank above
/// `maxRank`, a negative dimension, and a product that int64_t cannot hold (a
/// dimension of zero does not excuse the others).
Result<int64_t> computeByteSize(DType dtype, const std::vector<int64_t> &shape);

/// An array of zeros; fails like `computeByteSize`, and if there is not enough
/// memory.
Result<NpyArray> makeZeros(DType dtype, std::vector<int64_t> shape);

/// Reads a whole file (or a pipe, up to its end). Messages start with the path.
Result<NpyArray> readNpy(const std::string &path);

/// Reads the contents of a file.
Result<NpyArray> parseNpy(std::string_view bytes);

/// The contents of a file, version 1.0 of the format, laid out as by numpy.
std::string serializeNpy(const NpyArray &array);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_NPY_H
