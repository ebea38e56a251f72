//===- WgmmaRoles.h - Roles of the path wgmma -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Warpgroups multiply the stages that a warp fills, and store the sums, which
// are in their registers.

//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMAROLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMAROLES_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/RoleEmitter.h"

namespace mlir::blockscale {

/// Rows of an instruction, and the warps of a warpgroup.
inline constexpr int64_t kWarpgroupRows = 64, kWarpgroupWarps = 4;

/// How a block divides M of its tile; and K of a stage, where codes are
/// converted on the way, which takes the time of more warpgroups.
struct WgmmaShares {
  explicit WgmmaShares(WarpSpecializedScheduleAttr schedule);

  /// Warpgroups that multiply, instructions along M of each, and parts of K.
  int64_t groups, parts, partsOfK;

  /// Rows that all warpgroups of a part of K take at once.
  int64_t getRows() const { return groups / partsOfK * kWarpgroupRows; }
  int64_t getWarpsOfPart() const { return getWarps() / partsOfK; }
  int64_t getWarps() const { return groups * kWarpgroupWarps; }
  /// Those of the block: with a warpgroup that fills stages.
  int64_t getAllWarps() const { return getWarps() + kWarpgroupWarps; }
};

/// What roles of warpgroups have in common, whatever they multiply.
class WarpgroupRoles : protected RoleEmitter {
public:
  WarpgroupRoles(OpBuilder &b, gpu::GPUFuncOp kernel,
                 const KernelProblem &problem, const SharedMemoryPlan &plan,
                 const StagedOperands &operands);
  virtual ~WarpgroupRoles() = default;

  void emit();

protected:
  virtual void emitConsumer(OpBuilder &b) = 0;
  virtual void emitLoader(OpBuilder &b) { emitProducer(b); }
  /// What one thread does before all others.
  virtual void emitFirst(OpBuilder &one) {}
  /// Whether each role waits for the kernel in front by itself.
  virtual bool isEarly() const { return false; }
  void emitWait(OpBuilder &b);
  /// The instruction of warps, with N of the tile.
  InstructionAttr getInstruction() const;

  WgmmaShares shares;

private:
  void emitInit();
};

class WgmmaRoles final : public WarpgroupRoles {
public:
  using WarpgroupRoles::WarpgroupRoles;

  /// Sums that all warpgroups have at once.
  static AccType getAccType(WarpSpecializedScheduleAttr schedule);

private:
  void emitConsumer(OpBuilder &b) override;
  /// The products of a tile; the place in the pipeline is the first of
  /// `values`.
  SmallVector<Value> emitProducts(OpBuilder &b, const WorkTile &tile,
                                  ValueRange values);
  /// The sums with those of the stage at `place` added.
  SmallVector<Value> emitStep(OpBuilder &b, const PipelineState &place,
                              ValueRange sums);
  void emitSums(OpBuilder &b, const WorkTile &tile, ValueRange sums);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMAROLES_H
