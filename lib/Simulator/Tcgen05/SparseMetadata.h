//===- SparseMetadata.h - Metadata in tensor memory -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The metadata of a sparse A (tcgen05.mma.sp): row r of A in a block has its
// fields in lane r, one after the other from the lowest bits of the first
// column on.
//
// Source: PTX ISA, section 9.7.16.10.8 "Sparse matrices", which has the layout
// in figures only; CUTLASS and JAX agree on it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TCGEN05_SPARSEMETADATA_H
#define BLOCKSCALE_LIB_SIMULATOR_TCGEN05_SPARSEMETADATA_H

#include "Mma/MatrixForm.h"
#include "SharedDescriptors/SharedMatrix.h"
#include "Tcgen05/TensorMemory.h"
#include "blockscale/Runtime/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::blockscale::sim {

/// Columns of the metadata of one instruction, and where it may begin: copies
/// of four columns hold that of two instructions.
inline constexpr unsigned kMetadataColumns = 2, kMetadataAlignment = 2;

struct SparsePositions {
  /// The position along K of each kept element, row by row.
  std::vector<uint8_t> positions;
  /// The rows with undefined metadata.
  std::vector<bool> undefinedRows;
  /// A field that is illegal, but that shipped code has: see checkField.
  std::optional<std::string> strict;
};

/// Reads the metadata of the rows of A in a block, from a column on. Messages,
/// such as the error that names an illegal field, count rows from `firstRow`.
Result<SparsePositions> readMetadata(TensorMemory &memory, unsigned column,
                                     const MmaForm &form,
                                     const DecodedMatrix &a, unsigned firstRow);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_SPARSEMETADATA_H
