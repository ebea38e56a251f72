//===- ScaleFactors.h - Scale factors in tensor memory ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Factor s of row R (a row of A, or a column of B) is byte s % 4 of a cell in
// lane R % 32. The cell is in column R / 32 of the columns for word s / 4,
// where a word has four factors. All groups of 32 lanes have the same factors.
// If each half of the lanes computes half of the columns of D (a CTA pair with
// M = 128), each half has the scales of its own columns of B.
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
  /// Rows of a group of lanes.
  unsigned rows;
  /// The first group of 32 lanes, and how many groups have copies.
  unsigned firstGroup, numGroups;
  unsigned column;
  /// Columns from one word of four factors to the next.
  unsigned columnsOfWord;
  /// The first factor of a row, and how many.
  unsigned first, count;
  Type type;

  unsigned getNumWords() const { return (first + count + 3) / 4; }
  /// The cells of the factors.
  llvm::SmallVector<TensorRegion, 2> getRegions() const;
};

struct ScaleValues {
  /// Factor q of row R is number R * count + q.
  std::vector<double> values;
  std::vector<bool> undefinedRows;
  /// The row of a ue4m3 scale with its sign bit set, if there is one.
  std::optional<unsigned> signedRow;
};

/// An error says which copies differ.
Result<ScaleValues> readScales(TensorMemory &memory,
                               const ScaleFactors &factors);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_SCALEFACTORS_H
