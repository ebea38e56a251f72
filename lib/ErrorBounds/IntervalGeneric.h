//===- IntervalGeneric.h - linalg.generic on intervals ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All computation on tensors has one form, `linalg.generic`, and one way to
// carry intervals through it: the same loops, with the ends of each result, and
// a body that is made by the rules of ElementIntervals.h.
//
// Sums are apart: a device may add in another order. In any order of n
// additions, the rounding errors are at most n * u * sum |terms|, with u the
// error of one addition, so the ends are summed up in f64, and that is put
// around them.
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

/// Says of a reduction that tensor cores compute it, whose additions are those
/// of the promise for products, and which are inexact even if all operands are
/// exact.
void markTensorCoreSum(linalg::GenericOp op);
bool isTensorCoreSum(Operation *op);
/// Whether a device may add up what an output is the sum of in another order
/// than the host.
bool isReorderedSum(Operation *op);
/// Says of an op that it multiplies the numbers of codes, its first operand,
/// and scales, its second one.
void markDecodedProduct(linalg::GenericOp op);
/// Removes the marks again.
void unmarkSums(Operation *root);

/// Builds `op` on intervals, behind it, and adds those of its results to
/// `intervals`. False, with the name of the op in its body that there is no
/// rule for, if that is not possible.
bool buildOnIntervals(OpBuilder &builder, linalg::GenericOp op,
                      IntervalMap &intervals, std::string &culprit);

/// The same of an op on scalars, or of one that takes an element of a tensor.
/// Exact operands are replaced by what they are mapped to.
bool buildScalarOnIntervals(OpBuilder &builder, Operation &op,
                            IntervalMap &intervals,
                            const IRMapping &exact = {});

/// Both ends of an exact tensor of a type that has intervals.
Interval widenTensor(OpBuilder &builder, Value tensor);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_ERRORBOUNDS_INTERVALGENERIC_H
