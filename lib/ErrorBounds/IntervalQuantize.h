//===- IntervalQuantize.h - Quantised intervals -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `quantize` makes of intervals. A scale rises with the largest magnitude
// of its block: its ends are those of the smallest and of the largest one that
// the block may have. A code is monotonic in the number for each scale, and in
// the scale for each number: its ends are among those of all combinations of
// their ends.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_ERRORBOUNDS_INTERVALQUANTIZE_H
#define BLOCKSCALE_LIB_ERRORBOUNDS_INTERVALQUANTIZE_H

#include "IntervalGeneric.h"
#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// Builds `op` on intervals, behind it, and adds those of its results to
/// `intervals`. False if x is exact, and the tensor scale is not, or there are
/// no tensors.
bool quantizeOnIntervals(OpBuilder &builder, QuantizeOp op,
                         IntervalMap &intervals);

/// The same of an op that multiplies what codes and scales stand for; false
/// with the name of what there is no rule for.
bool dequantizeOnIntervals(OpBuilder &builder, DequantizeOp op,
                           IntervalMap &intervals, std::string &culprit);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_ERRORBOUNDS_INTERVALQUANTIZE_H
