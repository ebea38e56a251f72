//===- SharedLayout.cpp - Tiles in shared memory --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which forms of ldmatrix there are, and which rows can be swizzled.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/SharedLayout.h"

using namespace mlir;
using namespace mlir::blockscale;

std::string_view blockscale::stringifyMajor(Major major) {
  static constexpr std::string_view names[kNumMajors] = {"k", "mn"};
  return names[static_cast<unsigned>(major)];
}

std::string_view blockscale::stringifyStorage(Storage storage) {
  static constexpr std::string_view names[kNumStorages] = {"slots", "bytes",
                                                           "padded", "packed"};
  return names[static_cast<unsigned>(storage)];
}

std::string_view blockscale::stringifyScaleOrder(ScaleOrder order) {
  static constexpr std::string_view names[kNumScaleOrders] = {"rows", "lanes",
                                                              "parts", "atoms"};
  return names[static_cast<unsigned>(order)];
}

unsigned blockscale::getScaleRank(ScaleOrder order) {
  static constexpr unsigned ranks[kNumScaleOrders] = {2, 3, 4, 4};
  return ranks[static_cast<unsigned>(order)];
}

bool blockscale::canSwizzle(int64_t rowBytes) {
  return rowBytes % kBankRowBytes == 0 || rowBytes == kChunkBytes ||
         rowBytes == 2 * kChunkBytes || rowBytes == 4 * kChunkBytes;
}

ChunkSwizzle blockscale::getChunkSwizzle(int64_t rowBytes) {
  if (rowBytes >= kBankRowBytes)
    return {1, kBankRowBytes / kChunkBytes};
  return {kBankRowBytes / rowBytes, rowBytes / kChunkBytes};
}

unsigned blockscale::getStoredBits(Storage storage, Slot slot) {
  constexpr unsigned kNibble = 4, kByte = 8;
  switch (storage) {
  case Storage::Slots:
    return slot.bits;
  case Storage::Packed:
    return kNibble;
  case Storage::Bytes:
  case Storage::Padded:
    return kByte;
  }
  return kByte;
}

namespace {
/// What instructions of a kind load.
struct LayoutRule {
  Kind kind;
  Storage storage;
  /// Of these codes, as a set of bits: bit n for codes of n bits.
  unsigned codeBits;
  /// The unit in which rows (M, N) that are contiguous are transposed, in bits;
  /// 0 where they cannot be.
  unsigned transposedBits;
};
} // namespace

static constexpr unsigned kBits4 = 1 << 4, kBits6 = 1 << 6, kBits8 = 1 << 8,
                          kBits16 = 1 << 16,
                          kAnyBits = kBits4 | kBits6 | kBits8;

// ldmatrix of sm_100 and later transposes bytes and fills up narrow elements;
// that of all chips transposes 16 bits, which are elements of two or four rows.
static constexpr LayoutRule kLayoutRules[] = {
    {Kind::MXF8F6F4, Storage::Slots, kAnyBits, 8},
    {Kind::MXF8F6F4, Storage::Bytes, kAnyBits, 8},
    {Kind::MXF8F6F4, Storage::Padded, kBits4 | kBits6, 8},
    {Kind::MXF4, Storage::Slots, kBits4, 0},
    {Kind::MXF4NVF4, Storage::Slots, kBits4, 0},
    {Kind::BF16, Storage::Slots, kAnyBits, 16},
    {Kind::BF16, Storage::Packed, kBits4, 16},
    {Kind::BF16, Storage::Padded, kBits6, 0},
    {Kind::BF16Packed, Storage::Slots, kBits4, 16},
    {Kind::BF16, Storage::Slots, kBits16, 0},
    {Kind::BF16Packed, Storage::Slots, kBits16, 0},
    {Kind::Unscaled, Storage::Slots, kBits16, 16},
    {Kind::FP8, Storage::Slots, kBits8, 0},
};

bool blockscale::canLie(Kind kind, unsigned codeBits, Major major,
                        Storage storage) {
  for (const LayoutRule &rule : kLayoutRules)
    if (rule.kind == kind && rule.storage == storage &&
        (rule.codeBits >> codeBits & 1) != 0)
      return major == Major::K || rule.transposedBits != 0;
  return false;
}

unsigned blockscale::getInterleave(Kind kind, const TileLayout &layout,
                                   Slot slot) {
  if (layout.major == Major::MN)
    for (const LayoutRule &rule : kLayoutRules)
      if (rule.kind == kind && rule.storage == layout.storage &&
          rule.transposedBits != 0)
        return rule.transposedBits / getStoredBits(layout.storage, slot);
  return 1;
}

const std::vector<MatrixLoad> &blockscale::getMatrixLoads() {
  static const std::vector<MatrixLoad> loads = {
      {8, false, 8, 8, "b16", 8, 1, 75, 65},
      {6, false, 8, 16, "b8x16.b6x16_p32", 8, 1, 100, 86},
      {4, false, 8, 16, "b8x16.b4x16_p64", 8, 1, 100, 86},
      {16, true, 8, 8, "b16", 8, 1, 75, 65},
      {8, true, 16, 16, "b8", 16, 2, 100, 86},
      {6, true, 16, 16, "b8x16.b6x16_p32", 16, 2, 100, 86},
      {4, true, 16, 16, "b8x16.b4x16_p64", 16, 2, 100, 86},
  };
  return loads;
}

const MatrixLoad *blockscale::lookupMatrixLoad(unsigned codeBits,
                                               bool isTransposed) {
  for (const MatrixLoad &load : getMatrixLoads())
    if (load.codeBits == codeBits && load.isTransposed == isTransposed)
      return &load;
  return nullptr;
}
