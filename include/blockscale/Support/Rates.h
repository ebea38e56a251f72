//===- Rates.h - How fast chips are -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Published rates of the units of a chip, for estimates that choose between
// schedules. A figure without a source is absent; an estimate that needs one
// takes that of an older chip, and says so.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_RATES_H
#define BLOCKSCALE_SUPPORT_RATES_H

#include "blockscale/Support/InstructionTable.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// The rates of one product with a compute capability. Products of the same
/// capability differ in SMs, clock and memory.
struct ChipRates {
  using Figure = std::optional<int64_t>;

  /// As in the chip table, and whose figures these are.
  unsigned capability;
  std::string_view product;

  Figure sms;
  /// The highest clock, in MHz.
  Figure megahertz;

  /// Of one SM, in each clock: floating point operations (a
  /// multiplication and an addition are two) of dense instructions with bf16,
  /// with operands of kind mxf8f6f4, and with those of mxf4 and mxf4nvf4.
  Figure bf16Flops, byteFlops, nibbleFlops;
  /// Bytes that shared memory gives.
  Figure sharedBytes;
  /// Bytes that `tcgen05.ld` reads of tensor memory.
  Figure tensorMemoryBytes;
  /// Bytes that come from the L2 cache.
  Figure l2Bytes;
  /// Instructions that warps issue.
  Figure issuedInstructions;

  /// From the start of a bulk copy until its bytes are in shared memory, in
  /// clocks.
  Figure copyLatency;
  /// Of memory, in 10^9 bytes per second.
  Figure memoryGigabytes;

  /// Of one SM, in each clock: results of additions,
  /// multiplications and both in one of f32, and of f64.
  Figure floatResults = std::nullopt, doubleResults = std::nullopt;
  /// Operations of `mma.sync`: with bf16; with fp8; with integers of 8 and of 4
  /// bits; with f64.
  Figure syncFlops = std::nullopt, syncByteFlops = std::nullopt,
         syncByteOperations = std::nullopt, syncNibbleOperations = std::nullopt,
         syncDoubleFlops = std::nullopt;
  /// In clocks: until the result of an addition is there; of a matrix
  /// instruction of a warp, beyond the time that it takes; of a load of shared
  /// memory, of one that the L2 cache has, of one that it has not.
  Figure arithmeticLatency = std::nullopt, matrixLatency = std::nullopt,
         sharedLatency = std::nullopt, l2Latency = std::nullopt,
         memoryLatency = std::nullopt;
  /// The same of a bulk copy of few bytes that the L2 cache has. Unlike
  /// copyLatency without what a ring of stages needs beyond that.
  Figure bulkLatency = std::nullopt;
  /// The same of asynchronous matrix instructions, beyond the time that they
  /// take; from the arrival at an mbarrier object, and from that of the last
  /// warp at a barrier of the block, until a warp that waits goes on.
  Figure tensorLatency = std::nullopt, barrierLatency = std::nullopt,
         blockBarrierLatency = std::nullopt;
};

/// How far in front of shared memory, and of the way to the L2 cache, accesses
/// of warps queue, in clocks that these take for them. No figures of chips,
/// which nobody has published, but parameters of the replay: chosen, not
/// measured.
inline constexpr int64_t kSharedQueueClocks = 64, kGlobalQueueClocks = 256;

/// All rows, by compute capability.
const std::vector<ChipRates> &getChipRates();

/// The row of a compute capability, or null.
const ChipRates *lookupChipRates(unsigned capability);

/// A figure that an estimate can count on.
struct Rate {
  int64_t value = 0;
  /// Whose figure it is.
  const ChipRates *source = nullptr;
  /// Whether none is published for the chip itself.
  bool isAssumed = false;
};

/// The figure of the chip with this compute capability or, where it has none,
/// of the next older chip that has one; nullopt if none has.
std::optional<Rate> findRate(unsigned capability,
                             ChipRates::Figure ChipRates::*figure);

/// The same or, where no older chip has one either, that of the oldest chip
/// that has one; nullopt if no chip has.
std::optional<Rate> findAnyRate(unsigned capability,
                                ChipRates::Figure ChipRates::*figure);

/// Operations of instructions of `kind`, a member of ChipRates.
ChipRates::Figure ChipRates::*getFlopsFigure(Kind kind);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_RATES_H
