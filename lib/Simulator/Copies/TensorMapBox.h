//===- TensorMapBox.h - Where the bytes of a box are ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A box has its elements in shared memory one behind the other, the innermost
// dimension first, as 128-byte lines whose chunks are swizzled. In global
// memory they are where the strides of the tensor say, or nowhere.
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

/// Bytes of a box that lie one behind the other on both sides.
struct BoxPiece {
  enum class Kind : uint8_t {
    /// They are in the tensor.
    Copy,
    /// Outside of the tensor: a load fills them.
    Fill,
    /// A load leaves them undefined: padding of packed types.
    Gap,
    /// Of 8 bits each in shared memory, the low 6 are in the tensor.
    Pack6,
  };
  Kind kind;
  /// Behind the first byte of the tensor.
  uint64_t global;
  /// Behind the first byte of the box.
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
/// The bytes that an mbarrier object is told of, elements outside of the tensor
/// included: those of packed types as they are in global memory.
uint64_t getTransactionBytes(const TensorMap &map);

/// The pieces of the box at `coordinates`, innermost first, whose first byte is
/// at `address` in the window of shared memory. Those of a store are all in the
/// tensor. More coordinates than dimensions: behind the first one there is one
/// for each row of the box.
TensorBox placeBox(const TensorMap &map, llvm::ArrayRef<int32_t> coordinates,
                   uint64_t address, bool isStore);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPBOX_H
