//===- WgmmaGemvKernel.cpp - GEMV with wgmma ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GEMV: x is one row. B of the instructions is block-diagonal, so that fp8
// wgmma keeps the sums of different scale blocks apart; they are scaled exactly
// afterwards. GemvRoles.h says how.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Kernels.h"
#include "Kernels/Gemm/Mma/Wgmma/Gemv/GemvRoles.h"
#include "Kernels/Gemm/Mma/Wgmma/WgmmaKernel.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class WgmmaGemvKernel final : public WgmmaKernel {
public:
  KernelKind getKind() const override { return KernelKind::Gemv; }
  OperandTransforms getTransforms(InstructionAttr) const override {
    return {OperandTransform::DequantizedInRegisters,
            OperandTransform::DequantizedInRegisters};
  }
  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    WarpSpecializedScheduleAttr schedule = getSchedule(problem);
    std::optional<AccType> sums = MixedInputRoles::getBlocksType(
        makeMixedInputPlan(problem.instruction.getInstruction(), schedule,
                           problem.types, problem.k));
    if (!sums)
      return std::nullopt;
    return ResultTile{schedule.getN(), schedule.getM(), {*sums}};
  }

protected:
  std::unique_ptr<SharedMemoryPlan>
  makePlan(const KernelProblem &problem) const override {
    return std::make_unique<SharedMemoryPlan>(makeMixedInputPlan(
        problem.instruction.getInstruction(), getSchedule(problem),
        *problem.quantizedB, problem.k));
  }
  void emitRoles(OpBuilder &b, gpu::GPUFuncOp kernel,
                 const KernelProblem &problem, const SharedMemoryPlan &plan,
                 const StagedOperands &operands) const override {
    GemvRoles(b, kernel, problem, plan, operands).emit();
  }
};
} // namespace

const GemmKernel &blockscale::getWgmmaGemvKernel() {
  static const WgmmaGemvKernel kernel;
  return kernel;
}
