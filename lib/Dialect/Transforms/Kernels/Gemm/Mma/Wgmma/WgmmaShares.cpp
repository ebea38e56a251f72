//===- WgmmaShares.cpp - How warpgroups divide a tile ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few columns leave registers for more warpgroups.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/WgmmaShares.h"

using namespace mlir;
using namespace mlir::blockscale;

WgmmaShares::WgmmaShares(WarpSpecializedScheduleAttr schedule) {
  // Accumulators of 64 x 256, or of 128 x 128, take 128 registers of each
  // thread.
  constexpr int64_t kMostGroups = 3, kFewColumns = 64;
  int64_t rows = schedule.getM() / kWarpgroupRows;
  if (schedule.getKernel() != KernelKind::Dense) {
    groups = std::max<int64_t>(schedule.getN() <= kFewColumns ? 4 : 2, rows);
    mInstructions = 1;
    slicesOfK = groups / rows;
    return;
  }
  slicesOfK = 1;
  groups = rows <= kMostGroups ? rows : rows / 2;
  mInstructions = rows / groups;
}
