//===- MixedInputRoles.h - Warp roles of mixed input ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mixed-input mainloop with dequantization in registers (RS wgmma, sliced
// K): MMA warpgroups load quantized elements of y from shared memory,
// dequantize them in registers as A of wgmma, and multiply them with bf16
// values of x in shared memory. Each warpgroup has a slice of K; the slices are
// added at the end.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUT_MIXEDINPUTROLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUT_MIXEDINPUTROLES_H

#include "Kernels/Gemm/Mma/Wgmma/MixedInputPlan.h"
#include "Kernels/Gemm/Mma/Wgmma/WarpgroupRoles.h"

namespace mlir::blockscale {

class MixedInputRoles : public WarpgroupRoles {
public:
  explicit MixedInputRoles(const RoleContext &context);

  /// The accumulator type of an epilogue that quantizes: whole scale blocks in
  /// each warp. Accumulators get it by a detour through the memory of stages,
  /// when these are read no more. Nullopt if the tile or the memory is too
  /// small.
  static std::optional<AccType> getBlocksType(const SharedMemoryPlan &plan);
  /// The accumulator type of the epilogue if operands are not swapped.
  static AccType getTransposedType(WarpSpecializedScheduleAttr schedule);

protected:
  void emitLoader(OpBuilder b) override;
  /// The quantized y is an argument of the function, which no kernel in front
  /// writes: its copies start before that kernel has ended.
  bool isEarly() const override { return true; }
  /// Starts the copies of a step for all K slices: those of A or B, or both, as
  /// soon as stages are empty.
  void emitStepCopies(OpBuilder &b, const WorkTile &tile, Value step,
                      const PipelineState &state, Sides sides);
  /// The index, over all of K, of step `step` of K slice `slice`: each slice
  /// has a contiguous range of steps.
  Value emitSliceStep(OpBuilder &b, const WorkTile &tile, Value slice,
                      Value step) const;
  /// Waits until the values of x that the warps of the slice need are there;
  /// returns an i32 that is not 0 if one of them is inexact.
  virtual Value emitStart(OpBuilder &b, const WorkTile &tile);
  /// The accumulators and the i32 of inexact bits behind the products of a full
  /// stage, with `quantized` as A; `values` are those before, and scales.
  virtual SmallVector<Value> emitProducts(OpBuilder &b, const WorkTile &tile,
                                          Value step,
                                          const PipelineState &state,
                                          Value quantized, ValueRange values);
  /// The sums of a K slice from its accumulators.
  virtual Value emitEnd(OpBuilder &b, Value sums) { return sums; }
  /// Sets an inexact flag if the block needs one. All warps know `flag` by
  /// then, and no stage is read any more. (The GEMV recomputes instead.)
  virtual void emitFlagEpilogue(OpBuilder &b, const WorkTile &tile);
  /// The sums of all slices, as the epilogue gets them.
  virtual Value emitFinal(OpBuilder &b, Value sums) { return sums; }
  /// A barrier of all MMA warps; of those of the first K slice only.
  void emitMmaBarrier(OpBuilder &b);
  void emitSliceBarrier(OpBuilder &b);

  AccType accType;
  /// An i32 in shared memory: not 0 if some value is inexact.
  Value flag;
  /// The index of this thread, its K slice, and its lane.
  Value thread, slice, lane;

private:
  void emitConsumer(OpBuilder b) override;
  /// For how many stages copies of y start before the kernel in front has
  /// ended: no more than each slice has steps.
  int64_t getNumEarly() const;
  /// The scales, and the metadata of a sparse A, of the two rows of a lane for
  /// step number `step`, packed in i32.
  SmallVector<Value> loadScalesAndMetadata(OpBuilder &b, const WorkTile &tile,
                                           Value step);
  /// The bytes of `id` alone, scales or metadata: of both rows, and of one.
  SmallVector<Value> loadBytes(OpBuilder &b, const WorkTile &tile, Value step,
                               GemmOperand id);
  SmallVector<Value> loadByteWords(OpBuilder &b, GemmOperand id,
                                   ValueRange element);
  /// The elements along K of a byte of scales or of metadata, and the bytes of
  /// a K slice of a step, and of a row.
  int64_t getUnit(GemmOperand id) const;
  int64_t getBytesOfSlice(GemmOperand id) const;
  Value emitBytesOfRow(OpBuilder &b, GemmOperand id) const;
  /// How many bytes are known to be contiguous and aligned to their number.
  int64_t getWidth(GemmOperand id) const;
  /// The products of a step; `values` and the results are accumulators, the i32
  /// of inexact bits, and scales.
  SmallVector<Value> emitStep(OpBuilder &b, const WorkTile &tile, Value step,
                              const PipelineState &state, ValueRange values);
  /// The accumulators and the i32 of inexact bits behind all steps.
  SmallVector<Value> emitMainloop(OpBuilder &b, const WorkTile &tile,
                                  const PipelineState &first);
  SmallVector<Value> emitMainloops(OpBuilder &b, const WorkTile &tile,
                                   const PipelineState &first);
  void emitTile(OpBuilder &b, const WorkTile &tile, const PipelineState &first);
  /// Adds the sums of all slices, for the warps of the first one.
  Value emitSum(OpBuilder &b, Value sums);
  /// Stores the sums of a tile, which the warps of the first slice have, if
  /// operands are not swapped, and if they are.
  void emitTransposedSums(OpBuilder &b, const WorkTile &tile, Value sums);
  void emitSums(OpBuilder &b, const WorkTile &tile, Value sums);
  /// The sums of the warps of the first slice, each with whole scale blocks, or
  /// longer runs of a row in each lane.
  Value emitInRows(OpBuilder &b, Value sums, AccType type);
  /// An accumulator whose warps have a multiple of `columnsOfWarp`.
  static std::optional<AccType> getTypeInRows(const SharedMemoryPlan &plan,
                                              int64_t columnsOfWarp,
                                              int64_t interleave);
  /// The one from which lanes store most contiguous elements at once.
  std::optional<AccType> getRunsType();
  /// `count` tiles of partial accumulators in the memory of stages.
  Value emitPartialsView(OpBuilder &b, int64_t count);
  /// Sets `flag` if `inexact` is not 0 in any thread.
  void emitInexact(OpBuilder &b, Value inexact);
  void emitFirst(OpBuilder &one) override;

  /// Whether the mainloop is for a K of whole slices.
  bool areSlicesWhole;
  /// The scale of the whole tensor y, null if it has none.
  Value tensorScale;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUT_MIXEDINPUTROLES_H
