//===- Tcgen05Backend.h - Kernels of the path tcgen05 -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TCGEN05BACKEND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TCGEN05BACKEND_H

#include "Kernels/Gemm/Backend.h"

namespace mlir::blockscale {

const ScheduleRules &getTcgen05ScheduleRules();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TCGEN05BACKEND_H
