//===- WgmmaMixedInputKernel.cpp - Mixed-input GEMM and GEMV with wgmma ---===//
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
/// What mixed input and GEMV share.
class DequantizingKernel : public WgmmaKernel {
public:
  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const final {
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
  makePlan(const KernelProblem &problem) const final {
    return std::make_unique<SharedMemoryPlan>(makeMixedInputPlan(
        problem.instruction.getInstruction(), getSchedule(problem),
        *problem.quantizedB, problem.k));
  }
};

class WgmmaMixedInputKernel final : public DequantizingKernel {
public:
  KernelKind getKind() const override { return KernelKind::MixedInput; }
  OperandTransforms getTransforms(InstructionAttr) const override {
    return {OperandTransform::DequantizedInFront,
            OperandTransform::DequantizedInRegisters};
  }

private:
  int64_t getNumFlags() const override { return 1; }
  void emitRoles(const RoleContext &context) const override {
    MixedInputRoles(context).emit();
  }
};

class WgmmaGemvKernel final : public DequantizingKernel {
public:
  KernelKind getKind() const override { return KernelKind::Gemv; }
  OperandTransforms getTransforms(InstructionAttr) const override {
    return {OperandTransform::DequantizedInRegisters,
            OperandTransform::DequantizedInRegisters};
  }

private:
  void emitRoles(const RoleContext &context) const override {
    GemvRoles(context).emit();
  }
};
} // namespace

const GemmKernel &blockscale::getWgmmaMixedInputKernel() {
  static const WgmmaMixedInputKernel kernel;
  return kernel;
}

const GemmKernel &blockscale::getWgmmaGemvKernel() {
  static const WgmmaGemvKernel kernel;
  return kernel;
}
