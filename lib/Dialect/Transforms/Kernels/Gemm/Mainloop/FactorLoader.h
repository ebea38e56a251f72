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

  /// The factors of some sums: a vector for each operand that has factors; and
  /// the element along K that these sums start at.
  struct Factors {
    Value rows, columns, k;

    void appendTo(SmallVectorImpl<Value> &values) const {
      for (Value vector : {rows, columns})
        if (vector)
          values.push_back(vector);
    }
  };
  /// Loads the factors of the sums that start at element `k`, an index; those
  /// behind the end of K are some other ones. None if `finish` multiplies by
  /// them.
  Factors load(OpBuilder &b, Value k) const;

  /// The factors that were appended to some values.
  Factors getFactors(ValueRange values, Value k) const;

  /// Factors as `promote` multiplies by them.
  struct Prepared {
    Factors factors;
    /// Whether it may do so in f32; null without factors.
    Value isInRange;
  };
  /// What is ready before the sums are. The factors themselves are not needed
  /// behind it: their registers can be those of the next ones.
  Prepared prepare(OpBuilder &b, const Factors &factors) const;

  /// `sums` plus `partials` with factors.
  Value promote(OpBuilder &b, Value sums, Value partials,
                const Prepared &prepared) const;

  /// `sums` over all of K, times the factors of whole sums if they are that.
  Value finish(OpBuilder &b, Value sums) const;

private:
  Factors loadSides(OpBuilder &b, Value k) const;
  Value emitIsInRange(OpBuilder &b, const Factors &factors) const;
  Value loadSide(OpBuilder &b, bool isX, const SumFactors &factors,
                 Value k) const;
  bool areTilesInside(bool isX) const;
  Value emitRow(OpBuilder &b, bool isX, Value inTile) const;
  Value loadFactor(OpBuilder &b, const SumFactors &factors, Value row,
                   Value column) const;

  mutable gpu::GPUFuncOp kernel;
  Location loc;
  const KernelProblem &problem;
  const PromotedSums &promotion;
  const ProblemSizes &sizes;
  AccType acc;
  const WorkTile &tile;
  Value gathered;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_FACTORLOADER_H
