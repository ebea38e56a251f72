//===- WgmmaDenseKernel.cpp - Dense GEMM with wgmma -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The warp-specialized kernel for bf16 and f16 operands, and for block-scaled
// ones that kernels in front have dequantized.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Kernels.h"
#include "Kernels/Gemm/Mma/Wgmma/Dense/DenseRoles.h"
#include "Kernels/Gemm/Mma/Wgmma/WgmmaKernel.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class WgmmaDenseKernel final : public WgmmaKernel {
public:
  OperandTransforms getTransforms(InstructionAttr) const override {
    return {OperandTransform::DequantizedInFront,
            OperandTransform::DequantizedInFront};
  }
  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    WarpSpecializedScheduleAttr schedule = getSchedule(problem);
    return ResultTile{
        schedule.getM(), schedule.getN(), {DenseRoles::getAccType(schedule)}};
  }

protected:
  std::unique_ptr<SharedMemoryPlan>
  makePlan(const KernelProblem &problem) const override {
    return std::make_unique<SharedMemoryPlan>(
        problem.instruction.getInstruction(), getSchedule(problem));
  }
  void emitRoles(OpBuilder &b, gpu::GPUFuncOp kernel,
                 const KernelProblem &problem, const SharedMemoryPlan &plan,
                 const StagedOperands &operands) const override {
    DenseRoles(b, kernel, problem, plan, operands).emit();
  }
};
} // namespace

const GemmKernel &blockscale::getWgmmaDenseKernel() {
  static const WgmmaDenseKernel kernel;
  return kernel;
}
