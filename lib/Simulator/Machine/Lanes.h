//===- Lanes.h - One register of a warp -------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A register of all lanes of a warp, with a mask of undefined bytes. A value of
// fewer than 64 bits is in the low bits, and the bits above are 0.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_LANES_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_LANES_H

#include <array>
#include <cstdint>

namespace mlir::blockscale::sim {

inline constexpr unsigned kLanes = 32;

/// A bit for each lane of a warp.
using LaneMask = uint32_t;
inline constexpr LaneMask kAllLanes = 0xFFFFFFFF;

struct Lanes {
  std::array<uint64_t, kLanes> value;
  /// Bit b: byte b of the lane's value is undefined. Only the entries of lanes
  /// in `undefinedLanes` are valid, and those are not 0.
  std::array<uint8_t, kLanes> undefinedBytes;
  LaneMask undefinedLanes;

  bool isUndefined(unsigned lane) const { return undefinedLanes >> lane & 1; }
  /// The undefined bytes of a lane, 0 where it is defined.
  uint8_t getUndefined(unsigned lane) const {
    return isUndefined(lane) ? undefinedBytes[lane] : 0;
  }
  /// Sets a lane's undefined bytes; 0 makes it defined.
  void setUndefined(unsigned lane, uint8_t bytes) {
    undefinedBytes[lane] = bytes;
    LaneMask bit = LaneMask(1) << lane;
    undefinedLanes = bytes ? undefinedLanes | bit : undefinedLanes & ~bit;
  }
  void set(unsigned lane, uint64_t newValue, uint8_t undefined) {
    value[lane] = newValue;
    setUndefined(lane, undefined);
  }
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_LANES_H
