//===- GroupSlices.h - Slices that a loop over groups reads --- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over groups multiplies slices. The grouped product has whole tensors:
// what the loop does with slices is done with all of them at once.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_GROUPSLICES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_GROUPSLICES_H

#include "Raise/GroupBounds.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::blockscale {

/// What a slice is of: the rows of the group, or the matrix of the group, whose
/// number is the first index. `Common` is no slice, but the same for all
/// groups.
enum class SliceKind { Rows, Matrix, Common };

/// Whether `size` is that of dimension `dim` of `tensor`.
bool isSizeOf(OpFoldResult size, Value tensor, int64_t dim);

/// Whether dimension `firstDim` of `first` has the size of dimension
/// `secondDim` of `second`.
bool haveOneSize(Value first, int64_t firstDim, Value second,
                 int64_t secondDim);

/// Whether `value`, in the body of `loop`, is made of a matrix that the number
/// of the group names, perhaps of the elements of one that is dequantized.
bool isMatrixOfGroup(scf::ForOp loop, Value value);

class GroupSlices {
public:
  GroupSlices(scf::ForOp loop, GroupBounds bounds)
      : loop(loop), bounds(bounds) {}

  /// Whether slices at `starts`, of `sizes`, are all columns of the rows of the
  /// group in `matrix`.
  bool areRows(OffsetSizeAndStrideOpInterface slice, Value matrix) const;

  /// The tensors that `value` is made of slices of; empty if it is made in
  /// another way than `create` does.
  SmallVector<Value> getSources(Value value, SliceKind kind) const;

  /// Creates the tensor whose slices `value` is in each group.
  Value create(OpBuilder &builder, Value value, SliceKind kind) const;

private:
  /// The tensor that `value` is a slice of; null if it is no slice.
  Value getSource(Value value, SliceKind kind) const;

  scf::ForOp loop;
  GroupBounds bounds;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_GROUPSLICES_H
