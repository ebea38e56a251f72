//===- TensorMemory.h - The tensor memory of an SM --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 128 lanes of 512 cells of 32 bits. Columns are allocated to blocks. Every
// cell keeps its last write and last reads, so that a missing `tcgen05.fence`
// between two warps can be found.
//
// Source: PTX ISA, sections 9.7.16.1 "Tensor memory", 9.7.16.6 "Memory
// consistency model", 9.7.16.7 "Allocation and management".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TENSORMEMORY_H
#define BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TENSORMEMORY_H

#include "Machine/Lanes.h"
#include "Memory/Races.h"

#include "llvm/ADT/StringRef.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace mlir::blockscale::sim {

class Block;

inline constexpr unsigned kTensorLanes = 128;
inline constexpr unsigned kTensorColumns = 512;
/// Columns are allocated in units of 32.
inline constexpr unsigned kTensorUnit = 32;
/// Lanes that one warp of a warpgroup can access.
inline constexpr unsigned kTensorWarpLanes = 32;

/// An address in tensor memory: the lane in the upper half of 32 bits, the
/// column in the lower one.
struct Tcgen05Address {
  unsigned lane, column;

  static Tcgen05Address decode(uint32_t bits) {
    return {bits >> 16, bits & 0xFFFF};
  }
  uint32_t encode() const { return lane << 16 | column; }
};

/// The lowest bit of an fp4 or fp6 element in its byte of tensor memory.
unsigned getByteShift(unsigned bits);

using Tcgen05Lanes = std::bitset<kTensorLanes>;

/// A mask of `count` lanes from `first` on.
Tcgen05Lanes makeTensorLanes(unsigned first, unsigned count);

/// The same columns of some lanes.
struct TensorRegion {
  Tcgen05Lanes lanes;
  unsigned column, numColumns;

  bool overlaps(const TensorRegion &other) const {
    return column < other.column + other.numColumns &&
           other.column < column + numColumns && (lanes & other.lanes).any();
  }
};

enum class Tcgen05AccessKind : uint8_t {
  Load,
  Store,
  Multiply,
  Copy,
  /// tcgen05.cp.4x256b, the only copy that is ordered behind a shift.
  CopyOf4,
  Shift,
};

/// The name of the instruction.
llvm::StringRef getName(Tcgen05AccessKind kind);

/// An access of cells, for messages and for the rules of order.
struct Tcgen05Access {
  Tcgen05AccessKind kind;
  unsigned warp;
  /// The lanes of the warp that take part.
  LaneMask lanes;
  uint32_t line;
  /// For mma: equal for instructions with the same accumulator, shape and kind.
  uint64_t accumulator = 0;
  /// When it was begun and completed; `completed` is empty while it is in
  /// flight.
  uint64_t begun = 0;
  std::optional<uint64_t> completed;
  /// For race detection: the time of its completion (for ld and st, of its
  /// issue), behind which warps that have waited for it are ordered.
  AgentTime time;

  /// Whether tcgen05.commit completes it; else tcgen05.wait does.
  bool isCommitted() const { return kind >= Tcgen05AccessKind::Multiply; }
};

/// Fences of all warps of a group of blocks, with the time of each.
class Tcgen05Fences {
public:
  explicit Tcgen05Fences(unsigned numWarps) : fences(numWarps) {}

  void before(unsigned warp, LaneMask lanes, uint64_t time) {
    fences[warp].before.add(lanes, time);
  }
  void after(unsigned warp, LaneMask lanes, uint64_t time) {
    fences[warp].after.add(lanes, time);
  }

  /// The fence that is missing between an access and a later one of some lanes
  /// of a warp, or null. `needsAfter` is false for dealloc.
  const char *findMissing(const Tcgen05Access &first, unsigned warp,
                          LaneMask lanes, bool needsAfter = true) const;

private:
  /// The times of fences of one kind, in order.
  class Times {
  public:
    void add(LaneMask lanes, uint64_t time);
    /// The time at which all of some lanes have executed a fence after a time.
    std::optional<uint64_t> findBehind(uint64_t time, LaneMask lanes) const;

