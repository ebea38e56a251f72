//===- TensorMaps.cpp - The bytes of tensor maps --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encodes a tensor map in bytes and decodes it: a kernel may copy a map and
// replace its fields, but not build one from bytes of its own.
//
//===----------------------------------------------------------------------===//

#include "Copies/TensorMaps.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr uint64_t kMark = 0x746D617074656E73;
static constexpr uint8_t kNoPromotion = 0xFF;

namespace {
struct EncodedFields {
  TensorMapFields fields;
  uint64_t mark, sum;
};
} // namespace
static_assert(sizeof(EncodedFields) == tensorMapBytes);
static_assert(std::is_trivially_copyable_v<EncodedFields>);

/// FNV-1a over all fields, which have no padding between them.
static uint64_t computeSum(const TensorMapFields &fields) {
  uint64_t sum = 0xCBF29CE484222325;
  const auto *bytes = reinterpret_cast<const uint8_t *>(&fields);
  for (uint8_t byte : llvm::ArrayRef(bytes, sizeof fields))
    sum = (sum ^ byte) * 0x100000001B3;
  return sum;
}
static_assert(std::has_unique_object_representations_v<TensorMapFields>);

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// The swizzle mode of 128 bytes; the modes of cuda.h from that on differ in
/// the size of their chunks.
static constexpr uint8_t kWidestMode = 3;

TensorMapFields::TensorMapFields(const TensorMap &map, uint64_t address)
    : address(address), rank(map.getRank()), type(map.type->number),
      swizzleMode(std::min<unsigned>(map.swizzle->number, kWidestMode)),
      swizzleAtomicity(map.swizzle->number - swizzleMode),
      fill(static_cast<uint8_t>(map.fill)),
      promotion(map.promotion ? map.promotion->number : kNoPromotion) {
  for (size_t i = 0; i != rank; ++i) {
    sizes[i] = map.sizes[i];
    box[i] = map.box[i];
    elementStrides[i] = map.elementStrides[i];
    if (i != 0)
      strides[i - 1] = map.strides[i];
  }
}

void TensorMapFields::write(uint8_t *bytes) const {
  EncodedFields encoded = {*this, kMark, computeSum(*this)};
  std::memcpy(bytes, &encoded, sizeof encoded);
}

std::optional<TensorMapFields> TensorMapFields::read(const uint8_t *bytes) {
  EncodedFields encoded;
  std::memcpy(&encoded, bytes, sizeof encoded);
  if (encoded.mark != kMark || encoded.sum != computeSum(encoded.fields))
    return std::nullopt;
  return encoded.fields;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

Result<BoundTensorMap> TensorMapFields::bind(GlobalMemory &memory) const {
  BoundTensorMap bound;
  TensorMap &map = bound.map;
  if (swizzleAtomicity != 0 && swizzleMode != kWidestMode)
    return Error("expected a swizzle of 128 bytes with this atomicity");
  map.type = lookupTensorMapType(type);
  map.swizzle = lookupTensorMapSwizzle(swizzleMode + swizzleAtomicity);
  map.promotion = lookupTensorMapPromotion(promotion);
  map.fill = static_cast<TensorMapFill>(fill);
  map.box.assign(box.begin(), box.begin() + rank);
  map.elementStrides.assign(elementStrides.begin(),
                            elementStrides.begin() + rank);
  map.sizes.assign(sizes.begin(), sizes.begin() + rank);
  map.strides.assign(1, map.type->bits / 8);
  map.strides.insert(map.strides.end(), strides.begin(),
                     strides.begin() + rank - 1);
  for (size_t i = 0; i != rank; ++i)
    if (box[i] == 0 || elementStrides[i] == 0)
      return Error("expected a box in each of " + std::to_string(rank) +
                   " dimensions, got none in dimension " + std::to_string(i) +
                   ", counted from the innermost one");
  if (Error error = checkTensorBox(map))
    return error;
  bound.tensor = memory.lookup(address);
  if (!bound.tensor || bound.tensor->isConstant ||
      address < bound.tensor->address ||
      address - bound.tensor->address >= bound.tensor->storage.size())
    return Error("expected the address of a tensor in global memory, got " +
                 printHex(address));
  bound.offset = address - bound.tensor->address;
  if (address % map.type->strideAlignment != 0)
    return Error("expected the address of a tensor to be a multiple of " +
                 std::to_string(map.type->strideAlignment) + ", got " +
                 printHex(address));
  // Its memory has to hold what a copy touches, as on a card, and offsets must
  // not overflow.
  if (Error error = checkTensor(map, /*bytes=*/UINT64_MAX - 1))
    return error;
  return bound;
}
