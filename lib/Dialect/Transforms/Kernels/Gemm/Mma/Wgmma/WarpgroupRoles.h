//===- WarpgroupRoles.h - Warp roles of all wgmma kernels -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the dense, the mixed-input and the GEMV kernel share: MMA warpgroups,
// which also do the epilogue from their registers, and one producer warpgroup,
// which hands registers over to them (setmaxnreg).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WARPGROUPROLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WARPGROUPROLES_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/RoleEmitter.h"
#include "Kernels/Gemm/Mma/Wgmma/WgmmaShares.h"

namespace mlir::blockscale {

class WarpgroupRoles : protected RoleEmitter {
public:
  explicit WarpgroupRoles(const RoleContext &context)
      : RoleEmitter(context, context.plan.getStageBarriers()),
        shares(context.plan.getSchedule()) {}
  virtual ~WarpgroupRoles() = default;

  void emit();

protected:
  virtual void emitConsumer(OpBuilder b) = 0;
  virtual void emitLoader(OpBuilder b) { emitProducer(b); }
  /// Set-up that one thread does before all others start.
  virtual void emitFirst(OpBuilder &one) {}
  /// Whether each role waits for the kernel in front by itself.
  virtual bool isEarly() const { return false; }
  void emitWait(OpBuilder &b);
  /// The instruction of a warpgroup, with N of the tile.
  InstructionAttr getInstruction() const;

  WgmmaShares shares;

private:
  void emitInit();
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WARPGROUPROLES_H
