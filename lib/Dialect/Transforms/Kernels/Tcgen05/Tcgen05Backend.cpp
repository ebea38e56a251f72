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

#include "Kernels/Tcgen05/Tcgen05Backend.h"

#include "Kernels/Staging/Stages.h"
#include "Kernels/Tcgen05/RoleEmitter.h"

using namespace mlir;
using namespace mlir::blockscale;

static RingPlan makePlan(const KernelProblem &problem) {
  return RingPlan(problem.instruction.getInstruction(),
                  cast<RingScheduleAttr>(problem.schedule));
}

/// All operands, by bulk copies; fails with what is in the way of one.
static FailureOr<SmallVector<TensorOperand>>
planOperands(const KernelProblem &problem, const RingPlan &plan,
             std::string &reason) {
  SmallVector<TensorOperand> operands;
  for (unsigned i = 0; i != kNumRingOperands; ++i) {
    std::optional<TensorOperand> operand =
        TensorOperand::plan(problem, plan, i, reason);
    if (!operand)
      return failure();
    operands.push_back(*operand);
  }
  return operands;
}

namespace {
class Tcgen05Backend final : public KernelBackend {
public:
  const ScheduleRules *getScheduleRules() const override {
    return &getTcgen05ScheduleRules();
  }
  bool takesOverSurroundings() const override { return true; }
  bool wantsScaleAtoms() const override { return true; }

  LogicalResult verify(const KernelProblem &problem,
                       std::string &reason) const override {
    return planOperands(problem, makePlan(problem), reason);
  }

  KernelShape getShape(const KernelProblem &problem) const override {
    constexpr int64_t kThreads = 6 * kWarpLanes;
    auto schedule = cast<RingScheduleAttr>(problem.schedule);
    RingPlan plan = makePlan(problem);
    KernelShape shape;
    shape.tile = {schedule.getM(), schedule.getN(), 1};
    shape.threads = {kThreads, 1, 1};
    shape.shared = getDynamicBytes(plan.getSharedBytes());
    shape.order = schedule.getPersistent() ? BlockOrder::Persistent
                                           : BlockOrder::Linear;
    std::string reason;
    SmallVector<TensorOperand> operands =
        *planOperands(problem, plan, reason);
    for (const TensorOperand &operand : operands) {
      shape.maps.push_back(operand.getMap());
      shape.mapped.push_back(operand.getArgument());
    }
    return shape;
  }

  void build(gpu::GPUFuncOp kernel,
             const KernelProblem &problem) const override {
    RingPlan plan = makePlan(problem);
    std::string reason;
    SmallVector<TensorOperand> operands =
        *planOperands(problem, plan, reason);
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    RoleEmitter(b, kernel, problem, plan, operands).emit();
    gpu::ReturnOp::create(b, kernel.getLoc());
  }
};
} // namespace

const KernelBackend &blockscale::getTcgen05Backend() {
  static const Tcgen05Backend backend;
  return backend;
}
