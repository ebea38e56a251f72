//===- MmaWarps.cpp - MMA warps of a mma.sync kernel ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule, for the MMA warps and for their producer.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/MmaWarps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

MmaWarps::MmaWarps(WarpSpecializedScheduleAttr schedule) {
  // Accumulators of 64 x 64 take 128 registers of each lane, and read the
  // fewest bytes of a stage for each instruction. But each of the four SM
  // sub-partitions gets a warp.
  constexpr int64_t kMost = 64, kLeastWarps = 4, kSide = 2;
  rows = llvm::divideCeilSigned(schedule.getM(), kMost);
  columns = llvm::divideCeilSigned(schedule.getN(), kMost);
  if (getCount() < kLeastWarps)
    rows = columns = kSide;
  m = schedule.getM() / rows;
  n = schedule.getN() / columns;
}
