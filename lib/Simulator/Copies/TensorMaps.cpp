//===- TensorMaps.cpp - The tensor maps of a launch -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes that stand for a tensor map, and back: a kernel may copy a map, but not
// make one up.
//
//===----------------------------------------------------------------------===//

#include "Copies/TensorMaps.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

TensorMaps::Words TensorMaps::encode(uint32_t number) {
  Words words;
  for (uint32_t i = 0; i != words.size(); ++i)
    words[i] = uint64_t(kMark + i) << 32 | number;
  return words;
}

void TensorMaps::write(uint32_t number, uint8_t *bytes) {
  Words words = encode(number);
  std::memcpy(bytes, words.data(), sizeof words);
}

const BoundTensorMap *TensorMaps::lookup(const uint8_t *bytes) const {
  Words words;
  std::memcpy(words.data(), bytes, sizeof words);
  auto number = static_cast<uint32_t>(words[0]);
  return number < maps.size() && words == encode(number) ? &maps[number]
                                                         : nullptr;
}
