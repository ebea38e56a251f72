//===- Storage.cpp - Allocations and the bytes in them --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allocates bytes and their states. States are allocated on demand, as most
// buffers never need them.
//
//===----------------------------------------------------------------------===//

#include "Memory/Storage.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemAlloc.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

std::string sim::printHex(uint64_t value) {
  return "0x" + llvm::utohexstr(value, /*LowerCase=*/true);
}

Storage::Bytes Storage::allocateZeros(uint64_t size) {
  return Bytes(static_cast<uint8_t *>(llvm::safe_calloc(size, 1)));
}

uint8_t *Storage::ensureStates() {
  if (uint8_t *states = this->states())
    return states;
  std::lock_guard<std::mutex> lock(mutex);
  if (!ownedStates) {
    ownedStates = allocateZeros(numBytes);
    current.store(ownedStates.get(), std::memory_order_release);
  }
  return ownedStates.get();
}

GlobalMemory::Allocation *GlobalMemory::find(const Storage *storage) {
  for (Allocation &allocation : allocations)
    if (&allocation.storage == storage)
      return &allocation;
  return nullptr;
}

/// A few are enough: a message names only the first undefined byte.
static constexpr size_t kMostUndefinedStores = 64;

std::pair<uint64_t, uint64_t>
GlobalMemory::Allocation::getLines(uint64_t at, uint64_t size) const {
  uint64_t begin = at - address,
           end = std::min<uint64_t>(begin + size, storage.size());
  if (begin >= end)
    return {0, 0};
  return {begin / kLineBytes, (end - 1) / kLineBytes + 1};
}

uint32_t GlobalMemory::Allocation::getLastWriter(uint64_t at,
                                                 uint64_t size) const {
  if (!hasWriters.load(std::memory_order_acquire))
    return 0;
  uint32_t last = 0;
  auto [line, end] = getLines(at, size);
  for (; line != end; ++line)
    last = std::max(last, writers[line].load(std::memory_order_relaxed));
  return last;
}

void GlobalMemory::Allocation::noteWriter(uint64_t at, uint64_t size,
                                          uint32_t kernel) {
  std::call_once(makesWriters, [&] {
    writers = std::make_unique<std::atomic<uint32_t>[]>(
        storage.size() / kLineBytes + 1);
    hasWriters.store(true, std::memory_order_release);
  });
  auto [line, end] = getLines(at, size);
  for (; line != end; ++line)
    writers[line].store(kernel, std::memory_order_relaxed);
}

bool GlobalMemory::Allocation::wantsUndefinedStore(uint64_t offset,
                                                   uint32_t line) {
  std::lock_guard<std::mutex> lock(undefinedMutex);
  auto found = undefinedStores.find(offset);
  if (found != undefinedStores.end())
    return found->second.line != line;
  return undefinedStores.size() < kMostUndefinedStores ||
         offset < undefinedStores.rbegin()->first;
}

void GlobalMemory::Allocation::noteUndefinedStore(uint64_t offset,
                                                  UndefinedStore store) {
  std::lock_guard<std::mutex> lock(undefinedMutex);
  undefinedStores[offset] = std::move(store);
  if (undefinedStores.size() > kMostUndefinedStores)
    undefinedStores.erase(std::prev(undefinedStores.end()));
}

GlobalMemory::Allocation &GlobalMemory::map(std::string name, uint8_t *bytes,
                                            uint64_t size, uint64_t alignment) {
  uint64_t address = getAddress(allocations.size(), alignment);
  return allocations.emplace_back(std::move(name), address, bytes, size);
}

GlobalMemory::Allocation &
GlobalMemory::allocate(std::string name, uint64_t size, uint64_t alignment) {
  uint64_t address = getAddress(allocations.size(), alignment);
  return allocations.emplace_back(std::move(name), address, size);
}
