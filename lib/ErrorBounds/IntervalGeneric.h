//===- IntervalGeneric.h - linalg.generic on intervals ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All computation on tensors is `linalg.generic`. Intervals go through it with
// the same loops, the ends of each result as outputs, and a body made by the
// rules of ElementIntervals.h.
//
// Sums are different, since a device may add in another order. In any order of
// n additions, the rounding errors are at most n * u * sum |terms|, with u the
// error of one addition. So the ends are summed up in f64, and widened by that.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_ERRORBOUNDS_INTERVALGENERIC_H
#define BLOCKSCALE_LIB_ERRORBOUNDS_INTERVALGENERIC_H

#include "ElementIntervals.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

#include <string>

namespace mlir::blockscale {

/// The intervals of inexact values.
using IntervalMap = DenseMap<Value, Interval>;

/// Marks a reduction that tensor cores compute: its error is the documented
/// bound of products, and it is inexact even if all operands are exact.
void markTensorCoreSum(linalg::GenericOp op);
bool isTensorCoreSum(Operation *op);
/// Whether a device may add up an output in another order than the host.
bool isReorderedSum(Operation *op);
/// Marks an op that dequantizes: it multiplies the quantized elements of its
/// first operand and the scales of its second one.
void markDecodedProduct(linalg::GenericOp op);
/// Removes the marks again.
void unmarkSums(Operation *root);

/// Builds `op` on intervals, after it, and adds those of its results to
/// `intervals`. If that is not possible, false, with the name of the op in its
/// body that has no rule.
bool buildOnIntervals(OpBuilder &builder, linalg::GenericOp op,
                      IntervalMap &intervals, std::string &culprit);

/// The same for an op on scalars, or one that extracts an element of a tensor.
/// Exact operands are mapped.
bool buildScalarOnIntervals(OpBuilder &builder, Operation &op,
                            IntervalMap &intervals,
                            const IRMapping &exact = {});

/// Both ends of an exact tensor whose type has intervals.
Interval widenTensor(OpBuilder &builder, Value tensor);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_ERRORBOUNDS_INTERVALGENERIC_H
