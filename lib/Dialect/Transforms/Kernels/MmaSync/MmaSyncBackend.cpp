//===- MmaSyncBackend.cpp - Kernels of the path mma_sync ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The path has two kernels, and the schedule says which one is built: warps
// that copy what they multiply (Warps/), or roles whose stages are filled by
// bulk tensor copies.
//
//===----------------------------------------------------------------------===//

#include "Kernels/MmaSync/MmaSyncRoles.h"
#include "Kernels/MmaSync/MmaSyncSchedules.h"
#include "Kernels/Staging/Stages.h"
#include "Kernels/Warps/MultistageKernel.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

static RingScheduleAttr getRing(const KernelProblem &problem) {
  return dyn_cast<RingScheduleAttr>(Attribute(problem.schedule));
}

static RingPlan makePlan(const KernelProblem &problem) {
  return getRingPlan(problem.types, problem.instruction.getInstruction(),
                     getRing(problem));
}

namespace {
class MmaSyncBackend final : public KernelBackend {
public:
  const ScheduleRules *getScheduleRules() const override {
    return &getMmaSyncScheduleRules();
  }
  bool takesOverSurroundings() const override { return true; }
  bool wantsScaleAtoms(ScheduleInterface schedule) const override {
    return isa<RingScheduleAttr>(Attribute(schedule));
  }
  bool wantsPackedElements(const KernelOperand &operand, Format format,
                           const KernelProblem &problem) const override {
    return wantsPackedCodes(operand, format, problem);
  }

  std::string getRemark(const KernelProblem &problem) const override {
    if (!getRing(problem))
      return {};
    return describeFilled(planRingOperands(problem, makePlan(problem)));
  }

  KernelSplit getSplit(const KernelProblem &problem) const override {
    RingScheduleAttr ring = getRing(problem);
    return ring ? KernelSplit{ring.getSplits(), ring.getK()}
                : warps.getSplit(problem);
  }

  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    RingScheduleAttr ring = getRing(problem);
    if (!ring)
      return warps.getResultTile(problem);
    return ResultTile{
        ring.getM(), ring.getN(), {MmaSyncRoles::getAccType(ring)}};
  }

  KernelShape getShape(const KernelProblem &problem) const override {
    RingScheduleAttr ring = getRing(problem);
    if (!ring)
      return warps.getShape(problem);
    RingPlan plan = makePlan(problem);
    RingOperands operands = planRingOperands(problem, plan);
    KernelShape shape;
    shape.tile = {ring.getM(), ring.getN(), 1};
    shape.threads = {MmaSyncRoles::getThreads(ring, operands), 1, 1};
    shape.shared = getDynamicBytes(plan.getSharedBytes(), kBarrierBytes);
    shape.order =
        ring.getPersistent() ? BlockOrder::Persistent : BlockOrder::Linear;
    for (const RingOperand &operand : operands) {
      if (!operand.tensor)
        continue;
      shape.maps.push_back(operand.tensor->getMap());
      shape.mapped.push_back(operand.tensor->getArgument());
    }
    return shape;
  }

  void build(gpu::GPUFuncOp kernel,
             const KernelProblem &problem) const override {
    if (!getRing(problem))
      return warps.build(kernel, problem);
    RingPlan plan = makePlan(problem);
    RingOperands operands = planRingOperands(problem, plan);
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    // Its stages leave no room for a second block on a multiprocessor. Without
    // this, ptxas saves registers for one.
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(1));
    MmaSyncRoles(b, kernel, problem, plan, operands).emit();
    gpu::ReturnOp::create(b, kernel.getLoc());
  }

private:
  MultistageBackend warps{kMmaSyncLimits};
};
} // namespace

const KernelBackend &blockscale::getMmaSyncBackend() {
  static const MmaSyncBackend backend;
  return backend;
}
