//===- WarpgroupRoles.cpp - Warp roles of all wgmma kernels ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MMA warpgroups come first; the last warpgroup is the producer, of which one
// warp works.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/WarpgroupRoles.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// Registers of each thread: in MMA warpgroups, and in the producer warpgroup.
struct RegisterShares {
  int64_t groups, blocksPerSm;
  int32_t multiply, load;
};
} // namespace

// Together at most the 65536 of an SM, for all of its blocks, in steps of 8,
// like the number at launch.
static constexpr RegisterShares kRegisterShares[] = {{1, 1, 240, 24},
                                                     {2, 1, 240, 24},
                                                     {3, 1, 160, 32},
                                                     {4, 1, 112, 32},
                                                     {2, 2, 104, 32}};

InstructionAttr WarpgroupRoles::getInstruction() const {
  const Instruction &row = problem.instruction.getInstruction();
  return InstructionAttr::get(problem.instruction.getContext(), row.path, row.m,
                              plan.getSchedule().getN(), row.k, row.kind, row.a,
                              row.b, row.scale, row.scaleVec, row.sparsity);
}

void WarpgroupRoles::emitInit() {
  OpBuilder at = makeFirstWarp();
  emitElected(at, [&](OpBuilder &one) {
    emitStageBarriers(one, shares.getWarpsOfSlice());
    emitFirst(one);
    NVVM::FenceMbarrierInitOp::create(one, loc);
  });
  emitAllBarrier(b);
}

void WarpgroupRoles::emitWait(OpBuilder &at) {
  NVVM::GriddepcontrolOp::create(at, loc, NVVM::GridDepActionKind::wait);
}

void WarpgroupRoles::emit() {
  emitInit();
  // Everything up to here may overlap with the kernel in front.
  if (!isEarly())
    emitWait(b);
  const auto *registers =
      llvm::find_if(kRegisterShares, [&](const RegisterShares &row) {
        return row.groups == shares.groups &&
               row.blocksPerSm == plan.getSchedule().getBlocksPerSm();
      });
  SmallVector<int64_t> warps = {shares.getWarps(), kWarpgroupWarps};
  auto roles = RolesOp::create(b, loc, warps, warps.size());
  OpBuilder consumer = getRole(roles, 0);
  NVVM::SetMaxRegisterOp::create(consumer, loc, registers->multiply,
                                 NVVM::SetMaxRegisterAction::increase);
  emitConsumer(consumer);
  // All four warps give registers away; one of them is the producer.
  OpBuilder producers = getRole(roles, 1);
  NVVM::SetMaxRegisterOp::create(producers, loc, registers->load,
                                 NVVM::SetMaxRegisterAction::decrease);
  auto one = RolesOp::create(producers, loc,
                             ArrayRef<int64_t>{shares.getWarps() + 1}, 1);
  emitLoader(getRole(one, 0));
  // Other blocks arrive at mbarriers of this block up to their last step.
  if (cluster.hasOthers())
    emitAllBarrier(b);
}
