//===- WarpAccess.h - Accesses of a warp to memory --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MEMORY_WARPACCESS_H
#define BLOCKSCALE_LIB_SIMULATOR_MEMORY_WARPACCESS_H

#include "Machine/Lanes.h"

namespace mlir::blockscale::sim {

/// The state space that an instruction names.
enum class AddressSpace : uint8_t {
  Generic,
  Const,
  Global,
  Local,
  Param,
  /// Shared memory of the own block.
  Shared,
  /// Shared memory of any block of the cluster; resolved to Shared for the own
  /// block.
  SharedCluster,
};
inline constexpr unsigned kNumAddressSpaces = 7;

/// Adds an immediate offset to an address. 32-bit windows wrap around, which
/// compilers rely on: they compute `base - 4 * i` and add the rest as an
/// offset.
inline uint64_t addOffset(AddressSpace space, uint64_t base, int64_t offset) {
  bool isNarrow = space == AddressSpace::Shared ||
                  space == AddressSpace::SharedCluster ||
                  space == AddressSpace::Local;
  uint64_t sum = base + offset;
  return isNarrow && base <= UINT32_MAX ? static_cast<uint32_t>(sum) : sum;
}

enum class AccessKind : uint8_t { Load, Store, Atomic };

/// How an access synchronizes with others. Atomic and volatile accesses count
/// as relaxed.
enum class MemoryOrder : uint8_t {
  Weak,
  Relaxed,
  Acquire,
  Release,
  AcquireRelease,
};

/// Global memory is accessed in sectors; a wavefront reads a 32-bit word from
/// each bank of shared memory.
inline constexpr uint64_t kSectorBytes = 32;
inline constexpr uint64_t kBankBytes = 4;
inline constexpr unsigned kBanks = 32;
inline constexpr uint64_t kWavefrontBytes = kBankBytes * kBanks;

/// One access of a warp, for observers. For shared and local memory, addresses
/// are offsets in the window.
struct WarpAccess {
  AddressSpace space = AddressSpace::Generic;
  AccessKind kind = AccessKind::Load;
  MemoryOrder order = MemoryOrder::Weak;
  LaneMask lanes = 0;
  /// Lanes that store the same value at the same address as a lower lane.
  LaneMask repeated = 0;
  /// Bytes of each lane.
  unsigned size = 0;
  /// The bytes that the lanes of a store have stored, `size` for each, with
  /// race detection; memory has only those of the last lane if several store to
  /// one address.
  const uint8_t *stored = nullptr;
  /// The bytes at a lane's address also count as accessed by the other lanes
  /// (ldmatrix).
  bool isCollective = false;
  /// An asynchronous copy begins.
  bool isAsync = false;
  /// Bytes of a bulk copy, which is recorded elsewhere.
  bool isBulk = false;
  std::array<uint64_t, kLanes> addresses;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MEMORY_WARPACCESS_H
