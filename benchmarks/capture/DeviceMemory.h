//===- DeviceMemory.h - Memory that programs take for a card's --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers of a program have addresses in a range of their own, which is
// reserved and has no memory: they are found by value in parameters of kernels,
// and a program that follows one on the host gets the fault that it would get
// with a card. Pinned and managed memory has the host's addresses.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_BENCHMARKS_CAPTURE_DEVICEMEMORY_H
#define BLOCKSCALE_BENCHMARKS_CAPTURE_DEVICEMEMORY_H

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>

namespace capture {

struct FreeBytes {
  void operator()(uint8_t *bytes) const { std::free(bytes); }
};

struct Buffer {
  uint64_t address;
  uint64_t size;
  std::unique_ptr<uint8_t[], FreeBytes> bytes;
  bool isHost = false;
};

class DeviceMemory {
public:
  static DeviceMemory &get();

  /// Adds memory; null if the range is full. Its bytes are not zero, as those
  /// of a card need not be.
  Buffer *allocate(uint64_t size, bool isHost);
  /// Whether there was a buffer that starts there.
  bool free(uint64_t address);

  /// The buffer that an address is in, or right behind; null if there is none.
  Buffer *lookup(uint64_t address);

  /// Where `size` bytes at an address are; those of buffers as well as others
  /// of the host. Null if they leave a buffer or are in none.
  uint8_t *translate(const void *address, uint64_t size);

private:
  DeviceMemory();

  bool isInRange(uint64_t address) const {
    return address >= start && address - start < kRangeBytes;
  }

  static constexpr uint64_t kRangeBytes = uint64_t(1) << 44;

  uint64_t start = 0, next = 0;
  std::map<uint64_t, Buffer> buffers;
};

} // namespace capture

#endif // BLOCKSCALE_BENCHMARKS_CAPTURE_DEVICEMEMORY_H
