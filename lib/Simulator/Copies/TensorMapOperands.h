//===- TensorMapOperands.h - Tensor maps of instructions --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPOPERANDS_H
#define BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPOPERANDS_H

#include "Copies/TensorMaps.h"
#include "Memory/MemoryOperands.h"

namespace mlir::blockscale::sim {

/// Rows that .tile::gather4 and .tile::scatter4 move at a time.
inline constexpr unsigned kFewRows = 4;

/// The mode of a tensor copy.
struct TensorCopyMode {
  /// Coordinates: one for each dimension, or a column and kFewRows rows.
  unsigned numCoordinates;
  /// .tile::gather4 and .tile::scatter4.
  bool isGather, isScatter;

  bool isOfRows() const { return isGather || isScatter; }
};

/// Takes out the mode and the rank of a tensor copy; fails for modes other than
/// .tile, .tile::gather4 and .tile::scatter4.
std::optional<TensorCopyMode> takeTensorCopyMode(Translator &t,
                                                 Modifiers &modifiers);

/// The operand `[map, {c0, c1}]`: the register of the address, and those of the
/// coordinates, which are added to `coordinates`; false after an error. `base`
/// may be an element of `coordinates`.
bool takeTensorMap(Translator &t, const PtxOperand &operand, unsigned count,
                   AddressSpace &space, int64_t &offset, Slot &base,
                   llvm::SmallVectorImpl<Slot> &coordinates);

/// A tensor map as an operand.
struct TensorMapUse {
  AddressSpace space;
  int64_t offset;
  Slot base;
  /// A copy of kFewRows rows: the box of the map has one row, the copy has all.
  bool isOfRows;
};

/// Reads the fields of a tensor map from its bytes; fails if the bytes are no
/// tensor map. `addressName` names its address in messages.
std::optional<TensorMapFields> readTensorMap(Warp &warp, unsigned lane,
                                             const Span &span,
                                             const std::string &addressName);
/// The tensor map at the address of a lane; nothing after a failure.
std::optional<BoundTensorMap> findTensorMap(Warp &warp, unsigned lane,
                                            const TensorMapUse &use);
/// The same with coordinates, of which there must be as many as the map needs.
std::optional<BoundTensorMap>
findTensorMap(Warp &warp, unsigned lane, const TensorMapUse &use,
              llvm::ArrayRef<Slot> slots,
              llvm::SmallVectorImpl<int32_t> &values);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPOPERANDS_H
