//===- TensorMapBox.h - Boxes of tensor copies ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The elements of a box are contiguous in shared memory, innermost dimension
// first, and chunks are permuted within swizzle rows of 128 bytes. In global
// memory the strides of the tensor give their addresses; elements outside of
// the tensor have none.
//
// Source: PTX ISA, sections 5.5.1.1 "Sub-byte Types", 5.5.3 "Tiled Mode" and
// 5.5.7 "Swizzling Modes".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPBOX_H
#define BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPBOX_H

#include "blockscale/Runtime/TensorMap.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace mlir::blockscale::sim {

/// Bytes of a box that are contiguous in global and in shared memory.
struct BoxPiece {
  enum class Kind : uint8_t {
    /// The bytes are in the tensor.
    Copy,
    /// Outside of the tensor: a load fills them.
    Fill,
    /// A load leaves them undefined: padding of packed types.
    Gap,
    /// Elements take 8 bits in shared memory, of which the tensor holds the low
    /// 6.
    Pack6,
  };
  Kind kind;
  /// Offset from the first byte of the tensor.
  uint64_t global;
  /// Offset from the first byte of the box.
  uint32_t shared;
  /// Bytes in shared memory.
  uint32_t size;

  bool isInTensor() const { return kind == Kind::Copy || kind == Kind::Pack6; }
  uint32_t getGlobalSize() const {
    return kind == Kind::Pack6 ? size / 4 * 3 : size;
  }
};

struct TensorBox {
  std::vector<BoxPiece> pieces;
  /// From the first byte to behind the last one in shared memory.
  uint32_t size = 0;
};

/// The bytes of a box in shared memory, before chunks are swizzled.
uint64_t getBoxBytes(const TensorMap &map);
/// The bytes that the complete-tx operation on an mbarrier object counts,
/// including elements outside of the tensor. Packed types count with their size
/// in global memory.
uint64_t getTransactionBytes(const TensorMap &map);

/// The pieces of the box at `coordinates`, innermost first, whose first byte is
/// at `address` in the window of shared memory. For a store, all pieces are in
/// the tensor. If there are more coordinates than dimensions, those after the
/// first give the rows of the box (gather4, scatter4).
TensorBox cutBox(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates,
                 uint64_t address, bool isStore);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPBOX_H
