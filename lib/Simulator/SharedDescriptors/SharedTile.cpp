//===- SharedTile.cpp - Tiles in shared memory ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The offsets of the chunks of a tile: one formula for K-major tiles and one
// for MN-major tiles, before the swizzle.
//
//===----------------------------------------------------------------------===//

#include "SharedDescriptors/SharedTile.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The offset of a chunk of a K-major tile, before the swizzle; nothing if it
/// is beyond the row of the swizzle pattern.
static std::optional<uint32_t> locate(const MatrixDescriptor &descriptor,
                                      unsigned row, unsigned chunk) {
  uint32_t group = row / 8 * descriptor.strideOffset;
  if (descriptor.swizzle == SwizzleMode::None)
    return descriptor.start + group + row % 8 * kChunkBytes +
           chunk * descriptor.leadingOffset;
  unsigned rowBytes = getRowBytes(descriptor.swizzle);
  uint32_t inside = group + row % 8 * rowBytes;
  uint32_t position = descriptor.start % rowBytes + chunk * kChunkBytes;
  if (position < rowBytes)
    return descriptor.start - descriptor.start % rowBytes + inside + position;
  if (!descriptor.isLeadingAbsolute)
    return std::nullopt;
  return descriptor.leadingOffset + inside + position - rowBytes;
}

/// The same for an MN-major tile.
static std::optional<uint32_t>
locateTransposed(const MatrixDescriptor &descriptor, unsigned chunk,
                 unsigned step) {
  uint32_t start = descriptor.start, leading = descriptor.leadingOffset,
           stride = descriptor.strideOffset;
  unsigned rowBytes = getRowBytes(descriptor.swizzle);
  unsigned chunksOfRow = rowBytes / kChunkBytes;
  if (descriptor.swizzle == SwizzleMode::None)
    return start + chunk * stride + step / 8 * leading + step % 8 * kChunkBytes;
  if (start % rowBytes + chunk % chunksOfRow * kChunkBytes >= rowBytes)
    return std::nullopt;
  unsigned steps = descriptor.swizzle == SwizzleMode::Bytes128Atom32 ? 4 : 8;
  return start + chunk / chunksOfRow * leading + step / steps * stride +
         step % steps * rowBytes + chunk % chunksOfRow * kChunkBytes;
}

Result<std::vector<uint32_t>>
sim::findChunks(const MatrixDescriptor &descriptor, const TileShape &shape) {
  unsigned rows = shape.isTransposed ? shape.steps : shape.rows;
  unsigned chunksOfRow =
      shape.isTransposed
          ? llvm::divideCeil(shape.rows, shape.packing.elementsOfChunk)
          : shape.getChunksOfRow();
  std::vector<uint32_t> chunks;
  for (unsigned row = 0; row != rows; ++row)
    for (unsigned chunk = 0; chunk != chunksOfRow; ++chunk) {
      std::optional<uint32_t> position =
          shape.isTransposed ? locateTransposed(descriptor, chunk, row)
                             : locate(descriptor, row, chunk);
      if (!position)
        return Error("expected all bytes of a row of a matrix in a row of " +
                     std::to_string(getRowBytes(descriptor.swizzle)) +
                     " bytes of the swizzle pattern; the descriptor is " +
                     descriptor.print());
      chunks.push_back(descriptor.swizzled(*position));
    }
  return chunks;
}

uint32_t sim::getElementBits(const uint8_t *chunk,
                             const ElementPacking &packing, unsigned element) {
  unsigned first = element * packing.bits;
  uint32_t word = 0;
  // An element of 6 bits may be in two bytes.
  unsigned bytes = (first % 8 + packing.bits + 7) / 8;
  std::memcpy(&word, chunk + first / 8, bytes);
  return word >> first % 8 & llvm::maskTrailingOnes<uint32_t>(packing.bits);
}
