//===- Card.h - The card that programs see ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs ask which card there is, and choose kernels, grids and sizes by
// that. The card is that of the chip which the PTX is for, with few
// SMs.
//
// Environment:
//   BLOCKSCALE_CAPTURE_CHIP=sm_100a         the chip; the highest of the first
//                                           PTX by default
//   BLOCKSCALE_CAPTURE_MULTIPROCESSORS=8    how many it has
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FAKECUDART_CARD_H
#define BLOCKSCALE_TEST_FAKECUDART_CARD_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace capture {

/// A row of a table.
struct Card {
  /// The compute capability times ten.
  unsigned capability;
  /// Of a SM.
  unsigned sharedKiB, threads, blocks;

  /// What a block may have with cudaFuncAttributeMaxDynamicSharedMemorySize;
  /// the driver keeps 1 KiB for each block.
  unsigned getBlockSharedBytes() const { return (sharedKiB - 1) * 1024; }
};

/// What a block may have without asking for more, in bytes.
inline constexpr unsigned kDefaultSharedBytes = 48 * 1024;
inline constexpr unsigned kMaxThreadsPerBlock = 1024;
/// Blocks of a cluster, and with
/// cudaFuncAttributeNonPortableClusterSizeAllowed.
inline constexpr unsigned kMaxPortableClusterSize = 8, kMaxClusterSize = 16;
inline constexpr uint32_t kMaxBlock[] = {1024, 1024, 64};
inline constexpr uint32_t kMaxGrid[] = {INT32_MAX, 65535, 65535};
inline constexpr unsigned kWarpSize = 32;
/// Of the card.
inline constexpr uint64_t kMemoryBytes = uint64_t(1) << 34;

/// Orders chips, such as "sm_90", "sm_100f" and "sm_100a": ten times the
/// compute capability times ten, and one or two for the letter. Nothing for
/// other words.
std::optional<unsigned> rankChip(std::string_view chip);

/// Such as "sm_100a"; empty where nobody has said.
const std::string &getChip();
/// Says which chip there is, if the environment does not.
void proposeChip(const std::string &chip);

/// The row of the chip. Ends the program where that is none that is known.
const Card &getCard();
unsigned countSms();

} // namespace capture

#endif // BLOCKSCALE_TEST_FAKECUDART_CARD_H
