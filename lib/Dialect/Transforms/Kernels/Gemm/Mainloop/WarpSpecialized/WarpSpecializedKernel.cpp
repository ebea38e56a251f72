//===- WarpSpecializedKernel.cpp - Launch of a warp-specialized kernel ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One block fills an SM: its stages take most of the shared memory.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/WarpSpecializedKernel.h"

#include "Kernels/Gemm/Mainloop/Multistage/Stages.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/RoleEmitter.h"

using namespace mlir;
using namespace mlir::blockscale;

std::string
WarpSpecializedKernel::getRemark(const KernelProblem &problem) const {
  KernelProblem sides = getInstructionProblem(problem);
  return describeSoftwareOperands(planStagedOperands(sides, *makePlan(problem)),
                                  getSchedule(problem).getSwapAb());
}

SplitKRule
WarpSpecializedKernel::getSplitK(const KernelProblem &problem) const {
  WarpSpecializedScheduleAttr schedule = getSchedule(problem);
  return {schedule.getSplitK(), schedule.getK()};
}

KernelShape
WarpSpecializedKernel::getShape(const KernelProblem &problem) const {
  WarpSpecializedScheduleAttr schedule = getSchedule(problem);
  std::unique_ptr<SharedMemoryPlan> plan = makePlan(problem);
  KernelShape shape;
  shape.tile = {plan->getRowsOfSubTiles(), schedule.getN(), 1};
  shape.cluster = schedule.getCluster();
  if (schedule.getSwapAb()) {
    std::swap(shape.tile[0], shape.tile[1]);
    std::swap(shape.cluster.m, shape.cluster.n);
  }
  shape.setsInexactFlags = setsInexactFlags();
  shape.threads = {getThreads(schedule), 1, 1};
  shape.shared = getDynamicBytes(plan->getSharedBytes(), kBarrierBytes);
  shape.order = getBlockOrder(schedule, problem);
  KernelProblem sides = getInstructionProblem(problem);
  bool hasSoftwareProducer = false;
  for (const StagedOperand &operand : planStagedOperands(sides, *plan)) {
    hasSoftwareProducer |= operand.loader != nullptr;
    if (!operand.tensor)
      continue;
    shape.maps.push_back(operand.tensor->getMap());
    shape.mapped.push_back(operand.tensor->getArgument());
  }
  if (hasSoftwareProducer)
    shape.threads[0] += kSoftwareProducerWarps * kWarpLanes;
  return shape;
}

void WarpSpecializedKernel::build(gpu::GPUFuncOp kernel,
                                  const KernelProblem &problem) const {
  std::unique_ptr<SharedMemoryPlan> plan = makePlan(problem);
  KernelProblem sides = getInstructionProblem(problem);
  StagedOperands operands = planStagedOperands(sides, *plan);
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  // Most often no second block fits on an SM. Without this, ptxas saves
  // registers for one, and spills. (With wgmma, warpgroups hand registers to
  // each other: the block needs all of them.)
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  b.getI32IntegerAttr(static_cast<int32_t>(
                      getSchedule(problem).getBlocksPerSm())));
  emitRoles({b, kernel, sides, *plan, operands});
  gpu::ReturnOp::create(b, kernel.getLoc());
}
