//===- TensorMapTables.h - Types and swizzles of tensor maps ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_TENSORMAPTABLES_H
#define BLOCKSCALE_LIB_RUNTIME_TENSORMAPTABLES_H

#include "blockscale/Runtime/TensorMap.h"

namespace mlir::blockscale {

/// Element types of 8 bits and more are not packed; the packed ones are
/// 16U4_ALIGN8B, 16U4_ALIGN16B and 16U6_ALIGN16B of cuda.h.
inline constexpr TensorMapType tensorMapTypes[] = {
    {"u1", 0, 8},
    {"u2", 1, 16},
    {"u4", 2, 32},
    {"i4", 3, 32},
    {"u8", 4, 64},
    {"i8", 5, 64},
    {"f2", 6, 16, /*isFloat=*/true},
    {"f4", 7, 32, /*isFloat=*/true},
    {"f8", 8, 64, /*isFloat=*/true},
    {"bf16", 9, 16, /*isFloat=*/true},
    {"f4ftz", 10, 32, /*isFloat=*/true},
    {"tf32", 11, 32, /*isFloat=*/true},
    {"tf32ftz", 12, 32, /*isFloat=*/true},
    {"u4x16_align8", 13, 4, /*isFloat=*/false, /*elementsPerUnit=*/0,
     /*strideAlignment=*/16, /*sizeAlignment=*/2},
    {"u4x16_align16", 14, 4, /*isFloat=*/false, /*elementsPerUnit=*/16,
     /*strideAlignment=*/32, /*sizeAlignment=*/128,
     /*boxSize=*/128},
    {"u6x16_align16", 15, 6, /*isFloat=*/false, /*elementsPerUnit=*/16,
     /*strideAlignment=*/32, /*sizeAlignment=*/128,
     /*boxSize=*/128},
};

inline constexpr TensorMapSwizzle tensorMapSwizzles[] = {
    {"none", 0, /*span=*/UINT32_MAX, /*rowMask=*/0, /*shift=*/0},
    {"32", 1, 32, 1, 4},
    {"64", 2, 64, 3, 4},
    {"128", 3, 128, 7, 4},
    {"128-atom32", 4, 128, 3, 5},
    {"128-atom32-flip8", 5, 128, 3, 5, /*flipsHalves=*/true},
    {"128-atom64", 6, 128, 1, 6},
};

inline constexpr TensorMapPromotion tensorMapPromotions[] = {
    {"none", 0},
    {"64", 1},
    {"128", 2},
    {"256", 3},
};

struct TensorMapFillName {
  std::string_view name;
  TensorMapFill fill;
};
inline constexpr TensorMapFillName tensorMapFills[] = {
    {"zero", TensorMapFill::Zero},
    {"nan", TensorMapFill::Nan},
};

/// The limit of elements of a box in a dimension, and of steps between them.
inline constexpr uint32_t maxTensorBox = 256;
inline constexpr uint32_t maxElementStride = 8;
/// The limit of elements of a tensor in a dimension.
inline constexpr uint64_t maxTensorSize = uint64_t(1) << 32;
/// Strides of a tensor are less than this, in bytes.
inline constexpr uint64_t tensorStrideLimit = uint64_t(1) << 40;

/// The table row of a name; null if there is none.
template <typename Row, size_t size>
const Row *lookupName(const Row (&table)[size], std::string_view name) {
  for (const Row &row : table)
    if (row.name == name)
      return &row;
  return nullptr;
}

/// The names of a table, with spaces between.
template <typename Row, size_t size>
std::string listNames(const Row (&table)[size]) {
  std::string list;
  for (const Row &row : table)
    list.append(list.empty() ? "" : " ").append(row.name);
  return list;
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_TENSORMAPTABLES_H
