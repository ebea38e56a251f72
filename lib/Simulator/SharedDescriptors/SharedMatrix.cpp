//===- SharedMatrix.cpp - Elements of matrices in shared memory -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and decodes the elements of an operand from its chunks, for tcgen05 and
// wgmma.
//
//===----------------------------------------------------------------------===//

#include "SharedDescriptors/SharedMatrix.h"

#include "Mma/MatrixForm.h"
#include "Mma/MatrixSum.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

double sim::decodeElement(Type type, uint32_t bits) {
  switch (type) {
  case Type::F16:
  case Type::BF16:
  case Type::TF32:
    return decodeFloat(type, bits);
  case Type::E2M1:
    return getElementTable(type, /*slotBits=*/4)->values[bits];
  default:
    return getElementTable(type, /*slotBits=*/8)->values[bits];
  }
}

DecodedMatrix sim::decodeShared(const Storage &storage,
                                llvm::ArrayRef<uint32_t> offsets,
                                const TileShape &shape, Type type,
                                bool isNegated) {
  const ElementPacking &packing = shape.packing;
  DecodedMatrix matrix;
  matrix.values.resize(shape.rows * shape.steps);
  matrix.undefinedRows.resize(shape.rows);
  unsigned perChunk = packing.elementsOfChunk;
  unsigned dataBytes = perChunk * packing.bits / 8;
  unsigned chunksOfRow = shape.isTransposed
                             ? llvm::divideCeil(shape.rows, perChunk)
                             : shape.steps / perChunk;
  // A chunk has elements of one row (or column, for B), or of one step of K.
  for (auto [number, offset] : llvm::enumerate(offsets)) {
    const uint8_t *chunk = storage.data() + offset;
    const uint8_t *states = storage.states() + offset;
    bool isUndefined =
        llvm::any_of(llvm::ArrayRef(states, dataBytes),
                     [](uint8_t state) { return state & ByteUndefined; });
    unsigned outer = number / chunksOfRow;
    unsigned first = number % chunksOfRow * perChunk;
    for (unsigned i = 0; i != perChunk; ++i) {
      unsigned row = shape.isTransposed ? first + i : outer;
      unsigned step = shape.isTransposed ? outer : first + i;
      if (row >= shape.rows)
        break;
      double value = decodeElement(type, getElementBits(chunk, packing, i));
      matrix.values[row * shape.steps + step] = isNegated ? -value : value;
      if (isUndefined) {
        unsigned firstByte = i * packing.bits / 8;
        unsigned lastByte = ((i + 1) * packing.bits - 1) / 8;
        for (unsigned byte = firstByte; byte <= lastByte; ++byte)
          if (states[byte] & ByteUndefined)
            matrix.undefinedRows[row] = true;
      }
    }
  }
  return matrix;
}
