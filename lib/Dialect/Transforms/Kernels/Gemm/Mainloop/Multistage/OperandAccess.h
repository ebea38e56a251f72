//===- OperandAccess.h - Reads of an operand in memory ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicated reads of global memory: elements by row and column, in any layout,
// with zeros for everything outside the operand.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_OPERANDACCESS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_OPERANDACCESS_H

#include "Kernels/Gemm/Mainloop/Multistage/TileLoader.h"

namespace mlir::blockscale {

/// The row and the column of an element.
struct ElementPosition {
  Value row;
  Value column;
};

class OperandAccess {
public:
  /// With `isGuarded`, positions may be outside of the operand.
  OperandAccess(const KernelOperand &operand, const FillContext &context,
                const FillSource &source, bool isGuarded)
      : operand(operand), context(context), source(source),
        isGuarded(isGuarded), loc(context.loc) {}

  /// From now on, positions outside of the operand read its first element, not
  /// zeros.
  void setClamped() { isClamped = true; }

  /// Starts a cp.async of `bytes` bytes from `plus` bytes (null for 0) behind
  /// the element at `start`, to `memory` at `to`.
  void copyAsync(OpBuilder &b, const ElementPosition &start, Value memory,
                 ArrayRef<Value> to, int64_t bytes, Value plus = {}) const;

  /// An i32 of `count` elements along K that are read one by one, each in a
  /// slot of `slot`.
  Value gatherWord(OpBuilder &b, const ElementPosition &start, int64_t count,
                   Slot slot) const;

  /// `count` i32 of elements that are contiguous in memory, from that at
  /// `start` on; either all are inside of the operand or none, and they are
  /// aligned as a whole.
  SmallVector<Value> loadWords(OpBuilder &b, const ElementPosition &start,
                               int64_t count) const;

private:
  ElementPosition resolve(OpBuilder &b, ElementPosition start) const;
  /// Null if no check is needed.
  Value isInside(OpBuilder &b, const ElementPosition &start) const;
  SmallVector<Value> getPosition(OpBuilder &b, ElementPosition start,
                                 Value isInside) const;

  const KernelOperand &operand;
  const FillContext &context;
  const FillSource &source;
  bool isGuarded, isClamped = false;
  Location loc;
};

/// Stores each i32 as four bytes to `memory` at `to`, aligned as a whole.
void storeWords(OpBuilder &b, Location loc, ValueRange words, Value memory,
                ArrayRef<Value> to);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_OPERANDACCESS_H
