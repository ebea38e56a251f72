//===- GemvRoles.h - Codes and one row of codes -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The roles of products with codes of y where x is one row of codes, which each
// block spreads for itself while the first codes of y arrive.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_GEMV_GEMVROLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_GEMV_GEMVROLES_H

#include "Fragments/Dequantize/WordEmitter.h"
#include "Kernels/Gemm/Mma/Wgmma/MixedInput/MixedInputRoles.h"

namespace mlir::blockscale {

class GemvRoles final : public MixedInputRoles {
public:
  GemvRoles(OpBuilder &b, gpu::GPUFuncOp kernel, const KernelProblem &problem,
            const SharedMemoryPlan &plan, const StagedOperands &operands)
      : MixedInputRoles(b, kernel, problem, plan, operands),
        row(plan.getSchedule(), *problem.quantizedB, problem.k) {}

private:
  /// A word of eight codes of x: its place among those of the part, and what is
  /// loaded for it.
  struct Word {
    Value number, isInside, codes, scale;
  };

  void emitLoader(OpBuilder &b) override;
  Value emitStart(OpBuilder &b, const WorkTile &tile) override;
  SmallVector<Value> emitProducts(OpBuilder &b, const WorkTile &tile,
                                  Value step, const PipelineState &place,
                                  Value codes, ValueRange values) override;
  Value emitEnd(OpBuilder &b, Value sums) override;
  void emitFound(OpBuilder &b, const WorkTile &tile) override;
  Value emitFinal(OpBuilder &b, Value sums) override;

  int64_t getPartBoxes() const {
    return plan.getPartK() / GemvPlan::kBoxElements;
  }
  /// Eight codes of an operand as a word, and the scale of a block.
  Value loadCodes(OpBuilder &b, const KernelOperand &codes, ValueRange place);
  Value loadScale(OpBuilder &b, const KernelOperand &scales, ValueRange place);
  /// The sum of a row of y as f64: of blocks from `first` on to `end`, each
  /// `step`-th.
  Value emitExactSum(OpBuilder &b, const WorkTile &tile, Value rowOfY,
                     Value first, Value end, int64_t step);
  /// Four times the sum of the products of two words of codes.
  Value emitDot(OpBuilder &b, Value x, Value y);
  /// The product of the scales of a block as f64; NaN if one of them is.
  Value emitScale(OpBuilder &b, Value x, Value y);
  /// The sums that emitFound stores.
  Value viewExactSums(OpBuilder &b);
  /// The number of the first box of step `step` of the part of the warp, of
  /// those that the block has.
  Value emitFirstBox(OpBuilder &b, const WorkTile &tile, Value step) const;
  Word loadWord(OpBuilder &b, const WorkTile &tile, Value number, Value count);
  /// Stores B for a word; the word `inexact`, and more.
  Value spread(OpBuilder &b, const Word &of, Value firstBox, Value inexact);
  void storeNumbers(const WordEmitter &emit, const Word &of, Value box);
  /// Stores the factor of the block of the word, which is the first one of it.
  void storeFactor(const WordEmitter &emit, Value scale, Value at);

  Value emitIsNaN(const WordEmitter &emit, Value scale) const;
  /// A scale with a mantissa as f32; its sign does not count.
  static Value emitNumber(const WordEmitter &emit, Value scale);
  bool isPower() const {
    return getFormatInfo(problem.quantizedB->scale).mantissaBits == 0;
  }

  GemvPlan row;
  /// Whether `flag` is not 0.
  Value isFound;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_GEMV_GEMVROLES_H
