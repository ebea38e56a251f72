//===- CollectedMatrix.h - Contents of collector buffers --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tcgen05.mma.ws may keep B in a collector buffer and reuse it. The buffer is
// not modelled: B is read from shared memory each time, and must not have
// changed.
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
  /// Columns before those that are multiplied.
  unsigned shift;
  /// The addresses of its chunks, including those of the columns before, and
  /// their bytes, chunk after chunk.
  std::vector<uint32_t> addresses;
  std::vector<uint8_t> bytes;

  /// Compares this matrix, which fills buffer number `buffer`, with one that is
  /// used from it. The text behind "expected" of the message if they differ;
  /// else nothing.
  std::optional<std::string> findDifference(const CollectedMatrix &used,
                                            unsigned buffer) const;
};

/// The matrices that collector buffers b0 to b3 hold.
using CollectorBuffers = std::array<std::optional<CollectedMatrix>, 4>;

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_COLLECTEDMATRIX_H
