//===- OpSizes.h - The sizes that a schedule is chosen by -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes that choosers and cost models work with. A dynamic size has a
// stand-in.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_OPSIZES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_OPSIZES_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

struct OpSizes {
  int64_t m, n, k, batch;
};

/// What a dynamic size counts as in bounds and estimates: large, so that all
/// SMs are busy.
inline constexpr int64_t kEstimatedSize = int64_t(1) << 16;
/// What it counts as for the question whether kernels in front dequantize
/// operands, which pays only for large sizes.
inline constexpr int64_t kDequantizedSize = 4096;

/// The logical K: that of x, or of y where x is sparse.
inline int64_t getLogicalK(ProductOpInterface op) {
  using Side = MmaScaledOp::Side;
  Side side = op.getMetadata() ? Side::Y : Side::X;
  auto type =
      cast<ShapedType>((side == Side::X ? op.getX() : op.getY()).getType());
  return type.getDimSize(MmaScaledOp::getKDim(side, type.getRank()));
}

/// Whether sums have factors, and all of these are of all of K: then they
/// multiply whole sums, not those of intervals.
inline bool hasWholeFactors(const Promotion &promotion) {
  auto isOfIntervals = [](Value factors, ScaleBlock block) {
    return factors && block.k != ScaleBlock::kAll;
  };
  return (promotion.xFactors || promotion.yFactors) &&
         !isOfIntervals(promotion.xFactors, promotion.xBlock) &&
         !isOfIntervals(promotion.yFactors, promotion.yBlock);
}

/// The sizes of `op`; a dynamic one counts as `dynamicSize`. Groups of rows
/// count as a batch of matrices with the rows that a group has on average.
inline OpSizes getOpSizes(ProductOpInterface op, int64_t dynamicSize) {
  auto sizeOr = [&](int64_t size) {
    return ShapedType::isDynamic(size) ? dynamicSize : size;
  };
  auto type = cast<ShapedType>(op.getAcc().getType());
  unsigned rank = type.getRank();
  int64_t k = getLogicalK(op);
  if (RowGroupOperands of = op.getRowGroups()) {
    int64_t rows = type.getDimSize(0),
            groups = cast<ShapedType>(of.offsets.getType()).getDimSize(0);
    if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(groups))
      rows = dynamicSize;
    else
      rows = llvm::divideCeilSigned(rows, groups);
    return {rows, sizeOr(type.getDimSize(1)), sizeOr(k), sizeOr(groups)};
  }
  return {sizeOr(type.getDimSize(rank - 2)), sizeOr(type.getDimSize(rank - 1)),
          sizeOr(k), rank == 3 ? sizeOr(type.getDimSize(0)) : 1};
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_OPSIZES_H
