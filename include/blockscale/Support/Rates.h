//===- Rates.h - Rates of chips ---------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Published rates of the units of a chip, for estimates that choose between
// schedules. A figure without a source is absent; an estimate that needs it
// uses that of an older chip, and says so.
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

  /// The compute capability, as in the chip table, and the name of the card.
  unsigned capability;
  std::string_view product;

  Figure sms;
  /// The highest clock, in MHz.
  Figure megahertz;

  /// For one SM and one clock: floating point operations (a multiplication and
  /// an addition are two) of dense instructions with bf16, with operands of
  /// kind mxf8f6f4, and with those of mxf4 and mxf4nvf4.
  Figure bf16Flops, byteFlops, nibbleFlops;
  /// Operations of an instruction with a sparse A, along all of K, in the time
  /// of one of a dense instruction (not of K = 96).
  Figure sparseFactor;
  /// Bytes read from shared memory.
  Figure sharedBytes;
  /// Bytes that `tcgen05.ld` reads from tensor memory.
  Figure tensorMemoryBytes;
  /// Bytes read from the L2 cache.
  Figure l2Bytes;
  /// Instructions that warps issue.
  Figure issuedInstructions;

  /// From the start of a bulk copy until its bytes are in shared memory, in
  /// clocks.
  Figure copyLatency;
  /// The bandwidth of memory, in 10^9 bytes per second.
  Figure memoryGigabytes;

  /// For one SM and one clock: results of additions, multiplications and fused
  /// multiply-adds of f32, and of f64.
  Figure floatResults = std::nullopt, doubleResults = std::nullopt;
  /// Operations of `mma.sync`: with bf16; with fp8; with integers of 8 and of 4
  /// bits; with f64.
  Figure syncFlops = std::nullopt, syncByteFlops = std::nullopt,
         syncByteOperations = std::nullopt, syncNibbleOperations = std::nullopt,
         syncDoubleFlops = std::nullopt;
  /// Latencies in clocks: of an addition; of a matrix instruction of a warp,
  /// beyond the time that it occupies the unit; of a load from shared memory,
  /// from the L2 cache, and from memory.
  Figure arithmeticLatency = std::nullopt, matrixLatency = std::nullopt,
         sharedLatency = std::nullopt, l2Latency = std::nullopt,
         memoryLatency = std::nullopt;
  /// The latency of a bulk copy of few bytes from the L2 cache. Unlike
  /// copyLatency, it does not include the overhead of a pipeline of stages.
  Figure bulkLatency = std::nullopt;
  /// Latencies in clocks: of asynchronous matrix instructions, beyond the time
  /// that they occupy the unit; from the arrival at an mbarrier until a waiting
  /// warp continues; and the same for the last warp at a barrier of the block.
  Figure tensorLatency = std::nullopt, barrierLatency = std::nullopt,
         blockBarrierLatency = std::nullopt;
};

/// The lengths of the queues of warps' accesses in front of shared memory, and
/// of the path to the L2 cache, in clocks of work. No such figures of chips are
/// published: these are parameters of the replay, chosen and not measured.
inline constexpr int64_t kSharedQueueClocks = 64, kGlobalQueueClocks = 256;

/// All rows, by compute capability.
const std::vector<ChipRates> &getChipRates();

/// The row of a compute capability, or null.
const ChipRates *lookupChipRates(unsigned capability);

/// A figure for an estimate.
struct Rate {
  int64_t value = 0;
  /// The chip that the figure belongs to.
  const ChipRates *source = nullptr;
  /// Whether none is published for the chip itself.
  bool isAssumed = false;
};

/// The figure of the chip with this compute capability or, if it has none, of
/// the next older chip that has one; nullopt if none has.
std::optional<Rate> findRate(unsigned capability,
                             ChipRates::Figure ChipRates::*figure);

/// The same or, if no older chip has one either, that of the oldest chip that
/// has one; nullopt if no chip has.
std::optional<Rate> findAnyRate(unsigned capability,
                                ChipRates::Figure ChipRates::*figure);

/// The member of ChipRates with the operations of instructions of `kind`.
ChipRates::Figure ChipRates::*getFlopsFigure(Kind kind);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_RATES_H
