//===- ErrorProbes.h - Measured errors of sums ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intervals contain every possible result of a device, with all errors at their
// worst at once. After two products with quantization in between, they are so
// wide that bugs stay unnoticed. So the errors are also measured: the function
// is computed again with its inexact values moved by the rounding error of f32.
//
// A probe is one such computation. There are four: two move all values up or
// all down, and two move each value in a random direction, opposite to each
// other. So if a value may cross a border, such as the one between two codes,
// it does in one of the first two and in one of the last two probes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_ERRORBOUNDS_ERRORPROBES_H
#define BLOCKSCALE_LIB_ERRORBOUNDS_ERRORPROBES_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::blockscale {

inline constexpr unsigned kNumErrorProbes = 4;

/// Clones `ops`, which are in order and in one block, to the insertion point,
/// and returns the clones of `values` in probe `probe`. `isSource` tells the
/// ops whose results may differ on devices.
SmallVector<Value> buildErrorProbe(OpBuilder &builder,
                                   ArrayRef<Operation *> ops, ValueRange values,
                                   unsigned probe,
                                   function_ref<bool(Operation &)> isSource);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_ERRORBOUNDS_ERRORPROBES_H
