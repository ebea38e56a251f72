//===- Tcgen05Backend.cpp - Kernels of the path tcgen05 -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel of the path tcgen05 is its roles (RoleEmitter.h); here is what the
// launch has to know of it.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Tcgen05/Tcgen05Backend.h"

#include "Kernels/Gemm/Mainloop/Multistage/Stages.h"
#include "Kernels/Gemm/Mma/Tcgen05/Tcgen05Roles.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

static TmemPlan makePlan(const KernelProblem &problem) {
  return TmemPlan(problem.instruction.getInstruction(),
                  cast<WarpSpecializedScheduleAttr>(problem.schedule));
}

namespace {
class Tcgen05Backend final : public KernelBackend {
public:
  const ScheduleRules *getScheduleRules() const override {
    return &getTcgen05ScheduleRules();
  }
  bool takesOverSurroundings() const override { return true; }
  bool wantsScaleAtoms(ScheduleInterface) const override { return true; }
  bool wantsPackedElements(const KernelOperand &operand, Format format,
                           const KernelProblem &problem) const override {
    return wantsPackedCodes(operand, format, problem);
  }

  std::string getRemark(const KernelProblem &problem) const override {
    KernelProblem asked = getInstructionProblem(problem);
    StagedOperands operands = planStagedOperands(asked, makePlan(problem));
    return describeFilled(
        operands,
        cast<WarpSpecializedScheduleAttr>(problem.schedule).getSwapAb());
  }

  SplitKRule getSplit(const KernelProblem &problem) const override {
    auto schedule = cast<WarpSpecializedScheduleAttr>(problem.schedule);
    return {schedule.getSplitK(), schedule.getK()};
  }

  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    TmemPlan plan = makePlan(problem);
    ResultTile tile = {plan.getRowsOfSubTiles(), plan.getSchedule().getN(), {}};
    if (plan.getSchedule().getSwapAb())
      std::swap(tile.m, tile.n);
    int64_t columns = plan.getSumColumns(), part = plan.getPartColumns();
    if (columns >= part)
      tile.parts.push_back(plan.getPartType(part));
    if (columns % part != 0)
      tile.parts.push_back(plan.getPartType(columns % part));
    return tile;
  }

  KernelShape getShape(const KernelProblem &problem) const override {
    constexpr int64_t kThreads = kTcgen05Warps * kWarpLanes;
    auto schedule = cast<WarpSpecializedScheduleAttr>(problem.schedule);
    TmemPlan plan = makePlan(problem);
    KernelShape shape;
    shape.tile = {plan.getRowsOfSubTiles(), schedule.getN(), 1};
    shape.cluster = schedule.getCluster();
    if (schedule.getSwapAb()) {
      std::swap(shape.tile[0], shape.tile[1]);
      std::swap(shape.cluster.m, shape.cluster.n);
    }
    shape.threads = {kThreads, 1, 1};
    shape.shared = getDynamicBytes(plan.getSharedBytes(), kBarrierBytes);
    shape.order =
        schedule.getPersistent() ? BlockOrder::Persistent : BlockOrder::Linear;
    KernelProblem asked = getInstructionProblem(problem);
    StagedOperands operands = planStagedOperands(asked, plan);
    for (const StagedOperand &operand : operands) {
      if (operand.loader) {
        shape.threads[0] = kThreads + kSoftwareProducerWarps * kWarpLanes;
        continue;
      }
      shape.maps.push_back(operand.tensor->getMap());
      shape.mapped.push_back(operand.tensor->getArgument());
    }
    return shape;
  }

  void build(gpu::GPUFuncOp kernel, const KernelProblem &asked) const override {
    TmemPlan plan = makePlan(asked);
    KernelProblem problem = getInstructionProblem(asked);
    StagedOperands operands = planStagedOperands(problem, plan);
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    // It takes all of tensor memory: no second block fits on a SM.
    // Without this, ptxas saves registers for one, and spills.
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(1));
    Tcgen05Roles(b, kernel, problem, plan, operands).emit();
    gpu::ReturnOp::create(b, kernel.getLoc());
  }
};
} // namespace

const KernelBackend &blockscale::getTcgen05Backend() {
  static const Tcgen05Backend backend;
  return backend;
}
