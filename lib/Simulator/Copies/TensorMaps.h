//===- TensorMaps.h - The tensor maps of a launch ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the 128 bytes of a tensor map mean is not public. In the simulator they
// are 16 words of 64 bits: word i is the mark below plus i in the upper half,
// and the number of the map in the launch in the lower one. A kernel may copy
// them; bytes that are anything else are no tensor map.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPS_H
#define BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPS_H

#include "Memory/Storage.h"
#include "blockscale/Runtime/TensorMap.h"

#include <array>
#include <optional>

namespace mlir::blockscale::sim {

/// A tensor map and the memory of its tensor, which starts `offset` bytes into
/// the allocation.
struct BoundTensorMap {
  TensorMap map;
  GlobalMemory::Allocation *tensor;
  uint64_t offset = 0;
};

class TensorMaps {
public:
  /// Adds a map, which gets the next number. No kernel runs.
  uint32_t add(BoundTensorMap map) {
    maps.push_back(std::move(map));
    return static_cast<uint32_t>(maps.size() - 1);
  }

  /// Writes the bytes of map number `number`.
  static void write(uint32_t number, uint8_t *bytes);
  /// The map that bytes stand for; null if it is none.
  const BoundTensorMap *lookup(const uint8_t *bytes) const;

private:
  static constexpr uint32_t kMark = 0x746D6170;
  using Words = std::array<uint64_t, tensorMapBytes / sizeof(uint64_t)>;
  static Words encode(uint32_t number);

  std::vector<BoundTensorMap> maps;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPS_H
