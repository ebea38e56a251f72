//===- TensorMap.cpp - Tensors as bulk tensor copies see them -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the rules of cuTensorMapEncodeTiled for boxes and tensors.
//
//===----------------------------------------------------------------------===//

#include "TensorMapTables.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// The alignment of the innermost size of a box, in bytes.
static constexpr uint32_t boxAlignment = 16;

Error blockscale::checkTensorBox(const TensorMap &map) {
  const TensorMapType &type = *map.type;
  std::string name(type.name);
  if (map.elementStrides.size() != map.getRank())
    return Error("expected " + std::to_string(map.getRank()) +
                 " numbers after STRIDES=, as in BOX, got " +
                 std::to_string(map.elementStrides.size()));
  if (map.elementStrides[0] != 1)
    return Error("expected 1 as the last number after STRIDES=, got " +
                 std::to_string(map.elementStrides[0]));
  if (type.boxSize && map.box[0] != type.boxSize)
    return Error("expected an innermost size of " +
                 std::to_string(type.boxSize) + " for a box of " + name +
                 ", got " + std::to_string(map.box[0]));
  uint64_t bits = uint64_t(map.box[0]) * type.bits;
  if (bits % (8 * boxAlignment) != 0)
    return Error("expected an innermost size of a multiple of " +
                 std::to_string(boxAlignment) + " bytes for a box, got " +
                 std::to_string(map.box[0]) + " elements of " +
                 std::to_string(type.bits) + " bits");
  uint64_t bytes = type.getSharedBytes(map.box[0]);
  if (bytes > map.swizzle->span)
    return Error(
        "expected an innermost size of at most " +
        std::to_string(map.swizzle->span) + " bytes for a box with SWIZZLE=" +
        std::string(map.swizzle->name) + ", got " + std::to_string(bytes));
  // The driver has these types without a swizzle, or with one of 128 bytes
  // that leaves 16 in order.
  bool isSwizzleLegal = map.swizzle->rowMask == 0 || map.swizzle->span == 128;
  if (type.elementsPerUnit && (!isSwizzleLegal || map.swizzle->flipsHalves))
    return Error("expected SWIZZLE=none, 128, 128-atom32 or 128-atom64 for " +
                 name + ", got " + std::string(map.swizzle->name));
  if (map.fill == TensorMapFill::Nan && !type.isFloat)
    return Error("expected a floating-point type with FILL=nan, got " + name);
  return Error::success();
}

/// Checks numbers from 1 to `most`, and reverses their order.
static Error takeNumbers(const char *what, const std::vector<int64_t> &from,
                         uint32_t most, std::vector<uint32_t> &to) {
  for (auto number = from.rbegin(); number != from.rend(); ++number) {
    if (*number < 1 || *number > int64_t(most))
      return Error("expected numbers from 1 to " + std::to_string(most) +
                   " in the " + what + " of a tensor map, got " +
                   std::to_string(*number));
    to.push_back(static_cast<uint32_t>(*number));
  }
  return Error::success();
}

/// Finds the table row of a name.
template <typename Row, size_t size>
static Error takeRow(const char *what, const Row (&table)[size],
                     std::string_view name, const Row *&row) {
  row = lookupName(table, name);
  return row ? Error::success()
             : Error("expected one of " + listNames(table) + " as the " + what +
                     " of a tensor map, got " + quoteForMessage(name));
}

Result<TensorMap> blockscale::makeTensorMap(
    std::string_view dtype, const std::vector<int64_t> &box,
    const std::vector<int64_t> &elementStrides, std::string_view swizzle,
    std::string_view fill, std::string_view promotion) {
  TensorMap map;
  const TensorMapFillName *fillRow;
  if (Error error = takeRow("type", tensorMapTypes, dtype, map.type))
    return error;
  if (Error error = takeRow("swizzle", tensorMapSwizzles, swizzle, map.swizzle))
    return error;
  if (Error error = takeRow("fill", tensorMapFills, fill, fillRow))
    return error;
  if (Error error = takeRow("L2 promotion", tensorMapPromotions, promotion,
                            map.promotion))
    return error;
  map.fill = fillRow->fill;
  if (Error error = takeNumbers("box", box, maxTensorBox, map.box))
    return error;
  if (Error error = takeNumbers("element strides", elementStrides,
                                maxElementStride, map.elementStrides))
    return error;
  if (Error error = checkTensorBox(map))
    return error;
  return map;
}

