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
                                                           "padded"};
  return names[static_cast<unsigned>(storage)];
}

std::string_view blockscale::stringifyScaleOrder(ScaleOrder order) {
  static constexpr std::string_view names[kNumScaleOrders] = {"rows", "lanes",
                                                              "parts"};
  return names[static_cast<unsigned>(order)];
}

unsigned blockscale::getScaleRank(ScaleOrder order) {
  static constexpr unsigned ranks[kNumScaleOrders] = {2, 3, 4};
  return ranks[static_cast<unsigned>(order)];
}

bool blockscale::canSwizzle(int64_t rowBytes) {
  return rowBytes % kBankLineBytes == 0 || rowBytes == kChunkBytes ||
         rowBytes == 2 * kChunkBytes || rowBytes == 4 * kChunkBytes;
}

ChunkSwizzle blockscale::getChunkSwizzle(int64_t rowBytes) {
  if (rowBytes >= kBankLineBytes)
    return {1, kBankLineBytes / kChunkBytes};
  return {kBankLineBytes / rowBytes, rowBytes / kChunkBytes};
}

unsigned blockscale::getStoredBits(Storage storage, Slot slot) {
  return storage == Storage::Slots ? slot.bits : 8;
}

const std::vector<MatrixLoad> &blockscale::getMatrixLoads() {
  static const std::vector<MatrixLoad> loads = {
      {8, false, 8, 8, "b16", 8, 1, 75, 65},
      {6, false, 8, 16, "b8x16.b6x16_p32", 8, 1, 100, 86},
      {4, false, 8, 16, "b8x16.b4x16_p64", 8, 1, 100, 86},
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
