//===- WgmmaMixedInputKernel.cpp - Mixed-input GEMM with wgmma ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixed-input GEMM, swap-AB: y is A of the instructions, dequantized in
// registers on its way from shared memory. x is B, bf16 values that a kernel in
// front has dequantized or permuted.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Kernels.h"
#include "Kernels/Gemm/Mma/Wgmma/MixedInput/MixedInputRoles.h"
#include "Kernels/Gemm/Mma/Wgmma/WgmmaKernel.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class WgmmaMixedInputKernel final : public WgmmaKernel {
public:
  KernelKind getKind() const override { return KernelKind::MixedInput; }
  OperandTransforms getTransforms(InstructionAttr) const override {
    return {OperandTransform::DequantizedInFront,
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
  int64_t getNumFlags() const override { return 1; }
  void emitRoles(OpBuilder &b, gpu::GPUFuncOp kernel,
                 const KernelProblem &problem, const SharedMemoryPlan &plan,
                 const StagedOperands &operands) const override {
    MixedInputRoles(b, kernel, problem, plan, operands).emit();
  }
};
} // namespace

const GemmKernel &blockscale::getWgmmaMixedInputKernel() {
  static const WgmmaMixedInputKernel kernel;
  return kernel;
}
