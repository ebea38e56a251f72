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

#include "Card.h"
#include "Memory/Storage.h"

#include <cstring>

using namespace capture;
using mlir::blockscale::sim::GlobalMemory;

/// As far as a buffer has it in the simulator: programs that count on more than
/// cudaMalloc promises do not get away with it.
static constexpr uint64_t kAlignment = 256;
/// The byte of memory that was never written.
static constexpr int kFiller = 0xA5;

static uint64_t getDeviceAddress(unsigned number) {
  return GlobalMemory::getAddress(kVariableRegions + number, kAlignment);
}

static bool isDeviceAddress(uint64_t address) {
  return address >= getDeviceAddress(0);
}

DeviceMemory &DeviceMemory::get() {
  // Programs free memory until the very end.
  static DeviceMemory &memory = *new DeviceMemory;
  return memory;
}

/// Addresses of freed buffers are reused as late as possible: until then, their
/// use is an error.
std::optional<unsigned> DeviceMemory::takeNumber() {
  if (numbered.size() != kMaxBuffers) {
    numbered.push_back(nullptr);
    return numbered.size() - 1;
  }
  if (freed.empty())
    return std::nullopt;
  unsigned number = freed.front();
  freed.pop_front();
  return number;
}

Buffer *DeviceMemory::allocate(uint64_t size, bool isHost) {
  if (size > kMemoryBytes)
    return nullptr;
  Buffer buffer = {0, 0, size, nullptr, isHost};
  buffer.bytes.reset(static_cast<uint8_t *>(std::aligned_alloc(
      kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment)));
  if (!buffer.bytes)
    return nullptr;
  std::optional<unsigned> number = takeNumber();
  if (!number)
    return nullptr;
  std::memset(buffer.bytes.get(), kFiller, size);
  buffer.number = *number;
  buffer.address = isHost ? reinterpret_cast<uint64_t>(buffer.bytes.get())
                          : getDeviceAddress(*number);
  uint64_t address = buffer.address;
  return numbered[*number] =
             &buffers.emplace(address, std::move(buffer)).first->second;
}

bool DeviceMemory::free(uint64_t address) {
  auto found = buffers.find(address);
  if (found == buffers.end())
    return false;
  numbered[found->second.number] = nullptr;
  freed.push_back(found->second.number);
  buffers.erase(found);
  return true;
}

Buffer *DeviceMemory::lookup(uint64_t address) {
  auto behind = buffers.upper_bound(address);
  if (behind == buffers.begin())
    return nullptr;
  Buffer &buffer = std::prev(behind)->second;
  return address - buffer.address <= buffer.size ? &buffer : nullptr;
}

uint8_t *DeviceMemory::translate(const void *pointer, uint64_t size) {
  uint64_t address = reinterpret_cast<uint64_t>(pointer);
  if (!isDeviceAddress(address))
    return static_cast<uint8_t *>(const_cast<void *>(pointer));
  Buffer *buffer = lookup(address);
  if (!buffer || size > buffer->address + buffer->size - address)
    return nullptr;
  return buffer->bytes.get() + (address - buffer->address);
}
