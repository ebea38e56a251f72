//===- Tcgen05Roles.cpp - Warp roles of tcgen05 ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allocates tensor memory, starts the roles, and frees tensor memory behind
// them. Each role has a file of its own.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Tcgen05/Tcgen05Roles.h"

#include "blockscale/Support/TensorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

Tcgen05Roles::Tcgen05Roles(const RoleContext &context)
    : RoleEmitter(
          context,
          static_cast<const TmemPlan &>(context.plan).getBarriers().count),
      tmemPlan(static_cast<const TmemPlan &>(plan)),
      slot(addSharedArray(kernel, b.getI32Type(), 1)),
      accumulators(loc, barriers, tmemPlan.getBarriers().fullAccumulators,
                   tmemPlan.getBarriers().emptyAccumulators,
                   tmemPlan.getAccumulatorStages()) {}

void Tcgen05Roles::emitInit() {
  OpBuilder at = makeFirstWarp();
  emitElected(at, [&](OpBuilder &one) {
    // One commit of the MMA warp empties a stage. An accumulator is empty when
    // all threads of the epilogue warps have read it.
    emitStageBarriers(one, 1);
    accumulators.emitInit(one, 1, kTensorLanes * getCtaGroup());
    NVVM::FenceMbarrierInitOp::create(one, loc);
  });
  // With 2-CTA, both blocks must be running, and their mbarriers initialized,
  // before the other one uses them.
  if (cluster.hasPairs()) {
    emitAllBarrier(b);
    at = makeFirstWarp();
  }
  TmemAllocOp::create(at, loc, slot, kTensorColumns, getCtaGroup());
  TmemRelinquishOp::create(at, loc, getCtaGroup());
  Tcgen05FenceOp::create(b, loc, Tcgen05FenceKind::Before);
  emitAllBarrier(b);
  Tcgen05FenceOp::create(b, loc, Tcgen05FenceKind::After);
  tmem = TmemBaseOp::create(
      b, loc, TmemType::get(b.getContext(), kTensorColumns), slot);
}

void Tcgen05Roles::emitFree() {
  // Other blocks arrive at mbarriers of this block, and with 2-CTA the MMAs of
  // the leader use its memory, up to the last step.
  Tcgen05FenceOp::create(b, loc, Tcgen05FenceKind::Before);
  emitAllBarrier(b);
  OpBuilder at = makeFirstWarp();
  Tcgen05FenceOp::create(at, loc, Tcgen05FenceKind::After);
  TmemDeallocOp::create(at, loc, tmem, getCtaGroup());
}

void Tcgen05Roles::emit() {
  emitInit();
  // Everything up to here may overlap with the kernel in front.
  NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::wait);
  // Epilogue warps come first: a warp may read one quarter of tensor memory, by
  // its index modulo 4.
  SmallVector<int64_t> warps = {4, 1, 1};
  if (hasSoftwareProducer())
    warps.push_back(kSoftwareProducerWarps);
  auto roles = RolesOp::create(b, loc, warps, warps.size());
  emitEpilogueWarps(getRole(roles, 0));
  emitProducer(getRole(roles, 1));
  OpBuilder mmaWarp = getRole(roles, 2);
  if (cluster.hasPairs())
    mmaWarp = scf::IfOp::create(mmaWarp, loc, cluster.isLeader())
                  .getThenBodyBuilder();
  emitMmaWarp(mmaWarp);
  if (hasSoftwareProducer()) {
    emitSoftwareProducer(getRole(roles, 3), kTcgen05Warps * kWarpLanes);
  }
  emitFree();
}

bool Tcgen05Roles::hasMask() const {
  return problem.hasScales() &&
         !KernelProblem::isMultiple(problem.k,
                                    problem.instruction.getInstruction().k);
}

/// The accumulator stage of the tile number `count` (i32), as an index.
Value Tcgen05Roles::emitAccumulatorStage(OpBuilder &at, Value count) const {
  if (plan.getSchedule().getAccumulators() == 1)
    return index(at, 0);
  Value odd = arith::AndIOp::create(at, loc, count, word(at, 1));
  return arith::IndexCastUIOp::create(at, loc, at.getIndexType(), odd);
}

Value Tcgen05Roles::emitAcc(OpBuilder &at, Value accStage) const {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  Value distance = index(at, tmemPlan.getAccColumn(1));
  Value column = at.createOrFold<arith::MulIOp>(loc, accStage, distance);
  auto type = TmemAccType::get(at.getContext(), schedule.getM() * getCtaGroup(),
                               schedule.getN(), getCtaGroup());
  return TmemAccOp::create(at, loc, type, tmem, column);
}
