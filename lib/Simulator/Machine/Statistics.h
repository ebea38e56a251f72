//===- Statistics.h - Statistics of a kernel --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts for `--stats`: how often each step was executed, and how well the
// accesses of each line of the PTX text use memory.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_STATISTICS_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_STATISTICS_H

#include "Memory/WarpAccess.h"
#include "Translation/Code.h"

#include "llvm/Support/JSON.h"

#include <map>
#include <tuple>

namespace mlir::blockscale::sim {

/// Accesses of one line of the PTX text to one kind of memory.
struct AccessCounts {
  /// Accesses of warps.
  uint64_t requests = 0;
  /// Bytes that the lanes requested, and how many distinct bytes.
  uint64_t bytes = 0, distinctBytes = 0;
  /// Global memory: sectors of 32 bytes. Shared memory: wavefronts, each of
  /// which reads at most one 32-bit word from each of 32 banks, and the least
  /// possible number of them, ceil(distinct bytes / 128).
  uint64_t sectors = 0, wavefronts = 0, leastWavefronts = 0;

  void add(const AccessCounts &other);
};

/// The wavefronts of one access of a warp to shared memory. Lanes are split
/// into groups of 128 bytes. A group takes as many wavefronts as the largest
/// number of 32-bit words that it reads from one bank; words that an earlier
/// group has read are free.
unsigned countWavefronts(const WarpAccess &access);
unsigned countSectors(const WarpAccess &access);
uint64_t countDistinctBytes(const WarpAccess &access);

class Statistics {
public:
  /// Counts of the steps of a function, by their numbers.
  std::vector<uint64_t> &getStepCounts(const Code &code);
  void observe(uint32_t line, const WarpAccess &access);
  /// Counts a matrix instruction whose shape is only known at run time, from a
  /// descriptor.
  void countMatrix(const std::string &name, uint64_t multiplyAdds);
  /// Notes how many columns of tensor memory are allocated at a time.
  void noteTensorColumns(unsigned columns) {
    tensorColumns = std::max(tensorColumns, columns);
  }
  /// Adds bytes that moved on a path other than loads and stores of threads.
  void addBytes(llvm::StringRef path, uint64_t bytes) {
    bytesOfPaths[path.str()] += bytes;
  }
  void add(const Statistics &other);

  /// `kernel` has a name, a launch and resources; the counts are added here.
  void write(llvm::json::OStream &json) const;

private:
  struct Key {
    uint32_t line;
    AddressSpace space;
    AccessKind kind;
    bool operator<(const Key &other) const {
      return std::tie(line, space, kind) <
             std::tie(other.line, other.space, other.kind);
    }
  };
  std::map<const Code *, std::vector<uint64_t>> steps;
  std::map<Key, AccessCounts> accesses;
  struct MatrixCounts {
    uint64_t count = 0, multiplyAdds = 0;
  };
  /// By name.
  std::map<std::string, MatrixCounts> matrices;
  std::map<std::string, uint64_t> bytesOfPaths;
  unsigned tensorColumns = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_STATISTICS_H
