//===- ErrorProbes.h - What errors of sums come to --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intervals hold whatever a device may have, each error at its worst and all
// against one. Behind two products, with codes between them, that is so wide
// that a bug fits in. So what errors come to is also measured: the function is
// computed again with its inexact values moved, each by what f32 may lose
// there.
//
// A probe is one such computation. Of the four, two move all values to one side
// and to the other, and two move each to a side of its own, opposite to that of
// the other probe: whatever border a value may cross, such as that between two
// codes, it crosses in one of the first and in one of the last.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_ERRORBOUNDS_ERRORPROBES_H
#define BLOCKSCALE_LIB_ERRORBOUNDS_ERRORPROBES_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::blockscale {

inline constexpr unsigned kNumErrorProbes = 4;

/// Clones `ops`, which are in order and in one block, to the insertion point,
/// and gives what becomes of `values` in probe `probe`. `isSource` says which
/// ops have results that devices may have another way.
SmallVector<Value> buildErrorProbe(OpBuilder &builder,
                                   ArrayRef<Operation *> ops, ValueRange values,
                                   unsigned probe,
                                   function_ref<bool(Operation &)> isSource);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_ERRORBOUNDS_ERRORPROBES_H
