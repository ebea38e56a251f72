//===- MultistageKernel.h - A block of warps per tile -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_MULTISTAGEKERNEL_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_MULTISTAGEKERNEL_H

#include "Kernels/Gemm/Schedule/MultistageSchedules.h"

namespace mlir::blockscale {

/// The kernels of a path whose instructions are those of a warp: a block of
/// warps computes a tile, from stages in shared memory.
class MultistageBackend final : public KernelBackend {
public:
  explicit MultistageBackend(const MultistageScheduleLimits &limits)
      : rules(makeMultistageScheduleRules(limits)) {}

  const ScheduleRules *getScheduleRules() const override { return rules.get(); }
  bool takesOverSurroundings() const override { return true; }
  bool takesMixedInput() const override { return true; }
  DequantizedOperands
  getDequantizedOperands(InstructionAttr instruction,
                         ScheduleInterface schedule) const override;
  SplitKRule getSplit(const KernelProblem &problem) const override;
  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override;
  KernelShape getShape(const KernelProblem &problem) const override;
  void build(gpu::GPUFuncOp kernel,
             const KernelProblem &problem) const override;

private:
  std::unique_ptr<ScheduleRules> rules;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_MULTISTAGEKERNEL_H
