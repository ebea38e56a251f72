//===- MmaSyncDenseKernel.cpp - Warp-specialized GEMM with mma.sync -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The warp-specialized kernel of the path mma_sync: a TMA producer, and MMA
// warps with block-scaled mma.sync. (The other kernel of the path is the
// multistage one, Mainloop/Multistage/MultistageKernel.cpp.)
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/WarpSpecializedKernel.h"
#include "Kernels/Gemm/Mma/Kernels.h"
#include "Kernels/Gemm/Mma/MmaSync/MmaSyncRoles.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class MmaSyncDenseKernel final : public WarpSpecializedKernel {
public:
  bool wantsScaleAtoms() const override { return true; }
  bool wantsPackedElements(const KernelOperand &operand, Format format,
                           const KernelProblem &problem) const override {
    return couldCopyIfPacked(operand, format, problem);
  }
  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    WarpSpecializedScheduleAttr schedule = getSchedule(problem);
    return ResultTile{
        schedule.getM(), schedule.getN(), {MmaSyncRoles::getAccType(schedule)}};
  }

protected:
  std::unique_ptr<SharedMemoryPlan>
  makePlan(const KernelProblem &problem) const override {
    return std::make_unique<SharedMemoryPlan>(
        getSharedMemoryPlan(problem.types, problem.instruction.getInstruction(),
                            getSchedule(problem)));
  }
  int64_t getThreads(WarpSpecializedScheduleAttr schedule) const override {
    return MmaSyncRoles::getThreads(schedule);
  }
  void emitRoles(OpBuilder &b, gpu::GPUFuncOp kernel,
                 const KernelProblem &problem, const SharedMemoryPlan &plan,
                 const StagedOperands &operands) const override {
    MmaSyncRoles(b, kernel, problem, plan, operands).emit();
  }
};
} // namespace

const GemmKernel &blockscale::getMmaSyncDenseKernel() {
  static const MmaSyncDenseKernel kernel;
  return kernel;
}
