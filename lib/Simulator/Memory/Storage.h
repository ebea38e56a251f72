//===- Storage.h - Allocations and the bytes in them ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generic addresses have the number of a region in bits 40 and up and an offset
// in it below. Region 0 is never mapped, so that null and small numbers are no
// addresses; the shared and local windows have regions of their own; every
// allocation in global memory gets the next region. So an address outside of
// its allocation never hits another one.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MEMORY_STORAGE_H
#define BLOCKSCALE_LIB_SIMULATOR_MEMORY_STORAGE_H

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace mlir::blockscale::sim {

inline constexpr unsigned kRegionBits = 40;
inline constexpr uint64_t kSharedRegion = 1;
inline constexpr uint64_t kLocalRegion = 2;
inline constexpr uint64_t kParamRegion = 3;
inline constexpr uint64_t kFunctionRegion = 4;
inline constexpr uint64_t kFirstGlobalRegion = 16;

/// Functions are far apart, so that an address plus a small offset is not
/// another function.
inline constexpr unsigned kFunctionOffsetBits = 12;
/// The address of the function with a number in the module.
inline constexpr uint64_t getFunctionAddress(uint64_t number) {
  return (kFunctionRegion << kRegionBits) + (number << kFunctionOffsetBits);
}

/// An address in shared memory, generic or not, has the rank of its block in
/// the cluster in these bits, and an offset below. Shipped kernels rely on
/// that: they clear bit 24 for the even block of a CTA pair.
inline constexpr unsigned kSharedOffsetBits = 24;
inline constexpr uint64_t getSharedOffset(uint64_t address) {
  return address & ((uint64_t(1) << kSharedOffsetBits) - 1);
}

inline constexpr uint64_t getRegion(uint64_t address) {
  return address >> kRegionBits;
}
inline constexpr uint64_t getRegionBase(uint64_t region) {
  return region << kRegionBits;
}
inline constexpr uint64_t getRegionOffset(uint64_t address) {
  return address & ((uint64_t(1) << kRegionBits) - 1);
}

/// An address or mask for a message: 0x and lower-case digits.
std::string printHex(uint64_t value);

/// The state of one byte of memory; several bits may be set.
enum ByteState : uint8_t {
  /// It has never been given a value.
  ByteUndefined = 1,
  /// An asynchronous copy is going to write it.
  BytePending = 2,
  /// It belongs to no variable.
  ByteUnmapped = 4,
  /// It is part of an mbarrier object, which only mbarrier instructions may
  /// access.
  ByteMBarrier = 8,
  /// Asynchronous reductions are going to change it; other atomic accesses may
  /// change it meanwhile.
  ByteReducing = 16,
  /// It belongs to a buffer that begins with zeros, and has not been written.
  ByteUnwritten = 32,
};

/// Bytes with their states. The states are allocated for the first byte that is
/// not defined; most buffers of a launch never have one. Blocks that run at the
/// same time may access one storage.
class Storage {
public:
  /// Memory of its own, zeroed.
  explicit Storage(uint64_t size)
      : owned(allocateZeros(size)), bytes(owned.get()), numBytes(size) {}
  /// Memory that the caller owns.
  Storage(uint8_t *bytes, uint64_t size) : bytes(bytes), numBytes(size) {}

  uint8_t *data() const { return bytes; }
  uint64_t size() const { return numBytes; }

  /// The states; null while all bytes are defined.
  uint8_t *states() const { return current.load(std::memory_order_acquire); }
  /// The states, allocated if there are none.
  uint8_t *ensureStates();

private:
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };
  using Bytes = std::unique_ptr<uint8_t[], Free>;
  /// Pages that are never accessed cost nothing.
  static Bytes allocateZeros(uint64_t size);

  Bytes owned;
  uint8_t *bytes;
  uint64_t numBytes;
  std::atomic<uint8_t *> current{nullptr};
  std::mutex mutex;
  Bytes ownedStates;
};