  private:
    /// The fences of all lanes together, and those of fewer lanes.
    std::vector<uint64_t> ofAll;
    std::map<unsigned, std::vector<uint64_t>> ofLane;
  };
  struct OfWarp {
    Times before, after;
  };

  std::vector<OfWarp> fences;
};

class TensorMemory {
public:
  TensorMemory();

  uint32_t &value(unsigned lane, unsigned column) {
    return cells[getIndex(lane, column)].value;
  }
  /// Bit b: byte b is undefined.
  uint8_t &undefined(unsigned lane, unsigned column) {
    return cells[getIndex(lane, column)].undefined;
  }

  //===--------------------------------------------------------------------===//
  // Allocation
  //===--------------------------------------------------------------------===//

  struct Allocation {
    const Block *owner;
    unsigned numColumns;
    /// The warp and the line that allocated it.
    unsigned warp;
    uint32_t line;
  };

  /// Whether these columns are not allocated.
  bool isFree(unsigned column, unsigned numColumns) const;
  void allocate(unsigned column, const Allocation &allocation);
  /// Notes the warp and the line of an allocation that the peer has made for
  /// the block.
  void claim(unsigned column, unsigned warp, uint32_t line);
  void free(unsigned column);
  const std::map<unsigned, Allocation> &getAllocations() const {
    return allocations;
  }
  /// The first column of a range that a block has not allocated.
  std::optional<unsigned> findForeign(const Block &block, unsigned column,
                                      unsigned numColumns) const;
  unsigned getNumFree() const;
  /// The most columns that were allocated at a time.
  unsigned getMostUsed() const { return mostUsed; }

  //===--------------------------------------------------------------------===//
  // Accesses of cells
  //===--------------------------------------------------------------------===//

  /// Accesses are numbers, which the caller assigns; 0 is none. `reader`
  /// identifies readers; the last two different ones are kept.
  void noteWrite(const TensorRegion &region, uint32_t access);
  void noteRead(const TensorRegion &region, uint32_t access, uint32_t reader);

  /// Calls `body(access)` for the accesses in a region behind which a new one
  /// has to be ordered: the last write, or, for a new write, the reads since,
  /// which are behind that write themselves. An access may be passed several
  /// times.
  template <typename Body>
  void forEachAccess(const TensorRegion &region, bool isWrite,
                     Body body) const {
    std::array<uint32_t, kReads> last = {};
    forEachCell(region, [&](unsigned index) {
      const Cell &cell = cells[index];
      bool areReads = isWrite && cell.reads[0].access;
      for (unsigned i = 0; i != (areReads ? kReads : 1); ++i) {
        uint32_t access = areReads ? cell.reads[i].access : cell.write;
        if (access && access != last[i])
          body(last[i] = access, areReads);
      }
    });
  }

private:
  struct Read {
    uint32_t access = 0, reader = 0;
  };
  static constexpr unsigned kReads = 2;
  struct Cell {
    uint32_t value = 0;
    uint32_t write = 0;
    /// The most recent one first.
    std::array<Read, kReads> reads;
    uint8_t undefined = 0xF;
  };

  static unsigned getIndex(unsigned lane, unsigned column) {
    return lane * kTensorColumns + column;
  }
  template <typename Body>
  static void forEachCell(const TensorRegion &region, Body body) {
    for (unsigned lane = 0; lane != kTensorLanes; ++lane)
      if (region.lanes.test(lane))
        for (unsigned i = 0; i != region.numColumns; ++i)
          body(getIndex(lane, region.column + i));
  }

  std::vector<Cell> cells;
  /// By first column.
  std::map<unsigned, Allocation> allocations;
  unsigned mostUsed = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TENSORMEMORY_H
