//===- MixedInputRoles.h - Codes converted on the way -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Warpgroups multiply rows of codes that they convert in registers with numbers
// that were decoded before; they divide K, and add their sums at the end.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUT_MIXEDINPUTROLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUT_MIXEDINPUTROLES_H

#include "Kernels/Gemm/Mma/Wgmma/MixedInputPlan.h"
#include "Kernels/Gemm/Mma/Wgmma/WarpgroupRoles.h"

namespace mlir::blockscale {

class MixedInputRoles : public WarpgroupRoles {
public:
  MixedInputRoles(OpBuilder &b, gpu::GPUFuncOp kernel,
                  const KernelProblem &problem, const SharedMemoryPlan &plan,
                  const StagedOperands &operands);

  /// Sums with whole blocks in each warp, which those of all parts of K become
  /// by way of stages that are read no more; nullopt for too few sums, or too
  /// few bytes of stages.
  static std::optional<AccType> getBlocksType(const SharedMemoryPlan &plan);

protected:
  void emitLoader(OpBuilder &b) override;
  /// Codes are an argument's, which no kernel in front writes: their copies
  /// start before it has ended.
  bool isEarly() const override { return true; }
  /// Starts the copies of a step for all parts of K: those of B behind those of
  /// A, or both where stages are empty.
  void emitStepCopies(OpBuilder &b, const WorkTile &tile, Value step,
                      const PipelineState &place, Sides sides);
  /// The number among all parts of K, of step `step` of part `part`: each part
  /// has steps that follow each other.
  Value emitPartStep(OpBuilder &b, const WorkTile &tile, Value part,
                     Value step) const;
  /// What is not 0 if a number of x is not what it should be, once those that
  /// the warps of the part need are there.
  virtual Value emitStart(OpBuilder &b, const WorkTile &tile);
  /// The sums, and what is inexact, of a full stage of the part of the warp
  /// with `codes`; `values` are those before, and scales.
  virtual SmallVector<Value> emitProducts(OpBuilder &b, const WorkTile &tile,
                                          Value step,
                                          const PipelineState &place,
                                          Value codes, ValueRange values);
  /// The sums of a part of K from what products have added up.
  virtual Value emitEnd(OpBuilder &b, Value sums) { return sums; }
  /// What is done where all warps know whether `flag` is 0, and no stage is
  /// read any more: the word of the block is stored.
  virtual void emitFound(OpBuilder &b, const WorkTile &tile);
  /// The sums of all parts as they are stored.
  virtual Value emitFinal(OpBuilder &b, Value sums) { return sums; }
  /// Waits for all warps that multiply; for those of the first part of K alone.
  void emitMeet(OpBuilder &b);
  void emitMeetOfPart(OpBuilder &b);
  /// Bytes of all stages from `offset` on, as numbers of `element`.
  Value emitView(OpBuilder &b, ArrayRef<int64_t> shape, Type element,
                 Value offset) const;

  AccType accType;
  /// A word of shared memory: not 0 if some number is not what it should be.
  Value flag;
  /// Of this thread: its number, its part of K, and its lane.
  Value thread, part, lane;

private:
  void emitConsumer(OpBuilder &b) override;
  /// How many stages are filled before the kernel in front has ended: no more
  /// than each part has steps.
  int64_t getNumEarly() const;
  /// The words of scales of a lane's two rows for the step number `step`.
  SmallVector<Value> loadScales(OpBuilder &b, const WorkTile &tile, Value step);
  SmallVector<Value> loadScaleWords(OpBuilder &b, ValueRange place);
  /// The products of a step: `values` are sums, what is inexact, and scales,
  /// and so is what comes out.
  SmallVector<Value> emitStep(OpBuilder &b, const WorkTile &tile, Value step,
                              const PipelineState &place, ValueRange values);
  void emitTile(OpBuilder &b, const WorkTile &tile, const PipelineState &first);
  /// The sums of all parts, for warps of the first one.
  Value emitSum(OpBuilder &b, Value sums);
  /// The sums of warps of the first part, each with whole blocks.
  Value emitBlocks(OpBuilder &b, Value sums);
  /// So many tiles of sums in stages.
  Value emitSumsView(OpBuilder &b, int64_t count);
  /// Sets `flag` if `inexact` is not 0 in any thread.
  void emitInexact(OpBuilder &b, Value inexact);
  void emitFirst(OpBuilder &one) override;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUT_MIXEDINPUTROLES_H
