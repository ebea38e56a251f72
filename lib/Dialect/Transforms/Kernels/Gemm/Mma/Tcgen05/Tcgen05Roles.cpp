//===- Tcgen05Roles.cpp - Around the roles --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor memory is allocated in front of the roles and freed behind them. Each
// role has a file of its own.

//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Tcgen05/Tcgen05Roles.h"

#include "Utils/IndexValues.h"
#include "blockscale/Support/TensorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

Tcgen05Roles::Tcgen05Roles(OpBuilder &b, gpu::GPUFuncOp kernel,
                           const KernelProblem &problem, const TmemPlan &plan,
                           const StagedOperands &operands)
    : RoleEmitter(b, kernel, problem, plan, operands, plan.getBarriers().count),
      tmemPlan(plan), slot(addSharedNumbers(kernel, b.getI32Type(), 1)),
      sums(loc, barriers, plan.getBarriers().fullSums,
           plan.getBarriers().emptySums, plan.getHandedSums()) {}

void Tcgen05Roles::emitInit() {
  auto first = RolesOp::create(b, loc, ArrayRef<int64_t>{1}, 1);
  OpBuilder at = getRole(first, 0);
  emitElected(at, [&](OpBuilder &one) {
    // A commit of the one who multiplies empties a stage. Sums are empty when
    // all have read them.
    emitStageBarriers(one, 1);
    sums.emitInit(one, 1, kTensorLanes * getGroup());
    NVVM::FenceMbarrierInitOp::create(one, loc);
  });
  // Both blocks of a pair have to be there, and have to have what the other one
  // arrives at.
  if (cluster.hasPairs()) {
    emitAllBarrier(b);
    first = RolesOp::create(b, loc, ArrayRef<int64_t>{1}, 1);
    at = getRole(first, 0);
  }
  TmemAllocOp::create(at, loc, slot, kTensorColumns, getGroup());
  TmemRelinquishOp::create(at, loc, getGroup());
  Tcgen05FenceOp::create(b, loc, Tcgen05FenceKind::Before);
  emitAllBarrier(b);
  Tcgen05FenceOp::create(b, loc, Tcgen05FenceKind::After);
  tmem = TmemBaseOp::create(
      b, loc, TmemType::get(b.getContext(), kTensorColumns), slot);
}

void Tcgen05Roles::emitFree() {
  // Others arrive at mbarriers of this block, and products of the other one of
  // a pair are in its memory, up to the last step.
  Tcgen05FenceOp::create(b, loc, Tcgen05FenceKind::Before);
  emitAllBarrier(b);
  auto first = RolesOp::create(b, loc, ArrayRef<int64_t>{1}, 1);
  OpBuilder at = getRole(first, 0);
  Tcgen05FenceOp::create(at, loc, Tcgen05FenceKind::After);
  TmemDeallocOp::create(at, loc, tmem, getGroup());
}

void Tcgen05Roles::emit() {
  emitInit();
  // Up to here, nothing of a kernel in front is touched.
  NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::wait);
  // Those who store come first: a warp may read a quarter of tensor memory, by
  // its number.
  SmallVector<int64_t> warps = {4, 1, 1};
  if (hasSoftwareProducer())
    warps.push_back(kSoftwareProducerWarps);
  auto roles = RolesOp::create(b, loc, warps, warps.size());
  OpBuilder storer = getRole(roles, 0);
  emitEpilogueWarps(storer);
  OpBuilder producer = getRole(roles, 1);
  emitProducer(producer);
  OpBuilder multiplier = getRole(roles, 2);
  if (cluster.hasPairs())
    multiplier = scf::IfOp::create(multiplier, loc, cluster.isLeader())
                     .getThenBodyBuilder();
  emitMmaWarp(multiplier);
  if (hasSoftwareProducer()) {
    OpBuilder loader = getRole(roles, 3);
    emitSoftwareProducer(loader, kTcgen05Warps * kWarpLanes);
  }
  emitFree();
}

bool Tcgen05Roles::hasMask() const {
  return !KernelProblem::isMultiple(problem.k,
                                    problem.instruction.getInstruction().k);
}

/// Which of two accumulators the tile number `count` (i32) has, as an index.
Value Tcgen05Roles::emitAccumulatorStage(OpBuilder &at, Value count) const {
  if (plan.getSchedule().getAccumulators() == 1)
    return index(at, 0);
  Value one = arith::ConstantOp::create(at, loc, at.getI32IntegerAttr(1));
  Value odd = arith::AndIOp::create(at, loc, count, one);
  return arith::IndexCastUIOp::create(at, loc, at.getIndexType(), odd);
}

Value Tcgen05Roles::emitAcc(OpBuilder &at, Value accStage) const {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  Value distance = index(at, tmemPlan.getAccColumn(1));
  Value column = at.createOrFold<arith::MulIOp>(loc, accStage, distance);
  auto type = TmemAccType::get(at.getContext(), schedule.getM() * getGroup(),
                               schedule.getN(), getGroup());
  return TmemAccOp::create(at, loc, type, tmem, column);
}
