//===- TensorMaps.h - The bytes of tensor maps ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of the 128 bytes of a tensor map is not public. The simulator
// stores the fields below, with a magic value and a checksum. A kernel may copy
// the bytes and replace fields; all other bytes are no tensor map.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPS_H
#define BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPS_H

#include "Memory/Storage.h"
#include "blockscale/Runtime/TensorMap.h"

#include <array>
#include <optional>

namespace mlir::blockscale::sim {

/// A tensor map and the memory of its tensor, which starts `offset` bytes into
/// the allocation.
struct BoundTensorMap {
  TensorMap map;
  GlobalMemory::Allocation *tensor;
  uint64_t offset = 0;
};

/// Fields need not fit together, as they are replaced one after another; lists
/// start with the innermost dimension.
struct TensorMapFields {
  TensorMapFields() = default;
  TensorMapFields(const TensorMap &map, uint64_t address);

  /// Decodes the fields; nothing if the bytes are no tensor map.
  static std::optional<TensorMapFields> read(const uint8_t *bytes);
  void write(uint8_t *bytes) const;

  /// The map and its tensor; an error if the fields do not fit together, or if
  /// the tensor is not in global memory.
  Result<BoundTensorMap> bind(GlobalMemory &memory) const;

  uint64_t address = 0;
  std::array<uint64_t, maxTensorRank> sizes = {};
  /// In bytes, of all dimensions but the innermost one.
  std::array<uint64_t, maxTensorRank - 1> strides = {};
  std::array<uint32_t, maxTensorRank> box = {};
  std::array<uint8_t, maxTensorRank> elementStrides = {};
  uint8_t rank = 0;
  /// Enumerators of cuda.h; that of the swizzle is split in two fields.
  uint8_t type = 0, swizzleMode = 0, swizzleAtomicity = 0, fill = 0;
  /// kNoPromotion where there is none.
  uint8_t promotion = 0;
  uint8_t unused = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPS_H
