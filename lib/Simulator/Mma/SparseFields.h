//===- SparseFields.h - Fields of sparse metadata ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row of a sparse A is made of chunks of four places, of which two are kept:
// a place is an element, or a pair of elements of 4 bits. The metadata has a
// field of four bits for each chunk, with the places of both kept values. Where
// the fields are is another matter: registers for mma.sp (MatrixOperands.cpp),
// tensor memory for tcgen05.mma.sp (Tcgen05/SparseMetadata.h).
//
// Source: PTX ISA, section 9.7.14.6.1 "Sparse matrix storage".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MMA_SPARSEFIELDS_H
#define BLOCKSCALE_LIB_SIMULATOR_MMA_SPARSEFIELDS_H

#include "Mma/MatrixForm.h"

#include <string>

namespace mlir::blockscale::sim {

/// The bits of a field.
inline constexpr unsigned kFieldBits = 4;
/// A legal field in place of one that is undefined.
inline constexpr unsigned kAnyLegalField = 0b0100;

enum class FieldCheck : uint8_t {
  Legal,
  /// 0b0000 of a chunk whose kept values are all 0: illegal, but compressors
  /// write it for chunks of zeros and in padding.
  OfZeros,
  Illegal,
};

/// Checks the field of a chunk. `kept` has the values of A in the chunk; null
/// if they are undefined, and so may be 0.
FieldCheck checkField(const MmaForm &form, unsigned field, const double *kept);

/// The message for a field that is not legal; `where` is the place of its bits.
std::string describeField(const MmaForm &form, FieldCheck check, unsigned row,
                          unsigned chunk, unsigned field,
                          const std::string &where);

/// Writes the positions along K of the kept elements of a chunk, which begin at
/// `positions`. 0b0000 names the first place twice.
void findPositions(const MetadataLayout &layout, unsigned chunk, unsigned field,
                   uint8_t *positions);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MMA_SPARSEFIELDS_H
