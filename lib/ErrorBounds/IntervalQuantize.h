//===- IntervalQuantize.h - Quantised intervals -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intervals through `quantize`. A scale increases with the largest magnitude of
// its block, so its ends belong to the smallest and the largest possible
// maximum of the block. A quantized element is monotonic in the value for a
// fixed scale, and in the scale for a fixed value, so its ends are among those
// of all combinations of their ends.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_ERRORBOUNDS_INTERVALQUANTIZE_H
#define BLOCKSCALE_LIB_ERRORBOUNDS_INTERVALQUANTIZE_H

#include "IntervalGeneric.h"
#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// Builds `op` on intervals, after it, and adds those of its results to
/// `intervals`. False if x is exact but the tensor scale is not, or if there
/// are no tensors.
bool quantizeOnIntervals(OpBuilder &builder, QuantizeOp op,
                         IntervalMap &intervals);

/// The same for an op that multiplies quantized elements and scales; false with
/// the name of the op that has no rule.
bool dequantizeOnIntervals(OpBuilder &builder, DequantizeOp op,
                           IntervalMap &intervals, std::string &culprit);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_ERRORBOUNDS_INTERVALQUANTIZE_H
