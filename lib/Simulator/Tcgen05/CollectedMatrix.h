//===- CollectedMatrix.h - What a collector buffer keeps --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tcgen05.mma.ws may leave B in a buffer and use it again. The buffer is not
// modelled: B is read from shared memory each time, and has to be what it was.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TCGEN05_COLLECTEDMATRIX_H
#define BLOCKSCALE_LIB_SIMULATOR_TCGEN05_COLLECTEDMATRIX_H

#include "Tcgen05/InstructionDescriptor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::blockscale::sim {

/// B as tcgen05.mma.ws reads it.
struct CollectedMatrix {
  uint64_t descriptor;
  Tcgen05Kind kind;
  Type type;
  bool isTransposed, isNegated;
  unsigned n;
  /// Columns in front of those that are multiplied.
  unsigned shift;
  /// The addresses of its chunks, those in front, too, and their bytes, chunk
  /// after chunk.
  std::vector<uint32_t> addresses;
  std::vector<uint8_t> bytes;

  /// What follows "expected" where a buffer, which has a number, is to be used
  /// for another matrix than this one; nothing where it may.
  std::optional<std::string> findDifference(const CollectedMatrix &used,
                                            unsigned buffer) const;
};

/// What buffers b0 to b3 have been told to keep.
using CollectorBuffers = std::array<std::optional<CollectedMatrix>, 4>;

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_COLLECTEDMATRIX_H
