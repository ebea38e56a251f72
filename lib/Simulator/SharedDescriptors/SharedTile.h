//===- SharedTile.h - Tiles in shared memory --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand of tcgen05.mma or wgmma in shared memory: M rows of A, or N
// columns of B, of K elements (its rows here). The unit of its layout is a
// chunk of 16 bytes, whose elements are consecutive along K (K-major), or along
// M or N if the operand is transposed (MN-major).
//
// Source: PTX ISA, sections 9.7.16.3.3 "Canonical layouts" and 9.7.16.10.6
// "Packing formats".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_SHAREDTILE_H
#define BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_SHAREDTILE_H

#include "SharedDescriptors/MatrixDescriptor.h"

#include <vector>

namespace mlir::blockscale::sim {

inline constexpr unsigned kChunkBytes = 16;

/// How elements are packed in a chunk.
struct ElementPacking {
  /// Bits of an element. Elements are consecutive from the first byte on; the
  /// rest of the chunk is padding.
  unsigned bits;
  unsigned elementsOfChunk;
};

/// The shape of a tile.
struct TileShape {
  unsigned rows, steps;
  bool isTransposed;
  ElementPacking packing;

  unsigned getChunksOfRow() const { return steps / packing.elementsOfChunk; }
};

/// The offsets, in the shared memory of a block, of the chunks of a tile: row
/// by row, or step of K by step of K if it is transposed.
Result<std::vector<uint32_t>> findChunks(const MatrixDescriptor &descriptor,
                                         const TileShape &shape);

/// The bits of an element in a chunk.
uint32_t getElementBits(const uint8_t *chunk, const ElementPacking &packing,
                        unsigned element);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_SHAREDTILE_H
