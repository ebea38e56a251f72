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

/// How an instruction names memory.
enum class AddressSpace : uint8_t {
  Generic,
  Const,
  Global,
  Local,
  Param,
  /// Of the own block.
  Shared,
  /// Of any block of the cluster; where it is the own one's, Shared.
  SharedCluster,
};
inline constexpr unsigned kNumAddressSpaces = 7;

/// An address and an immediate offset: windows of 32 bits wrap round, as
/// compilers count on that make `base - 4 * i` and add the rest as an offset.
inline uint64_t addOffset(AddressSpace space, uint64_t base, int64_t offset) {
  bool isNarrow = space == AddressSpace::Shared ||
                  space == AddressSpace::SharedCluster ||
                  space == AddressSpace::Local;
  uint64_t sum = base + offset;
  return isNarrow && base <= UINT32_MAX ? static_cast<uint32_t>(sum) : sum;
}

enum class AccessKind : uint8_t { Load, Store, Atomic };

/// What an access tells of, or learns of, others through memory. Relaxed is
/// what atomic and volatile accesses are, too.
enum class MemoryOrder : uint8_t {
  Weak,
  Relaxed,
  Acquire,
  Release,
  AcquireRelease,
};

/// Global memory is moved in sectors; a wavefront takes a word from each bank
/// of shared memory.
inline constexpr uint64_t kSectorBytes = 32;
inline constexpr uint64_t kBankBytes = 4;
inline constexpr unsigned kBanks = 32;
inline constexpr uint64_t kWavefrontBytes = kBankBytes * kBanks;

/// One access of a warp, for those who watch: addresses are offsets in the
/// window where the space is shared or local.
struct WarpAccess {
  AddressSpace space = AddressSpace::Generic;
  AccessKind kind = AccessKind::Load;
  MemoryOrder order = MemoryOrder::Weak;
  LaneMask lanes = 0;
  /// Those that store the value which a lane below stores at the same address.
  LaneMask repeated = 0;
  /// Bytes of each lane.
  unsigned size = 0;
  /// What the lanes of a store have stored, `size` bytes each, if somebody
  /// looks for races; memory has only the last one's where several lanes store.
  const uint8_t *stored = nullptr;
  /// The bytes of a lane's address are those of other lanes, too (ldmatrix).
  bool isCollective = false;
  /// An asynchronous copy begins.
  bool isAsync = false;
  /// Bytes of a bulk copy, which recordings are told of elsewhere.
  bool isBulk = false;
  std::array<uint64_t, kLanes> addresses;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MEMORY_WARPACCESS_H
