//===- WarpEmitter.h - Values of all lanes of a warp ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short names for what the lanes of a warp do together with i32s. All lanes of
// the warp have to take part.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_WARPEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_WARPEMITTER_H

#include "Utils/ArithEmitter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::blockscale {

class WarpEmitter {
public:
  /// Threads of a block are along x.
  WarpEmitter(OpBuilder &b, Location loc);

  Value toWord(Value index) const;
  Value toIndex(Value word) const;

  /// `value` of lane `from`.
  Value broadcast(Value value, Value from) const {
    return shuffle(value, from, gpu::ShuffleMode::IDX);
  }
  /// That of the lane before, or `first` for the first one.
  Value getBefore(Value value, Value first) const;
  /// `combine` of the values of all lanes up to this one.
  Value scan(Value value,
             function_ref<Value(Value before, Value value)> combine) const;
  /// The first lane in which `flag` is true; 32 for none.
  Value findLane(Value flag) const;
  /// The lanes that have the same `value`, a bit each.
  Value findSame(Value value) const;
  /// The first lane of a mask, how many lanes it has, and how many of them are
  /// before this one.
  Value getFirst(Value mask) const;
  Value count(Value mask) const;
  Value countBefore(Value mask) const;
  /// Waits for all lanes, and for what they have written.
  void synchronize() const;

private:
  Value shuffle(Value value, Value by, gpu::ShuffleMode mode) const;

  OpBuilder &b;
  Location loc;

public:
  ArithEmitter emit;
  /// The index of the lane.
  Value lane;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_WARPEMITTER_H
