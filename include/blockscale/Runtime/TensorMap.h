//===- TensorMap.h - Tensors as bulk tensor copies see them -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor map describes a tensor in global memory and a box, the part of it
// that one `cp.async.bulk.tensor` moves. Kernels get 128 opaque bytes, which
// CUDA's driver encodes (cuTensorMapEncodeTiled); the simulator has its own
// encoding.
//
// Lists of dimensions start with the innermost one, as in CUDA and in PTX; on a
// command line they are in the order of the array's shape.
//
// Source: cuda.h, the comment of cuTensorMapEncodeTiled; PTX ISA, section 5.5
// "Tensors".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_TENSORMAP_H
#define BLOCKSCALE_RUNTIME_TENSORMAP_H

#include "blockscale/Runtime/BufferText.h"
#include "blockscale/Runtime/Npy.h"

#include <optional>

namespace mlir::blockscale {

inline constexpr uint32_t tensorMapBytes = 128;
inline constexpr uint32_t tensorMapAlignment = 64;
inline constexpr size_t maxTensorRank = 5;

/// The element type of a tensor map: a row of a table.
struct TensorMapType {
  std::string_view name;
  /// The value of CUtensorMapDataType.
  unsigned number;
  /// Bits of an element in global memory.
  unsigned bits;
  bool isFloat = false;
  /// How many elements of a packed type fill 16 bytes of shared memory, where
  /// they are padded. 0 if both memories hold the same bytes.
  unsigned elementsPerUnit = 0;
  /// The alignment of strides and the address, in bytes.
  unsigned strideAlignment = 16;
  /// The alignment of the innermost size, in elements.
  unsigned sizeAlignment = 1;
  /// The only innermost size of a box, in elements; 0 if any is allowed.
  unsigned boxSize = 0;

  bool isPacked() const { return bits < 8; }
  /// The alignment of the innermost coordinate: 16 bytes in the tensor, or a
  /// whole box of packed elements. An H200 refuses others as an illegal
  /// instruction.
  unsigned getCoordinateAlignment() const {
    return elementsPerUnit ? sizeAlignment : 128 / bits;
  }
  uint64_t getGlobalBytes(uint64_t elements) const {
    return elements * bits / 8;
  }
  uint64_t getSharedBytes(uint64_t elements) const {
    return elementsPerUnit ? elements / elementsPerUnit * 16
                           : getGlobalBytes(elements);
  }
};

/// A swizzle mode: how 16-byte chunks are permuted within the 128-byte swizzle
/// rows of shared memory. The swizzle row of an address is its bits 7 and up;
/// (row & rowMask) << shift is XORed into the address.
struct TensorMapSwizzle {
  std::string_view name;
  /// The value of CUtensorMapSwizzle.
  unsigned number;
  /// The limit of the innermost size of a box in shared memory, in bytes.
  unsigned span;
  unsigned rowMask, shift;
  /// In odd swizzle rows, the 8-byte halves of each 16 bytes are swapped.
  bool flipsHalves = false;
};

enum class TensorMapFill : uint8_t { Zero, Nan };

/// An L2 promotion: how much the L2 cache fetches around the bytes of a copy.
struct TensorMapPromotion {
  std::string_view name;
  /// The value of CUtensorMapL2promotion.
  unsigned number;
};

struct TensorMap {
  const TensorMapType *type = nullptr;
  const TensorMapSwizzle *swizzle = nullptr;
  /// The value of loaded elements outside of the tensor.
  TensorMapFill fill = TensorMapFill::Zero;
  /// Null for no swizzle.
  const TensorMapPromotion *promotion = nullptr;
  /// How many elements a box spans, and the step between copied ones.
  std::vector<uint32_t> box, elementStrides;
  /// The tensor: sizes in elements, and strides in bytes; the first stride is
  /// the size of an element (0 for packed types).
  std::vector<uint64_t> sizes, strides;

  size_t getRank() const { return box.size(); }
  /// How many elements one copy moves in a dimension.
  uint32_t getBoxCount(size_t dimension) const {
    return (box[dimension] - 1) / elementStrides[dimension] + 1;
  }
};

/// Parses `DTYPE:BOX=AxB..:SWIZZLE=..[:STRIDES=AxB..][:FILL=..][:STORE=..]` at
/// the end of a text, which starts with a file name or with `@N[+BYTES]`, a
/// position in the buffer of an argument. The latter also needs `SIZES=AxB..`
/// and `PITCH=BYTESx..`, the strides of all dimensions but the last; the stride
/// of the last, the size of an element, may follow. Keys may be in any order.
/// Checks everything that does not depend on the memory of the tensor.
struct TensorMapText {
  std::string path;
  /// Instead of a file.
  std::optional<BufferText> viewed;
  /// With sizes and strides if it is in a buffer of an argument.
  TensorMap map;
  /// Whether the memory of the tensor is stored after the launch.
  bool isStored = false;
  /// Whether kernels only make other maps of it, so that its memory need not
  /// hold the tensor.
  bool isTemplate = false;
};
Result<TensorMapText> parseTensorMap(std::string_view text);

/// Makes a tensor map without sizes and strides, from the names of the tables
/// and with the innermost dimension last; checked by `checkTensorBox`.
Result<TensorMap> makeTensorMap(std::string_view dtype,
                                const std::vector<int64_t> &box,
                                const std::vector<int64_t> &elementStrides,
                                std::string_view swizzle, std::string_view fill,
                                std::string_view promotion);

/// Checks the driver's rules that do not depend on the tensor.
Error checkTensorBox(const TensorMap &map);

/// The table row with a value of cuda.h; null if there is none.
const TensorMapType *lookupTensorMapType(unsigned number);
const TensorMapSwizzle *lookupTensorMapSwizzle(unsigned number);
const TensorMapPromotion *lookupTensorMapPromotion(unsigned number);

/// Sets the sizes and strides of the tensor from an array, and checks them.
Error setTensor(TensorMap &map, const NpyArray &array);

/// Checks the offset of a tensor in aligned memory.
Error checkTensorOffset(const TensorMap &map, uint64_t offset);

/// Checks sizes and strides by the driver's rules, and that the tensor fits in
/// memory of `bytes`.
Error checkTensor(const TensorMap &map, uint64_t bytes);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_TENSORMAP_H
