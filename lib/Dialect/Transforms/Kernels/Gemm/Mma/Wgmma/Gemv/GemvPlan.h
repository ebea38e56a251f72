//===- GemvPlan.h - Where a row of codes is spread --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a block has behind its stages where x is one row of codes: B of all its
// instructions, and a word for each of its scales (see warpgroup_mma_gemv).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_GEMV_GEMVPLAN_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_GEMV_GEMVPLAN_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

struct GemvPlan {
  /// Codes of a box, the bytes that B has for it, and codes of a word.
  static constexpr int64_t kBoxElements = 128, kBoxBytes = 1024, kWordCodes = 8;

  GemvPlan(WarpSpecializedScheduleAttr schedule, const TypeCombination &types,
           int64_t k);

  /// Boxes along K of a block of threads.
  int64_t boxes;
  /// Scales of a box.
  int64_t blocksOfBox;

  int64_t getNumberBytes() const { return boxes * kBoxBytes; }
  int64_t getFactorBytes() const;
  int64_t getBytes() const { return getNumberBytes() + getFactorBytes(); }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_GEMV_GEMVPLAN_H
