//===- NumberWriter.h - Numbers of bf16 in memory ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels have in common that make numbers of an operand of a product,
// whatever they make them of: who makes which, where they go, and the words
// that say whether one of them is not what it should be.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DECODE_NUMBERWRITER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DECODE_NUMBERWRITER_H

#include "Fragments/Convert/WordEmitter.h"
#include "Kernels/Decode/DecodeKernel.h"

namespace mlir::blockscale {

class NumberWriter {
public:
  /// Numbers that a lane makes at once, and the lanes of a warp together.
  static constexpr int64_t kNumbers = 8,
                           kStrip = kNumbers * int64_t(kWarpLanes);
  /// Loads that are under way for each lane.
  static constexpr int64_t kRounds = 4;

  virtual ~NumberWriter() = default;

protected:
  /// Where 8 numbers are, of which the first is inside of the operand.
  struct Place {
    Value batch, row, column, isInside;
  };

  NumberWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
               const DecodeProblem &problem);

  /// What 8 numbers along K are made of.
  virtual SmallVector<Value> load(const Place &place) = 0;
  /// Stores the numbers of `loaded`; the word `lost` with what is lost of them.
  virtual Value emitNumbers(const Place &place, ValueRange loaded,
                            Value lost) = 0;

  /// Rows of numbers along K, of which a warp takes some strips at a time. The
  /// word `lost` of this thread.
  Value emitLines(Value none);
  /// Stores the block's word, of those `lost` of its threads, and ends the
  /// kernel.
  void emitEnd(Value lost);
  /// Stores 8 numbers, which are four pairs, if they are inside.
  void store(const Place &place, ArrayRef<Value> pairs);

  /// Calls `body` for the tasks of the warp: each part of each line of each
  /// matrix.
  Value forEachTask(
      Value lines, Value parts, Value lost,
      function_ref<Value(Value batch, Value line, Value part, Value lost)>
          body);
  /// A loop whose body makes a word of a step and of the word before.
  Value forEach(Value from, Value to, Value step, Value word,
                function_ref<Value(Value step, Value word)> body);

  Value size(unsigned fromEnd);
  Value add(Value value, int64_t number);
  SmallVector<Value> compute(ArrayRef<AffineExpr> exprs, ValueRange values);

  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp kernel;
  const DecodeProblem &problem;
  WordEmitter emit;
  Value lane, numbers;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DECODE_NUMBERWRITER_H
