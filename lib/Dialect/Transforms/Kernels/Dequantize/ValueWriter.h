//===- ValueWriter.h - The body of dequantize kernels -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of the dequantize kernel: which lane makes which values, how
// elements and scales are loaded, where values are stored, and the per-block
// inexact flags. Each policy is a subclass in a file of its own.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_VALUEWRITER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_VALUEWRITER_H

#include "Fragments/Dequantize/WordEmitter.h"
#include "Kernels/Dequantize/DequantizeOperand.h"

namespace mlir::blockscale {

class ValueWriter {
public:
  static constexpr int64_t kValues = kDequantizedAtOnce;
  /// How many loads each lane has in flight.
  static constexpr int64_t kRounds = 4;

  virtual ~ValueWriter() = default;

  void build();

protected:
  /// The first of 8 neighbors along a row, and whether they are inside (null
  /// for always).
  struct Origin {
    Value batch, row, column, isInside;
  };

  ValueWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
              const DequantizedOperandProblem &problem);

  /// Loads what 8 values are made of: 8 quantized elements and their scale.
  virtual SmallVector<Value> load(const Origin &origin);
  /// The 8 values of `loaded`, or four pairs of bf16, each in an i32. Sets bits
  /// of `inexact` if one of them is inexact.
  virtual SmallVector<Value> emitValues(ValueRange loaded, Value &inexact) = 0;
  /// Makes all values of this thread; returns its i32 `inexact`.
  virtual Value emitTasks(Value none);

  /// 8 quantized elements: an i32 of nibbles, or two i32 of bytes.
  SmallVector<Value> loadWords(const Origin &origin);
  /// The code of the scale of the element that is `row` rows behind `origin`,
  /// or the bits of an f32.
  Value loadScale(const Origin &origin, int64_t row);
  /// Stores 8 values, or four pairs of them.
  void store(const Origin &origin, ArrayRef<Value> values);

  /// (group, part) of task number `task` of `groups` times `parts`.
  std::pair<Value, Value> emitGroup(Value task, Value groups, Value parts);
  /// Calls `body` for the tasks of the warp: each part of each group of
  /// rows of each matrix.
  Value forEachTask(
      Value groups, Value parts, Value inexact,
      function_ref<Value(Value batch, Value group, Value part, Value inexact)>
          body);
  /// A loop that carries an i32: its body makes the next one from the step and
  /// the one before.
  Value forEach(Value from, Value to, Value step, Value word,
                function_ref<Value(Value step, Value word)> body);

  MemRefType getType() const { return cast<MemRefType>(result.getType()); }
  Value size(unsigned fromEnd);
  Value emitK();
  Value emitRows();
  Value emitSourceRow(Value row);
  Value add(Value value, int64_t number);
  SmallVector<Value> compute(ArrayRef<AffineExpr> exprs, ValueRange values);

  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp kernel;
  const DequantizedOperandProblem &problem;
  WordEmitter emit;
  Value lane, result;

private:
  /// Stores values in the order of the chunk of a sparse operand.
  void storeBesideSparse(const Origin &origin, ArrayRef<Value> values);
  Value emitGroups(Value none);
  /// Zeros instead of `values`, which are behind the last of a row.
  void clearPadding(Value column, MutableArrayRef<Value> values);
  void emitFlag(Value inexact);
  void clearGroupFlags(Value flags, Value thread, Value block);
  SmallVector<Value> loadVector(const Origin &origin);
  SmallVector<Value> loadPacked6(ArrayRef<Value> position);
  Value loadElement(Value batch, Value row, Value column);
  SmallVector<Value> loadSingly(const Origin &origin);
  void storeSingly(const Origin &origin, int64_t lanes);
  void storeSome(const Origin &origin, Value column, ArrayRef<Value> values);

  /// Whether rows may end at any element.
  bool hasRaggedColumns = false;
};

/// The policies.
using ValueWriterPtr = std::unique_ptr<ValueWriter>;
ValueWriterPtr makeExactWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                               const DequantizedOperandProblem &problem);
ValueWriterPtr makePermutedWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                                  const DequantizedOperandProblem &problem);
ValueWriterPtr makeRoundedWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                                 const DequantizedOperandProblem &problem);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_VALUEWRITER_H
