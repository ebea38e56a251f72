//===- Tcgen05DenseKernel.cpp - Dense GEMM with tcgen05 -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The warp-specialized kernel of the path tcgen05: a TMA producer, one MMA
// warp, and epilogue warps that read accumulator stages in tensor memory; by
// one CTA, or by two together (cta_group::2).
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccLowering.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/WarpSpecializedKernel.h"
#include "Kernels/Gemm/Mma/Kernels.h"
#include "Kernels/Gemm/Mma/Tcgen05/Tcgen05Roles.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class Tcgen05DenseKernel final : public WarpSpecializedKernel {
public:
  bool takesGroups() const override { return true; }
  bool wantsAtoms() const override { return true; }
  bool wantsPackedElements(const KernelOperand &operand, Format format,
                           const KernelProblem &problem) const override {
    return couldCopyIfPacked(operand, format, problem);
  }
  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    TmemPlan plan(problem.instruction.getInstruction(), getSchedule(problem),
                  problem.hasPairs());
    ResultTile tile = {plan.getRowsOfSubTiles(), plan.getSchedule().getN(), {}};
    if (plan.getSchedule().getSwapAb())
      std::swap(tile.m, tile.n);
    int64_t columns = plan.getAccumulatorColumns(),
            part = plan.getEpilogueColumns();
    if (columns >= part)
      tile.accumulators.push_back(plan.getEpilogueType(part));
    if (columns % part != 0)
      tile.accumulators.push_back(plan.getEpilogueType(columns % part));
    return tile;
  }

  bool holdsPairs(const KernelProblem &problem) const override {
    TmemPlan plan(problem.instruction.getInstruction(), getSchedule(problem));
    // Lanes behind those of the rows hold other columns.
    if (plan.getAccumulatorLayout().parts != 1)
      return false;
    return llvm::all_of(getResultTile(problem)->accumulators, [](AccType type) {
      return getAccLowering(type).getPairs(type);
    });
  }

protected:
  std::unique_ptr<SharedMemoryPlan>
  makePlan(const KernelProblem &problem) const override {
    return std::make_unique<TmemPlan>(problem.instruction.getInstruction(),
                                      getSchedule(problem),
                                      problem.hasPairs() && problem.quantizer);
  }
  int64_t getThreads(WarpSpecializedScheduleAttr) const override {
    return kTcgen05Warps * kWarpLanes;
  }
  void emitRoles(const RoleContext &context) const override {
    Tcgen05Roles(context).emit();
  }
};
} // namespace

const GemmKernel &blockscale::getTcgen05DenseKernel() {
  static const Tcgen05DenseKernel kernel;
  return kernel;
}
