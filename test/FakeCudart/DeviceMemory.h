//===- DeviceMemory.h - Memory that programs take for a card's --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer has one address for the program and for all kernels, so that what
// they store of addresses holds: the one that the simulator gives to a buffer
// of its number. These are no addresses of the host, where a program that
// follows one gets the fault that it would get with a card. Pinned and managed
// memory has the host's addresses for the program; they are found by value in
// parameters of kernels.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FAKECUDART_DEVICEMEMORY_H
#define BLOCKSCALE_TEST_FAKECUDART_DEVICEMEMORY_H

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace capture {

struct FreeBytes {
  void operator()(uint8_t *bytes) const { std::free(bytes); }
};

struct Buffer {
  /// Its index among the buffers of a launch.
  unsigned number;
  /// For the program.
  uint64_t address;
  uint64_t size;
  std::unique_ptr<uint8_t[], FreeBytes> bytes;
  bool isHost = false;
};

/// Regions of the simulator's addresses in front of those of buffers: for the
/// variables of a module. As many that buffers are at no addresses of a host.
inline constexpr unsigned kVariableRegions = 496;
/// How many buffers there are at most at a time. Memory that kernels allocate
/// is behind that of so many.
inline constexpr unsigned kMaxBuffers = 4096;

class DeviceMemory {
public:
  static DeviceMemory &get();

  /// Adds memory; null if that is too much, or too many. Its bytes are not
  /// zero, as those of a card need not be.
  Buffer *allocate(uint64_t size, bool isHost);
  /// Whether there was a buffer that starts there.
  bool free(uint64_t address);

  /// The buffer that an address is in, or right behind; null if there is none.
  Buffer *lookup(uint64_t address);

  /// Where `size` bytes at an address are; those of buffers as well as others
  /// of the host. Null if they leave a buffer or are in none.
  uint8_t *translate(const void *address, uint64_t size);

  /// By number; null where there is no longer one.
  const std::vector<Buffer *> &getBuffers() const { return numbered; }

private:
  std::optional<unsigned> takeNumber();

  std::map<uint64_t, Buffer> buffers;
  std::vector<Buffer *> numbered;
  /// The numbers of those that are freed, in this order.
  std::deque<unsigned> freed;
};

} // namespace capture

#endif // BLOCKSCALE_TEST_FAKECUDART_DEVICEMEMORY_H
