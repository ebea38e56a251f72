//===- CollectedMatrix.cpp - Contents of collector buffers ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the B of an instruction with the one with which a collector buffer
// was filled.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/CollectedMatrix.h"

#include "Memory/Storage.h"
#include "SharedDescriptors/SharedTile.h"

#include <tuple>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// All properties of B but the shift.
static auto getForm(const CollectedMatrix &b) {
  return std::tie(b.descriptor, b.kind, b.type, b.isTransposed, b.isNegated,
                  b.n);
}

std::optional<std::string>
CollectedMatrix::findDifference(const CollectedMatrix &used,
                                unsigned buffer) const {
  std::string name = "collector buffer b" + std::to_string(buffer);
  if (getForm(*this) != getForm(used))
    return name + " to be filled with this B, but it has another one";
  if (shift != used.shift)
    return "the column shift with which " + name + " was filled, " +
           std::to_string(shift) + ", got " + std::to_string(used.shift);
  auto [kept, got] =
      std::mismatch(bytes.begin(), bytes.end(), used.bytes.begin());
  if (kept == bytes.end())
    return std::nullopt;
  size_t index = kept - bytes.begin();
  return "the bytes of B with which " + name + " was filled, " +
         printHex(*kept) + " at " +
         printHex(addresses[index / kChunkBytes] + index % kChunkBytes) +
         " in shared memory, got " + printHex(*got);
}
