//===- DequantizingKernel.h - y dequantized in registers --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the mixed-input kernels, dense and sparse, and the GEMV kernel share.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUT_DEQUANTIZINGKERNEL_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUT_DEQUANTIZINGKERNEL_H

#include "Kernels/Gemm/Mma/Kernels.h"
#include "Kernels/Gemm/Mma/Wgmma/MixedInput/MixedInputRoles.h"
#include "Kernels/Gemm/Mma/Wgmma/WgmmaKernel.h"

namespace mlir::blockscale {

class DequantizingKernel : public WgmmaKernel {
public:
  int64_t getUnitOfK(const KernelProblem &problem) const final {
    return getMixedInputUnit(problem.types, ShapedType::isDynamic(problem.k));
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

  bool holdsPairs(const KernelProblem &) const final { return true; }

protected:
  std::unique_ptr<SharedMemoryPlan>
  makePlan(const KernelProblem &problem) const final {
    return std::make_unique<SharedMemoryPlan>(makeMixedInputPlan(
        problem.instruction.getInstruction(), getSchedule(problem),
        *problem.quantizedB, problem.k));
  }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUT_DEQUANTIZINGKERNEL_H
