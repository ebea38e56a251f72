//===- TensorMapBox.cpp - Boxes of tensor copies --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts a box into pieces that are contiguous in global and in shared memory;
// transfers iterate over the pieces.
//
//===----------------------------------------------------------------------===//

#include "Copies/TensorMapBox.h"

#include <algorithm>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// log2 of the bytes of a swizzle row, whose index permutes its chunks.
static constexpr unsigned kSwizzleRowShift = 7;
/// The smallest chunk that a swizzle moves as a whole; packed types are padded
/// to this size.
static constexpr uint32_t kUnitBytes = 16;
static constexpr uint32_t kHalfBytes = 8;

static uint64_t getNumRows(const TensorMap &map) {
  uint64_t rows = 1;
  for (size_t i = 1; i != map.getRank(); ++i)
    rows *= map.getBoxCount(i);
  return rows;
}

/// The distance between rows of a box in shared memory: rows are padded to the
/// span of the swizzle. (Measured on an H200; no document says so.)
static uint64_t getPitch(const TensorMap &map) {
  return map.swizzle->rowMask ? map.swizzle->span
                              : map.type->getSharedBytes(map.box[0]);
}

uint64_t sim::getBoxBytes(const TensorMap &map) {
  return (getNumRows(map) - 1) * getPitch(map) +
         map.type->getSharedBytes(map.box[0]);
}

uint64_t sim::getTransactionBytes(const TensorMap &map) {
  return getNumRows(map) * map.type->getGlobalBytes(map.box[0]);
}

static uint64_t swizzle(const TensorMapSwizzle &swizzle, uint64_t address) {
  uint64_t row = address >> kSwizzleRowShift;
  address ^= (row & swizzle.rowMask) << swizzle.shift;
  return swizzle.flipsHalves ? address ^ (row & 1) * kHalfBytes : address;
}

namespace {

/// Collects the pieces of a box, row by row.
class BoxBuilder {
public:
  BoxBuilder(const TensorMap &map, uint64_t address, bool isStore)
      : map(map), address(address), isStore(isStore) {
    if (map.swizzle->rowMask)
      chunkBytes = map.swizzle->flipsHalves ? kHalfBytes : kUnitBytes;
  }

  /// A row that starts at element `first` of the innermost dimension; `global`
  /// is where element 0 is, if the row is in the tensor.
  void addRow(int64_t first, bool isInside, uint64_t global) {
    uint64_t nextRow = next + getPitch(map);
    int64_t count = map.box[0];
    int64_t size = static_cast<int64_t>(map.sizes[0]);
    int64_t begin = std::clamp<int64_t>(-first, 0, count);
    int64_t end = std::clamp<int64_t>(size - first, begin, count);
    if (!isInside)
      begin = end = count;
    addElements(BoxPiece::Kind::Fill, begin, 0);
    addElements(BoxPiece::Kind::Copy, end - begin,
                global + map.type->getGlobalBytes(first + begin));
    addElements(BoxPiece::Kind::Fill, count - end, 0);
    next = nextRow;
  }

  TensorBox finish() { return std::move(box); }

private:
  using Kind = BoxPiece::Kind;

  void addElements(Kind kind, uint64_t count, uint64_t global) {
    const TensorMapType &type = *map.type;
    if (!type.elementsPerUnit)
      return add(kind, type.getSharedBytes(count), global);
    uint32_t packedBytes = type.getGlobalBytes(type.elementsPerUnit);
    for (uint64_t i = 0; i != count / type.elementsPerUnit; ++i) {
      uint64_t from = global + i * packedBytes;
      if (isStore) {
        add(kind == Kind::Copy ? Kind::Pack6 : kind, kUnitBytes, from);
        continue;
      }
      add(kind, packedBytes, from);
      add(Kind::Gap, kUnitBytes - packedBytes, 0);
    }
  }

  /// Adds the next bytes of the box, cut where chunks part.
  void add(Kind kind, uint64_t size, uint64_t global) {
    bool isInTensor = kind == Kind::Copy || kind == Kind::Pack6;
    while (size != 0) {
      uint64_t part = size;
      if (chunkBytes)
        part = std::min<uint64_t>(part, chunkBytes - next % chunkBytes);
      uint64_t shared = swizzle(*map.swizzle, address + next) - address;
      BoxPiece piece = {kind, global, static_cast<uint32_t>(shared),
                        static_cast<uint32_t>(part)};
      if (isInTensor || !isStore)
        append(piece);
      next += part;
      size -= part;
      if (isInTensor)
        global += piece.getGlobalSize();
    }
  }

  void append(const BoxPiece &piece) {
    box.size = std::max(box.size, piece.shared + piece.size);
    if (!box.pieces.empty()) {
      BoxPiece &last = box.pieces.back();
      if (last.kind == piece.kind && last.shared + last.size == piece.shared &&
          (last.global + last.getGlobalSize() == piece.global ||
           piece.kind == Kind::Fill)) {
        last.size += piece.size;
        return;
      }
    }
    box.pieces.push_back(piece);
  }

  const TensorMap &map;
  const uint64_t address;
  const bool isStore;
  /// 0 without a swizzle.
  uint32_t chunkBytes = 0;
  /// The bytes of the box so far.
  uint64_t next = 0;
  TensorBox box;
};

} // namespace

TensorBox sim::cutBox(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates,
                      uint64_t address, bool isStore) {
  BoxBuilder builder(map, address, isStore);
  bool isOfRows = coordinates.size() > map.getRank();
  // Indices in the box, of all but the innermost dimension.
  std::vector<uint32_t> indices(map.getRank());
  for (uint64_t row = 0, end = getNumRows(map); row != end; ++row) {
    bool isInside = true;
    uint64_t global = 0;
    for (size_t i = 1; i != map.getRank(); ++i) {
      int64_t index = isOfRows ? coordinates[1 + row]
                               : coordinates[i] + int64_t(indices[i]) *
                                                      map.elementStrides[i];
      isInside &= index >= 0 && index < static_cast<int64_t>(map.sizes[i]);
      global += static_cast<uint64_t>(index) * map.strides[i];
    }
    builder.addRow(coordinates[0], isInside, global);
    for (size_t i = 1; i != map.getRank(); ++i) {
      if (++indices[i] != map.getBoxCount(i))
        break;
      indices[i] = 0;
    }
  }
  return builder.finish();
}
