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
// multiprocessors.
//
// Environment:
//   BLOCKSCALE_CAPTURE_CHIP=sm_100a         the chip; that of the first PTX by
//                                           default
//   BLOCKSCALE_CAPTURE_MULTIPROCESSORS=8    how many it has
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_BENCHMARKS_CAPTURE_CARD_H
#define BLOCKSCALE_BENCHMARKS_CAPTURE_CARD_H

#include <string>

namespace capture {

/// A row of a table.
struct Card {
  /// The compute capability times ten.
  unsigned capability;
  /// Of a multiprocessor.
  unsigned sharedKiB, threads, blocks;

  /// What a block may have with cudaFuncAttributeMaxDynamicSharedMemorySize;
  /// the driver keeps 1 KiB for each block.
  unsigned getBlockSharedBytes() const { return (sharedKiB - 1) * 1024; }
};

/// What a block may have without asking for more, in bytes.
inline constexpr unsigned kDefaultSharedBytes = 48 * 1024;
inline constexpr unsigned kMaxThreadsPerBlock = 1024;
inline constexpr unsigned kWarpSize = 32;

/// Such as "sm_100a"; empty where nobody has said.
const std::string &getChip();
/// Says which chip there is, if the environment does not.
void proposeChip(const std::string &chip);

/// The row of the chip; that of sm_90 where there is none.
const Card &getCard();
unsigned countMultiprocessors();

} // namespace capture

#endif // BLOCKSCALE_BENCHMARKS_CAPTURE_CARD_H