/// The bytes of one access. `states` is null while the storage has none;
/// `storage` can allocate them.
struct Span {
  uint8_t *bytes = nullptr;
  uint8_t *states = nullptr;
  Storage *storage = nullptr;

  /// The bytes from `offset` on.
  Span at(uint64_t offset) const {
    return {bytes + offset, states ? states + offset : nullptr, storage};
  }

  uint8_t *ensureStates() {
    if (!states)
      states = storage->ensureStates() + (bytes - storage->data());
    return states;
  }
};

/// The allocations of a launch: buffers, workspace and module variables. The
/// list is fixed before the first block runs, except for allocations on the
/// heap; kernels with those run their blocks one after another.
class GlobalMemory {
public:
  struct Allocation {
    Allocation(std::string name, uint64_t address, uint8_t *bytes,
               uint64_t size)
        : name(std::move(name)), address(address), storage(bytes, size) {}
    Allocation(std::string name, uint64_t address, uint64_t size)
        : name(std::move(name)), address(address), storage(size) {}

    std::string name;
    uint64_t address;
    Storage storage;
    /// In the .const state space, which is read-only.
    bool isConstant = false;
    /// Was on the heap and has been freed. Its bytes are kept, as asynchronous
    /// operations may refer to them.
    bool isFreed = false;
    /// Which kernel of the run, counted from 1, was the last one to store to
    /// these bytes, or to some beside them; 0 for none, and without race
    /// detection.
    uint32_t getLastWriter(uint64_t at, uint64_t size) const;
    void noteWriter(uint64_t at, uint64_t size, uint32_t kernel);
    /// A store of undefined values: how many bytes, and its description for
    /// messages. Those at the lowest offsets are kept.
    struct UndefinedStore {
      uint64_t size;
      uint32_t line;
      std::string text;
    };
    std::map<uint64_t, UndefinedStore> undefinedStores;
    std::mutex undefinedMutex;
    /// The last writers of lines, once there is one. Buffers that share an
    /// allocation, such as those of a workspace, are in different lines.
    /// Atomic, as blocks run on several host threads.
    static constexpr uint64_t kLineBytes = 256;
    /// The first line of bytes, and the one behind their last one.
    std::pair<uint64_t, uint64_t> getLines(uint64_t at, uint64_t size) const;
    std::unique_ptr<std::atomic<uint32_t>[]> writers;
    std::atomic<bool> hasWriters = false;
    std::once_flag makesWriters;
    /// Whether a store at an offset is to be noted.
    bool wantsUndefinedStore(uint64_t offset, uint32_t line);
    void noteUndefinedStore(uint64_t offset, UndefinedStore store);
  };

  /// Adds memory that the caller owns. Its generic address is a multiple of
  /// `alignment` but not of twice that, so that a kernel that relies on a
  /// larger alignment fails.
  Allocation &map(std::string name, uint8_t *bytes, uint64_t size,
                  uint64_t alignment);
  /// Adds zeroed memory.
  Allocation &allocate(std::string name, uint64_t size, uint64_t alignment);

  /// Whether a block lets the next kernel start before it has waited for the
  /// previous one; known only with race detection.
  std::atomic<bool> startsNextEarly = false;

  /// The allocation whose region an address is in; null if there is none.
  Allocation *lookup(uint64_t address) {
    uint64_t index = getRegion(address) - kFirstGlobalRegion;
    bool isThere = index < allocations.size() && !allocations[index].isFreed;
    return isThere ? &allocations[index] : nullptr;
  }

  /// The allocation of these bytes; null if there is none.
  Allocation *find(const Storage *storage);

  /// The address of allocation number `index`.
  static uint64_t getAddress(uint64_t index, uint64_t alignment) {
    return getRegionBase(kFirstGlobalRegion + index) + alignment;
  }

private:
  std::deque<Allocation> allocations;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MEMORY_STORAGE_H
