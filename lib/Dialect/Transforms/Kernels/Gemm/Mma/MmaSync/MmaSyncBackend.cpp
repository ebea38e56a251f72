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

#include "Kernels/Gemm/Mainloop/Multistage/MultistageKernel.h"
#include "Kernels/Gemm/Mainloop/Multistage/Stages.h"
#include "Kernels/Gemm/Mma/MmaSync/MmaSyncRoles.h"
#include "Kernels/Gemm/Schedule/MmaSyncSchedules.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

static WarpSpecializedScheduleAttr
getWarpSpecialized(const KernelProblem &problem) {
  return dyn_cast<WarpSpecializedScheduleAttr>(Attribute(problem.schedule));
}

static SharedMemoryPlan makePlan(const KernelProblem &problem) {
  return getSharedMemoryPlan(problem.types,
                             problem.instruction.getInstruction(),
                             getWarpSpecialized(problem));
}

namespace {
class MmaSyncBackend final : public KernelBackend {
public:
  const ScheduleRules *getScheduleRules() const override {
    return &getMmaSyncScheduleRules();
  }
  bool takesOverSurroundings() const override { return true; }
  bool wantsScaleAtoms(ScheduleInterface schedule) const override {
    return isa<WarpSpecializedScheduleAttr>(Attribute(schedule));
  }
  bool wantsPackedElements(const KernelOperand &operand, Format format,
                           const KernelProblem &problem) const override {
    return wantsPackedCodes(operand, format, problem);
  }

  std::string getRemark(const KernelProblem &problem) const override {
    if (!getWarpSpecialized(problem))
      return {};
    return describeFilled(planStagedOperands(problem, makePlan(problem)));
  }

  SplitKRule getSplit(const KernelProblem &problem) const override {
    WarpSpecializedScheduleAttr pipeline = getWarpSpecialized(problem);
    return pipeline ? SplitKRule{pipeline.getSplitK(), pipeline.getK()}
                    : warps.getSplit(problem);
  }

  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    WarpSpecializedScheduleAttr pipeline = getWarpSpecialized(problem);
    if (!pipeline)
      return warps.getResultTile(problem);
    return ResultTile{
        pipeline.getM(), pipeline.getN(), {MmaSyncRoles::getAccType(pipeline)}};
  }

  KernelShape getShape(const KernelProblem &problem) const override {
    WarpSpecializedScheduleAttr pipeline = getWarpSpecialized(problem);
    if (!pipeline)
      return warps.getShape(problem);
    SharedMemoryPlan plan = makePlan(problem);
    StagedOperands operands = planStagedOperands(problem, plan);
    KernelShape shape;
    shape.tile = {pipeline.getM(), pipeline.getN(), 1};
    shape.threads = {MmaSyncRoles::getThreads(pipeline, operands), 1, 1};
    shape.shared = getDynamicBytes(plan.getSharedBytes(), kBarrierBytes);
    shape.order =
        pipeline.getPersistent() ? BlockOrder::Persistent : BlockOrder::Linear;
    for (const StagedOperand &operand : operands) {
      if (!operand.tensor)
        continue;
      shape.maps.push_back(operand.tensor->getMap());
      shape.mapped.push_back(operand.tensor->getArgument());
    }
    return shape;
  }

  void build(gpu::GPUFuncOp kernel,
             const KernelProblem &problem) const override {
    if (!getWarpSpecialized(problem))
      return warps.build(kernel, problem);
    SharedMemoryPlan plan = makePlan(problem);
    StagedOperands operands = planStagedOperands(problem, plan);
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    // Its stages leave no room for a second block on a SM. Without
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
