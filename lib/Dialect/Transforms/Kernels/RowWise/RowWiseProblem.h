//===- RowWiseProblem.h - What row-wise kernels compute ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWWISE_ROWWISEPROBLEM_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWWISE_ROWWISEPROBLEM_H

#include "Kernels/RowWise/RowWiseLanes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::blockscale {

/// The op that joins two values in `op`, a reduction; null if there is none
/// whose order does not matter.
Operation *findJoin(linalg::LinalgOp op);

/// A reduction. Its rows are the parallel loops, and all reduction loops are
/// along a row.
struct ReduceProblem {
  linalg::GenericOp op;
  RowWisePlan plan;
  /// The parameters: tensors and scalars, then the result.
  SetVector<Value> inputs;
  /// The initial value of every result, if that is a constant and no parameter.
  Operation *start = nullptr;

  /// The size of loop `loop` of the kernel; null if no parameter has it.
  Value getSize(OpBuilder &b, gpu::GPUFuncOp kernel, unsigned loop) const;
  /// Whether parameters have the sizes of all loops.
  bool hasSizes() const;

private:
  linalg::LinalgOp getLoops() const;
  /// A parameter, and the dimension of it, that a loop is over.
  std::optional<std::pair<unsigned, unsigned>> findSize(unsigned loop) const;
};

void buildReduce(gpu::GPUFuncOp kernel, const ReduceProblem &problem);

/// A softmax along the last dimension of its first parameter, which has the
/// type of the second one, the result.
struct SoftmaxProblem {
  RankedTensorType type;
  RowWisePlan plan;
};

/// The longest row that a warp has.
int64_t getLongestSoftmaxOfWarp();
void buildSoftmax(gpu::GPUFuncOp kernel, const SoftmaxProblem &problem);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWWISE_ROWWISEPROBLEM_H
