//===- GemvRoles.h - Warp roles of the GEMV kernel --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GEMV with a block-diagonal B. The MMA warpgroups are those of the mixed-input
// kernel, with fp8 wgmma: y is A from registers. Each block expands the fp4 row
// x to B in shared memory itself, while the first elements of y arrive; a
// column of B has the elements of one scale block and zeros, so that each
// column of the accumulator is the dot product of one block.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_GEMV_GEMVROLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_GEMV_GEMVROLES_H

#include "Fragments/Dequantize/WordEmitter.h"
#include "Kernels/Gemm/Mma/Wgmma/MixedInput/MixedInputRoles.h"

namespace mlir::blockscale {

class GemvRoles final : public MixedInputRoles {
public:
  explicit GemvRoles(const RoleContext &context)
      : MixedInputRoles(context),
        gemv(plan.getSchedule(), *problem.quantizedB, problem.k) {}

private:
  /// A u32 of eight fp4 elements of x: its index in the K slice, whether it is
  /// inside, the elements, and their scale.
  struct Word {
    Value number, isInside, quantized, scale;
  };

  void emitLoader(OpBuilder b) override;
  Value emitStart(OpBuilder &b, const WorkTile &tile) override;
  SmallVector<Value> emitProducts(OpBuilder &b, const WorkTile &tile,
                                  Value step, const PipelineState &state,
                                  Value quantized, ValueRange values) override;
  Value emitEnd(OpBuilder &b, Value sums) override;
  void emitFlagEpilogue(OpBuilder &b, const WorkTile &tile) override;
  Value emitFinal(OpBuilder &b, Value sums) override;

  int64_t getSliceChunks() const {
    return plan.getSliceK() / GemvPlan::kChunkElements;
  }
  /// Eight fp4 elements of an operand as an i32, and the scale of a block.
  Value loadElements(OpBuilder &b, GemmOperand id, const WorkTile &tile,
                     Value row, Value column);
  Value loadScale(OpBuilder &b, GemmOperand id, const WorkTile &tile, Value row,
                  Value block);
  /// The dot product of a row of y with x in f64: of every `step`-th block from
  /// `first` to `end`.
  Value emitExactDot(OpBuilder &b, const WorkTile &tile, Value rowOfY,
                     Value first, Value end, int64_t step);
  /// Four times the dot product of two i32 of eight fp4 elements.
  Value emitDot(OpBuilder &b, Value x, Value y);
  /// The product of the scales of a block as f64; NaN if one of them is.
  Value emitScale(OpBuilder &b, Value x, Value y);
  /// The shared memory of the results that emitFlagEpilogue stores.
  Value viewExactResults(OpBuilder &b);
  /// The index of the first K chunk of step `step` of the K slice of the warp,
  /// among those of the block.
  Value emitFirstChunk(OpBuilder &b, const WorkTile &tile, Value step) const;
  Word loadWord(OpBuilder &b, const WorkTile &tile, Value number, Value count);
  /// Expands a u32 of x to B in shared memory; returns `inexact`, with bits set
  /// if its scale is NaN.
  Value spread(OpBuilder &b, const Word &of, Value firstChunk, Value inexact);
  void storeB(const WordEmitter &emit, const Word &of, Value chunk);
  /// Stores the factor of a scale block of x, for the first u32 of that block.
  void storeFactor(const WordEmitter &emit, Value scale, Value at);

  Value emitIsNaN(const WordEmitter &emit, Value scale) const;
  /// A scale with a mantissa as f32; its sign does not count.
  static Value emitScaleValue(const WordEmitter &emit, Value scale);
  bool isPower() const {
    return getFormatInfo(problem.quantizedB->scale).mantissaBits == 0;
  }

  GemvPlan gemv;
  /// Whether `flag` is not 0.
  Value isFlagSet;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_GEMV_GEMVROLES_H
