//===- SparseMetadata.cpp - Metadata in tensor memory ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the fields of each lane.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/SparseMetadata.h"

#include "Mma/SparseFields.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Fields of a lane in one column, and in one byte of it.
static constexpr unsigned kFieldsOfColumn = 32 / kFieldBits,
                          kFieldsOfByte = 8 / kFieldBits;

Result<SparsePositions> sim::readMetadata(TensorMemory &memory, unsigned column,
                                          const MmaForm &form,
                                          const DecodedMatrix &a,
                                          unsigned firstRow) {
  const MetadataLayout &layout = *form.metadata;
  unsigned keptK = form.getKeptK(), keptOfChunk = layout.chunk / 2;
  unsigned rows = a.undefinedRows.size();
  SparsePositions result;
  result.positions.resize(rows * keptK);
  result.undefinedRows.resize(rows);
  for (unsigned row = 0; row != rows; ++row)
    for (unsigned chunk = 0; chunk != form.k / layout.chunk; ++chunk) {
      unsigned at = column + chunk / kFieldsOfColumn;
      unsigned inColumn = chunk % kFieldsOfColumn;
      unsigned firstBit = inColumn * kFieldBits;
      unsigned field = memory.value(row, at) >> firstBit & 15;
      if (memory.undefined(row, at) >> inColumn / kFieldsOfByte & 1) {
        result.undefinedRows[row] = true;
        field = kAnyLegalField;
      }
      unsigned firstKept = row * keptK + chunk * keptOfChunk;
      FieldCheck check = checkField(
          form, field, a.undefinedRows[row] ? nullptr : &a.values[firstKept]);
      if (check != FieldCheck::Legal &&
          (check == FieldCheck::Illegal || !result.strict)) {
        std::string message = describeField(
            form, check, firstRow + row, chunk, field,
            "the bits " + std::to_string(firstBit) + " to " +
                std::to_string(firstBit + kFieldBits - 1) + " of lane " +
                std::to_string(row) + ", column " + std::to_string(at));
        if (check == FieldCheck::Illegal)
          return Error(message);
        result.strict = std::move(message);
      }
      findPositions(layout, chunk, field, &result.positions[firstKept]);
    }
  return result;
}
