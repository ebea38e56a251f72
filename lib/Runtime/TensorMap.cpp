//===- TensorMap.cpp - Tensors as bulk tensor copies see them -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of a tensor, as cuTensorMapEncodeTiled has them.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/TensorMap.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;

static constexpr uint64_t maxSize = uint64_t(1) << 32;
/// Strides are less than this.
static constexpr uint64_t strideLimit = uint64_t(1) << 40;

/// How many elements the innermost dimension of an array of bytes holds.
static Result<uint64_t> countPacked(const TensorMapType &type, uint64_t bytes) {
  if (bytes * 8 % type.bits != 0)
    return Error("expected an innermost size of whole elements of " +
                 std::to_string(type.bits) + " bits, got " +
                 std::to_string(bytes) + " bytes");
  return bytes * 8 / type.bits;
}

static std::string inDimension(size_t dimension) {
  return " in dimension " + std::to_string(dimension) + ", got ";
}

Error blockscale::setTensor(TensorMap &map, const NpyArray &array) {
  const TensorMapType &type = *map.type;
  size_t rank = map.getRank();
  if (array.shape.size() != rank)
    return Error("expected an array of " + std::to_string(rank) +
                 " dimensions, as BOX has, got " +
                 std::to_string(array.shape.size()));
  unsigned elementBytes = std::max(type.bits / 8, 1u);
  if (array.elementSize() != elementBytes)
    return Error("expected elements of " + std::to_string(elementBytes) +
                 " bytes for " + std::string(type.name) + ", got " +
                 std::string(getDTypeInfo(array.dtype).code));
  map.sizes.assign(array.shape.rbegin(), array.shape.rend());
  // Bytes of a row are less than 2^63 in any array, and these products too.
  uint64_t stride = map.sizes[0] * elementBytes;
  if (type.isPacked()) {
    Result<uint64_t> count = stride < strideLimit
                                 ? countPacked(type, map.sizes[0])
                                 : Result<uint64_t>(map.sizes[0]);
    if (!count)
      return count.error();
    map.sizes[0] = *count;
  }
  map.strides.assign(1, type.bits / 8);
  for (size_t i = 0; i != rank; ++i) {
    std::string where = inDimension(rank - 1 - i);
    if (map.sizes[i] < 1 || map.sizes[i] > maxSize)
      return Error("expected a size from 1 to 2^32" + where +
                   std::to_string(map.sizes[i]));
    if (i == 0 && map.sizes[0] % type.sizeAlignment != 0)
      return Error("expected a multiple of " +
                   std::to_string(type.sizeAlignment) + " elements for " +
                   std::string(type.name) + where +
                   std::to_string(map.sizes[0]));
    if (i + 1 == rank)
      break;
    if (stride % type.strideAlignment != 0 || stride >= strideLimit)
      return Error("expected a stride that is a multiple of " +
                   std::to_string(type.strideAlignment) +
                   " and less than 2^40 bytes for " + std::string(type.name) +
                   inDimension(rank - 2 - i) + std::to_string(stride));
    map.strides.push_back(stride);
    stride *= map.sizes[i + 1];
  }
  return Error::success();
}
