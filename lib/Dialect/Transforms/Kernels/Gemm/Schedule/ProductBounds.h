//===- ProductBounds.h - Lower bounds for a GEMM ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A roofline for paths without a cost model: the clocks that each unit of a
// chip needs at least for a product in tiles, from the rates in
// Support/Rates.h, and which unit is the limit.
//
// Instruction issue, dequantization, latencies and the overlap of blocks on an
// SM are left out, so even the largest bound is no estimate of the time.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_PRODUCTBOUNDS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_PRODUCTBOUNDS_H

#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Schedule/KernelChooser.h"

namespace mlir::blockscale {

/// The tile of a block. M and N are those of the result.
struct ProductTile {
  int64_t m = 1, n = 1, k = 1;
  /// Split-K ranges, each computed by other blocks.
  int64_t splitK = 1;
  /// How many warps (or warpgroups) read each element of x, or of y, from
  /// shared memory; 0 if that operand is not there.
  int64_t readsOfX = 0, readsOfY = 0;
  /// Whether kernels in front dequantize it to bf16.
  bool isXDequantized = false, isYDequantized = false;
  /// The type combination of operands in memory, if it is not that of the op.
  std::optional<TypeCombination> types = std::nullopt;
};

void printProductBounds(raw_ostream &os, ScheduledProduct product,
                        const ProductTile &tile);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_PRODUCTBOUNDS_H
