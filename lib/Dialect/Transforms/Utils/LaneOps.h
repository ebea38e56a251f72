//===- LaneOps.h - Work of a lane -------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_LANEOPS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_LANEOPS_H

#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// The value of the lane whose index differs in the bits of `distance`.
Value emitShuffle(OpBuilder &b, Location loc, Value value, int64_t distance);

/// The elements of `vector`, which has rank 1.
SmallVector<Value> extractElements(OpBuilder &b, Location loc, Value vector);

/// The i32s of `bytes` bytes at `indices` of `memory`, in one aligned load.
SmallVector<Value> loadWords(OpBuilder &b, Location loc, Value memory,
                             ValueRange indices, int64_t bytes);

/// Emits `body` under `condition`, or without a branch if `condition` is null.
void emitIf(OpBuilder &b, Location loc, Value condition,
            function_ref<void()> body);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_LANEOPS_H
