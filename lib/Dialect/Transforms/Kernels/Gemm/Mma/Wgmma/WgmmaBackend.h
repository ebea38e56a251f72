//===- WgmmaBackend.h - The path wgmma --------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What its files share.

//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMABACKEND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMABACKEND_H

#include "Kernels/Gemm/Backend.h"

namespace mlir::blockscale {

/// tile=MxNxK,stages=S,...: as for tcgen05, with one accumulator, in registers.
const ScheduleRules &getWgmmaScheduleRules();

/// What has to be for codes of y of `op` to be converted on their way, and is
/// not: those of other paths are loaded in ways that bulk copies do not have.
/// Empty for nothing.
std::string findMixedInputObstacle(ProductOpInterface op);

/// Which sizes they are taken of, in words.
std::string describeMixedInputSizes(const Chip &chip);

/// The schedule with which they are, where that is measured to be the best;
/// null elsewhere. Without a workspace, one that needs none.
WarpSpecializedScheduleAttr chooseMixedInputSchedule(ProductOpInterface op,
                                                     const Chip &chip,
                                                     bool hasWorkspace);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMABACKEND_H
