//===- MmaWarps.cpp - Warps that share the tile of a pipeline -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule, for those who multiply and for those who bring what is multiplied.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/MmaWarps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

MmaWarps::MmaWarps(WarpSpecializedScheduleAttr schedule) {
  // 64 x 64 sums are 128 registers of each lane, and read least of a stage for
  // an instruction; but all four parts of a SM get a warp.
  constexpr int64_t kMost = 64, kLeastWarps = 4, kSide = 2;
  rows = llvm::divideCeilSigned(schedule.getM(), kMost);
  columns = llvm::divideCeilSigned(schedule.getN(), kMost);
  if (getCount() < kLeastWarps)
    rows = columns = kSide;
  m = schedule.getM() / rows;
  n = schedule.getN() / columns;
}