/// Finds the table row with a number.
template <typename Row, size_t size>
static const Row *lookupNumber(const Row (&table)[size], unsigned number) {
  for (const Row &row : table)
    if (row.number == number)
      return &row;
  return nullptr;
}

const TensorMapType *blockscale::lookupTensorMapType(unsigned number) {
  return lookupNumber(tensorMapTypes, number);
}

const TensorMapSwizzle *blockscale::lookupTensorMapSwizzle(unsigned number) {
  return lookupNumber(tensorMapSwizzles, number);
}

const TensorMapPromotion *
blockscale::lookupTensorMapPromotion(unsigned number) {
  return lookupNumber(tensorMapPromotions, number);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The number of elements in the innermost dimension of an array of bytes.
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
                 " dimensions, as in BOX, got " +
                 std::to_string(array.shape.size()));
  unsigned elementBytes = std::max(type.bits / 8, 1u);
  if (array.elementSize() != elementBytes)
    return Error("expected elements of " + std::to_string(elementBytes) +
                 " bytes for " + std::string(type.name) + ", got " +
                 std::string(getDTypeInfo(array.dtype).code));
  map.sizes.assign(array.shape.rbegin(), array.shape.rend());
  // The bytes of a row of any array are less than 2^63, and so are these
  // products.
  uint64_t stride = map.sizes[0] * elementBytes;
  if (type.isPacked()) {
    Result<uint64_t> count = stride < tensorStrideLimit
                                 ? countPacked(type, map.sizes[0])
                                 : Result<uint64_t>(map.sizes[0]);
    if (!count)
      return count.error();
    map.sizes[0] = *count;
  }
  map.strides.assign(1, type.bits / 8);
  for (size_t i = 1; i != rank; ++i) {
    map.strides.push_back(stride);
    stride *= map.sizes[i];
  }
  // The tensor is the whole array.
  return checkTensor(map, /*bytes=*/UINT64_MAX);
}

/// The bytes from the first to the last of a tensor; the largest integer on
/// overflow.
static uint64_t countBytes(const TensorMap &map) {
  uint64_t bytes = map.type->getGlobalBytes(map.sizes[0]);
  for (size_t i = 1; i != map.getRank(); ++i) {
    uint64_t distance;
    if (__builtin_mul_overflow(map.sizes[i] - 1, map.strides[i], &distance) ||
        __builtin_add_overflow(bytes, distance, &bytes))
      return UINT64_MAX;
  }
  return bytes;
}

Error blockscale::checkTensorOffset(const TensorMap &map, uint64_t offset) {
  if (offset % map.type->strideAlignment == 0)
    return Error::success();
  return Error("expected an offset of a tensor that is a multiple of " +
               std::to_string(map.type->strideAlignment) + ", got " +
               std::to_string(offset));
}

Error blockscale::checkTensor(const TensorMap &map, uint64_t bytes) {
  const TensorMapType &type = *map.type;
  size_t rank = map.getRank();
  for (size_t i = 0; i != rank; ++i) {
    std::string where = inDimension(rank - 1 - i);
    if (map.sizes[i] < 1 || map.sizes[i] > maxTensorSize)
      return Error("expected a size from 1 to 2^32" + where +
                   std::to_string(map.sizes[i]));
    if (i == 0 && map.sizes[0] % type.sizeAlignment != 0)
      return Error("expected a multiple of " +
                   std::to_string(type.sizeAlignment) + " elements for " +
                   std::string(type.name) + where +
                   std::to_string(map.sizes[0]));
    if (i + 1 == rank)
      break;
    uint64_t stride = map.strides[i + 1];
    if (stride % type.strideAlignment != 0 || stride >= tensorStrideLimit)
      return Error("expected a stride that is a multiple of " +
                   std::to_string(type.strideAlignment) +
                   " and less than 2^40 bytes for " + std::string(type.name) +
                   inDimension(rank - 2 - i) + std::to_string(stride));
  }
  if (uint64_t needed = countBytes(map); needed > bytes)
    return Error("expected a tensor of at most " + std::to_string(bytes) +
                 " bytes, as its memory has, got " + std::to_string(needed));
  return Error::success();
}
