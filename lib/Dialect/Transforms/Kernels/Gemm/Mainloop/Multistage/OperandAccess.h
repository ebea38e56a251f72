//===- OperandAccess.h - Reads of an operand in global memory ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads codes of an operand by row and column, wherever these are, and nothing
// that is beyond its end.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_OPERANDACCESS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_OPERANDACCESS_H

#include "Kernels/Gemm/Mainloop/Multistage/TileLoader.h"

namespace mlir::blockscale {

/// A place in an operand.
struct Place {
  Value row;
  Value column;
};

class OperandAccess {
public:
  /// With `isGuarded`, places may be outside of the operand.
  OperandAccess(const KernelOperand &operand, const FillContext &context,
                const FillSource &source, bool isGuarded)
      : operand(operand), context(context), source(source),
        isGuarded(isGuarded), loc(context.loc) {}

  /// Starts a copy of `bytes` bytes that start `plus` bytes (null for 0) behind
  /// the code at `place`, to `memory` at `to`.
  void copyAsync(OpBuilder &b, const Place &place, Value memory,
                 ArrayRef<Value> to, int64_t bytes, Value plus = {}) const;

  /// A word of `count` codes along K that are read one by one, each in `slot`.
  Value gatherWord(OpBuilder &b, const Place &place, int64_t count,
                   Slot slot) const;

  /// `count` words of codes as they follow each other in memory, from that at
  /// `place` on; all are inside of the operand or outside, and aligned as a
  /// whole.
  SmallVector<Value> loadWords(OpBuilder &b, const Place &place,
                               int64_t count) const;

private:
  /// Null where nothing has to be asked.
  Value isInside(OpBuilder &b, const Place &place) const;
  SmallVector<Value> getPosition(OpBuilder &b, Place place,
                                 Value isInside) const;

  const KernelOperand &operand;
  const FillContext &context;
  const FillSource &source;
  bool isGuarded;
  Location loc;
};

/// Stores words as four bytes each to `memory` at `to`, aligned as a whole.
void storeWords(OpBuilder &b, Location loc, ValueRange words, Value memory,
                ArrayRef<Value> to);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_OPERANDACCESS_H
