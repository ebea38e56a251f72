//===- WarpSpecializedKernel.h - Warp-specialized GEMM ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Warp-specialized kernels: a producer (TMA, or software) fills a pipeline of
// stages, MMA warps empty it, full and empty mbarriers stand between them. This
// class has what their launches share; the roles are in Mma/, by instruction.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_WARPSPECIALIZEDKERNEL_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_WARPSPECIALIZEDKERNEL_H

#include "Kernels/Gemm/GemmKernel.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/StagedOperand.h"

namespace mlir::blockscale {

struct RoleContext;

class WarpSpecializedKernel : public GemmKernel {
public:
  KernelKind getKind() const override { return KernelKind::Dense; }
  /// Operands without scales are bf16 and f16 values, which bulk copies bring.
  bool needsTensorMaps(const KernelProblem &problem) const final {
    return !problem.hasScales();
  }
  std::string getRemark(const KernelProblem &problem) const override;
  SplitKRule getSplitK(const KernelProblem &problem) const final;
  KernelShape getShape(const KernelProblem &problem) const final;
  void build(gpu::GPUFuncOp kernel, const KernelProblem &problem) const final;

protected:
  static WarpSpecializedScheduleAttr getSchedule(const KernelProblem &problem) {
    return cast<WarpSpecializedScheduleAttr>(problem.schedule);
  }
  virtual std::unique_ptr<SharedMemoryPlan>
  makePlan(const KernelProblem &problem) const = 0;
  /// The threads of a block, without those of a software producer.
  virtual int64_t getThreads(WarpSpecializedScheduleAttr schedule) const = 0;
  /// See KernelShape.
  virtual bool setsInexactFlags() const { return false; }
  /// Emits the body of the kernel.
  virtual void emitRoles(const RoleContext &context) const = 0;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_WARPSPECIALIZEDKERNEL_H
