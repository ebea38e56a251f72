//===- MatrixOperands.h - Operands of a matrix instruction ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the matrices of one execution from the registers of a warp.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MMA_MATRIXOPERANDS_H
#define BLOCKSCALE_LIB_SIMULATOR_MMA_MATRIXOPERANDS_H

#include "Mma/MatrixForm.h"

namespace mlir::blockscale::sim {

inline constexpr unsigned kMaxM = 16, kN = 8;
/// 96 elements and 6 scale blocks occur in tcgen05.mma.
inline constexpr unsigned kMaxK = 128, kMaxKeptK = 96;
inline constexpr unsigned kMaxBlocks = 6;

/// Not initialized: members that a form does not use are not read.
struct MmaMatrices {
  /// The kept elements of a row, in order.
  double a[kMaxM * kMaxKeptK];
  double b[kMaxK * kN];
  double c[kMaxM * kN];
  /// Sparse forms: the row of B that is multiplied with an element of A.
  uint8_t positions[kMaxM * kMaxKeptK];
  double scaleA[kMaxM * kMaxBlocks];
  double scaleB[kMaxBlocks * kN];

  /// Bit m or n: the row or column has an undefined element, scale or
  /// metadata; bit n of element m: the accumulator is undefined.
  uint16_t undefinedRows = 0;
  uint8_t undefinedColumns = 0;
  uint8_t undefinedElements[kMaxM] = {};
};

/// Reads all operands but D. The values of undefined bytes are not checked.
MmaOutcome readOperands(const MmaForm &form, const MmaOperands &operands,
                        MmaMatrices &matrices);

/// Reads only the elements of A, or the accumulator.
void readRows(const MmaForm &form, llvm::ArrayRef<const Lanes *> a,
              MmaMatrices &matrices);
void readAccumulator(const MmaForm &form, llvm::ArrayRef<const Lanes *> c,
                     MmaMatrices &matrices);

/// Reads the positions of the elements of a sparse A, whose values have been
/// read.
void readMetadata(const MmaForm &form, const Lanes &metadata, unsigned selector,
                  MmaMatrices &matrices, MmaOutcome &outcome);

/// Writes D: `bits` has the elements, row by row.
void writeResults(const MmaForm &form, const MmaMatrices &matrices,
                  const uint64_t *bits, llvm::ArrayRef<Lanes *> registers);

/// Computes the elements of D, row by row: with the adder of a chip, or with
/// exact sums if there is none.
void multiplyMatrices(const MmaForm &form, const MmaMatrices &matrices,
                      const AdderRule *adder, uint64_t *bits);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MMA_MATRIXOPERANDS_H
