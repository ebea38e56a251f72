//===- DeviceMemory.cpp - Memory that programs take for a card's ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers, their addresses and their bytes.
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace capture;

/// As far as a buffer has it in the simulator: programs that count on more than
/// cudaMalloc promises do not get away with it.
static constexpr uint64_t kAlignment = 256;
/// Addresses next to a buffer are no other buffer's.
static constexpr uint64_t kGap = uint64_t(1) << 20;
/// What nobody has written.
static constexpr int kFiller = 0xA5;

DeviceMemory &DeviceMemory::get() {
  // Programs free memory until the very end.
  static DeviceMemory &memory = *new DeviceMemory;
  return memory;
}

DeviceMemory::DeviceMemory() {
  void *range = mmap(nullptr, kRangeBytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    std::perror("error: cannot reserve addresses");
    std::exit(1);
  }
  start = reinterpret_cast<uint64_t>(range);
  next = start + kGap;
}

Buffer *DeviceMemory::allocate(uint64_t size, bool isHost) {
  if (size > kRangeBytes - kGap || next - start > kRangeBytes - kGap - size)
    return nullptr;
  Buffer buffer = {0, size, nullptr, isHost};
  buffer.bytes.reset(static_cast<uint8_t *>(std::aligned_alloc(
      kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment)));
  if (!buffer.bytes)
    return nullptr;
  std::memset(buffer.bytes.get(), kFiller, size);
  if (isHost) {
    buffer.address = reinterpret_cast<uint64_t>(buffer.bytes.get());
  } else {
    // A multiple of the alignment, and of no more.
    buffer.address =
        (next + 2 * kAlignment - 1) / (2 * kAlignment) * (2 * kAlignment) +
        kAlignment;
    next = buffer.address + size + kGap;
  }
  uint64_t address = buffer.address;
  return &buffers.emplace(address, std::move(buffer)).first->second;
}

bool DeviceMemory::free(uint64_t address) { return buffers.erase(address); }

Buffer *DeviceMemory::lookup(uint64_t address) {
  auto behind = buffers.upper_bound(address);
  if (behind == buffers.begin())
    return nullptr;
  Buffer &buffer = std::prev(behind)->second;
  return address - buffer.address <= buffer.size ? &buffer : nullptr;
}

uint8_t *DeviceMemory::translate(const void *pointer, uint64_t size) {
  uint64_t address = reinterpret_cast<uint64_t>(pointer);
  if (!isInRange(address))
    return static_cast<uint8_t *>(const_cast<void *>(pointer));
  Buffer *buffer = lookup(address);
  if (!buffer || size > buffer->address + buffer->size - address)
    return nullptr;
  return buffer->bytes.get() + (address - buffer->address);
}
