//===- FactorLoader.h - Factors of partial sums -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The factors of a promoted_matmul in a mainloop. Each lane loads those of its
// rows and columns from global memory: neighboring ones along K share a line,
// and lanes of a row read the same one. Loads and uses are apart, so that a
// mainloop can load them while instructions compute.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_FACTORLOADER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_FACTORLOADER_H

#include "Kernels/Gemm/Problem/KernelProblem.h"
#include "Kernels/Gemm/TileScheduler/WorkTile.h"

namespace mlir::blockscale {

class FactorLoader {
public:
  /// For the sums of `tile`, in an accumulator of type `acc`, of a problem with
  /// promotion. `gathered` holds the rows of x that the rows of the tile read
  /// (i32), if the kernel gathers them.
  FactorLoader(gpu::GPUFuncOp kernel, const KernelProblem &problem,
               const ProblemSizes &sizes, AccType acc, const WorkTile &tile,
               Value gathered = {});

  /// The factors of some sums: a vector for each operand that has factors.
  struct Factors {
    Value rows, columns;

    void appendTo(SmallVectorImpl<Value> &values) const {
      for (Value vector : {rows, columns})
        if (vector)
          values.push_back(vector);
    }
  };
  /// Loads the factors of the sums that start at element `k`, an index; those
  /// behind the end of K are some other ones.
  Factors load(OpBuilder &b, Value k) const;

  /// The factors that were appended to some values.
  Factors getFactors(ValueRange values) const;

  /// Whether acc_promote may multiply in f32; null without factors.
  Value emitIsInRange(OpBuilder &b, const Factors &factors) const;

  /// `sums` plus `partials` with `factors`.
  Value promote(OpBuilder &b, Value sums, Value partials,
                const Factors &factors, Value isInRange) const;

private:
  Value loadSide(OpBuilder &b, bool isX, const SumFactors &factors,
                 Value k) const;
  Value emitRow(OpBuilder &b, bool isX, Value inTile) const;
  Value loadFactor(OpBuilder &b, const SumFactors &factors, Value row,
                   Value column) const;

  mutable gpu::GPUFuncOp kernel;
  Location loc;
  const PromotedSums &promotion;
  const ProblemSizes &sizes;
  AccType acc;
  const WorkTile &tile;
  Value gathered;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_FACTORLOADER_H
