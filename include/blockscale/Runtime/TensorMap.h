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
// CUDA's driver encodes (cuTensorMapEncodeTiled), and which the simulator makes
// in a form of its own.
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
  /// Of CUtensorMapDataType.
  unsigned number;
  /// Bits of an element in global memory.
  unsigned bits;
  bool isFloat = false;
  /// Elements of which shared memory has 16 bytes: those of packed types are
  /// apart from each other there. 0 where both memories hold the same bytes.
  unsigned elementsPerUnit = 0;
  /// What strides and the address are multiples of, in bytes.
  unsigned strideAlignment = 16;
  /// What the innermost size is a multiple of, in elements.
  unsigned sizeAlignment = 1;
  /// The only innermost size of a box, in elements; 0 where there are more.
  unsigned boxSize = 0;

  bool isPacked() const { return bits < 8; }
  /// What the innermost coordinate is a multiple of: 16 bytes in the tensor, or
  /// a whole box of packed elements. An H200 refuses others as an illegal
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

/// Where chunks of the 128-byte lines of shared memory go: a row of a table.
/// The line of an address is its bits 7 and up; (line & lineMask) << shift is
/// XORed into the address.
struct TensorMapSwizzle {
  std::string_view name;
  /// Of CUtensorMapSwizzle.
  unsigned number;
  /// The innermost size of a box in shared memory, in bytes, at most.
  unsigned span;
  unsigned lineMask, shift;
  /// In odd lines, the halves of 16 bytes change places.
  bool flipsHalves = false;
};

enum class TensorMapFill : uint8_t { Zero, Nan };

/// How much the L2 cache fetches around what a copy reads: a row of a table.
struct TensorMapPromotion {
  std::string_view name;
  /// Of CUtensorMapL2promotion.
  unsigned number;
};

struct TensorMap {
  const TensorMapType *type = nullptr;
  const TensorMapSwizzle *swizzle = nullptr;
  /// What a load gives for elements outside of the tensor.
  TensorMapFill fill = TensorMapFill::Zero;
  /// Null for none.
  const TensorMapPromotion *promotion = nullptr;
  /// How many elements a box spans, and the step between those that are moved.
  std::vector<uint32_t> box, elementStrides;
  /// The tensor: sizes in elements, and from one index to the next, in bytes;
  /// the first of these is that of an element (0 for packed types).
  std::vector<uint64_t> sizes, strides;

  size_t getRank() const { return box.size(); }
  /// How many elements of a dimension one copy moves.
  uint32_t getBoxCount(size_t dimension) const {
    return (box[dimension] - 1) / elementStrides[dimension] + 1;
  }
};

/// Parses `DTYPE:BOX=AxB..:SWIZZLE=..[:STRIDES=AxB..][:FILL=..][:STORE=..]` at
/// the end of a text, whose start is the name of a file, or `@N[+BYTES]`, a
/// place in the buffer of an argument. That has `SIZES=AxB..` and
/// `PITCH=BYTESx..` too: the strides of all dimensions but the last, in any
/// order; that of the last, the size of an element, may stand behind them.
/// Checks all that does not depend on the memory of the tensor. An error says
/// what was expected, and what there is.
struct TensorMapText {
  std::string path;
  /// In place of a file.
  std::optional<BufferText> viewed;
  /// With sizes and strides where it is of a buffer.
  TensorMap map;
  /// What the kernels left in the memory of the tensor is stored.
  bool isStored = false;
};
Result<TensorMapText> parseTensorMap(std::string_view text);

/// A tensor map without sizes and strides, by the names of the tables and with
/// the innermost dimension last; checked by `checkTensorBox`.
Result<TensorMap> makeTensorMap(std::string_view dtype,
                                const std::vector<int64_t> &box,
                                const std::vector<int64_t> &elementStrides,
                                std::string_view swizzle, std::string_view fill,
                                std::string_view promotion);

/// Checks by the driver's rules all that does not depend on the tensor.
Error checkTensorBox(const TensorMap &map);

/// The row with a number of cuda.h; null if there is none.
const TensorMapType *lookupTensorMapType(unsigned number);
const TensorMapSwizzle *lookupTensorMapSwizzle(unsigned number);
const TensorMapPromotion *lookupTensorMapPromotion(unsigned number);

/// Takes the sizes and strides of the tensor from an array, and checks them.
Error setTensor(TensorMap &map, const NpyArray &array);

/// Checks where in an aligned memory a tensor starts.
Error checkTensorOffset(const TensorMap &map, uint64_t offset);

/// Checks sizes and strides by the driver's rules, and that the tensor is in a
/// memory of `bytes`.
Error checkTensor(const TensorMap &map, uint64_t bytes);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_TENSORMAP_H
