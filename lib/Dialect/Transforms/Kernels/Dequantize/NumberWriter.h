//===- NumberWriter.h - The kernel that dequantizes -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the kernel does under each policy: which lane makes which values, how
// elements and scales are loaded, where values are stored, and the inexact
// flags. A policy is a class of its own, in a file of its own.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_NUMBERWRITER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_NUMBERWRITER_H

#include "Fragments/Dequantize/WordEmitter.h"
#include "Kernels/Dequantize/DequantizeOperand.h"

namespace mlir::blockscale {

class NumberWriter {
public:
  static constexpr int64_t kNumbers = kDequantizedAtOnce;
  /// Loads that are under way for each lane.
  static constexpr int64_t kRounds = 4;

  virtual ~NumberWriter() = default;

  void build();

protected:
  /// Where 8 neighbors along a row are, and whether they are inside (null for
  /// always).
  struct Place {
    Value batch, row, column, isInside;
  };

  NumberWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
               const DequantizedOperandProblem &problem);

  /// What 8 values are made of: 8 quantized elements and their scale.
  virtual SmallVector<Value> load(const Place &place);
  /// The 8 values of `loaded`, or four pairs of bf16 as words. `inexact` gets
  /// bits if one of them is inexact.
  virtual SmallVector<Value> emitNumbers(ValueRange loaded, Value &inexact) = 0;
  /// All values of this thread; gives the word `inexact` of it.
  virtual Value emitTasks(Value none);

  /// 8 quantized elements: one word of nibbles, or two words of bytes.
  SmallVector<Value> loadWords(const Place &place);
  /// The scale of the element that is `row` rows behind `place`.
  Value loadScale(const Place &place, int64_t row);
  /// Stores 8 values, or four pairs of them.
  void store(const Place &place, ArrayRef<Value> values);

  /// Calls `body` for the tasks of the warp: each part of each line of each
  /// matrix.
  Value forEachTask(
      Value lines, Value parts, Value inexact,
      function_ref<Value(Value batch, Value line, Value part, Value inexact)>
          body);
  /// A loop whose body makes a word of a step and of the word before.
  Value forEach(Value from, Value to, Value step, Value word,
                function_ref<Value(Value step, Value word)> body);

  MemRefType getType() const { return cast<MemRefType>(numbers.getType()); }
  Value size(unsigned fromEnd);
  Value add(Value value, int64_t number);
  Value isBelow(Value value, Value limit);
  SmallVector<Value> compute(ArrayRef<AffineExpr> exprs, ValueRange values);

  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp kernel;
  const DequantizedOperandProblem &problem;
  WordEmitter emit;
  Value lane, numbers;

private:
  Value emitLines(Value none);
  void emitFlag(Value inexact);
  SmallVector<Value> loadVector(const Place &place);
  SmallVector<Value> loadPacked6(ArrayRef<Value> position);
  SmallVector<Value> loadSingly(const Place &place);
  void storeSome(const Place &place, Value column, ArrayRef<Value> values);

  /// The size of rows where they may end anywhere; else null.
  Value raggedColumns;
};

/// The policies.
using NumberWriterPtr = std::unique_ptr<NumberWriter>;
NumberWriterPtr makeExactWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                                const DequantizedOperandProblem &problem);
NumberWriterPtr makePermutedWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                                   const DequantizedOperandProblem &problem);
NumberWriterPtr makeRoundedWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                                  const DequantizedOperandProblem &problem);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_NUMBERWRITER_H
