//===- WgmmaKernel.h - The base of all wgmma kernels ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the GemmKernel interface that is the same for the dense, the
// mixed-input and the GEMV kernel.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMAKERNEL_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMAKERNEL_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/WarpSpecializedKernel.h"
#include "Kernels/Gemm/Mma/Wgmma/WgmmaShares.h"

namespace mlir::blockscale {

class WgmmaKernel : public WarpSpecializedKernel {
public:
  std::string getRemark(const KernelProblem &) const final { return {}; }

protected:
  int64_t getThreads(WarpSpecializedScheduleAttr schedule) const final {
    return WgmmaShares(schedule).getAllWarps() * kWarpLanes;
  }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMAKERNEL_H
