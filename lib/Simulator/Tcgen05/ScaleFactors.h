//===- ScaleFactors.h - Scale factors in tensor memory ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Factor s of line R (a row of A, or a column of B) is byte s % 4 of a cell in
// lane R % 32, in column R / 32 of word s / 4. All groups of 32 lanes have the
// same. Where each half of the lanes computes half of the columns of D (a pair
// of blocks with M = 128), each has the scales of its own columns of B.
//
// Source: PTX ISA, section 9.7.16.10.7.2 "Scale factor layouts".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TCGEN05_SCALEFACTORS_H
#define BLOCKSCALE_LIB_SIMULATOR_TCGEN05_SCALEFACTORS_H

#include "Ptx/Types.h"
#include "Tcgen05/TensorMemory.h"
#include "blockscale/Runtime/Error.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <vector>

namespace mlir::blockscale::sim {

/// The scale factors of one operand that one instruction reads.
struct ScaleFactors {
  /// Lines that a group of lanes has.
  unsigned lines;
  /// Their first group of 32 lanes, and how many have copies.
  unsigned firstGroup, numGroups;
  unsigned column;
  /// From one word of four factors to the next.
  unsigned columnsOfWord;
  /// Factors of a line, from which on.
  unsigned first, count;
  Type type;

  unsigned getNumWords() const { return (first + count + 3) / 4; }
  /// The cells.
  llvm::SmallVector<TensorRegion, 2> getRegions() const;
};

struct ScaleValues {
  /// Factor q of line R is number R * count + q.
  std::vector<double> values;
  std::vector<bool> undefinedLines;
  /// A ue4m3 scale that has a sign bit, and its line.
  std::optional<unsigned> signedLine;
};

/// An error says where copies differ.
Result<ScaleValues> readScales(TensorMemory &memory,
                               const ScaleFactors &factors);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_SCALEFACTORS_H
