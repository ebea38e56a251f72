//===- MixedInputPlan.cpp - Shared memory of mixed input ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes by schedule.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/MixedInputPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Numbers between rows of sums in shared memory: lanes that store at once,
/// those of 4 rows two apart and of 8 columns, are in different banks.
int64_t blockscale::getPitch(WarpSpecializedScheduleAttr schedule) {
  constexpr int64_t kPadding = 4;
  return schedule.getM() + kPadding;
}

int64_t blockscale::getSumRows(WarpSpecializedScheduleAttr schedule) {
  constexpr int64_t kLeast = 8;
  return std::max(schedule.getN(), kLeast);
}

int64_t blockscale::getSumBytes(WarpSpecializedScheduleAttr schedule) {
  return (WgmmaShares(schedule).partsOfK - 1) * getSumRows(schedule) *
         getPitch(schedule) * kSumBytes;
}

SharedMemoryPlan
blockscale::makeMixedInputPlan(const Instruction &instruction,
                               WarpSpecializedScheduleAttr schedule,
                               const TypeCombination &types, int64_t k) {
  int64_t behind = schedule.getKernel() == KernelKind::Gemv
                       ? GemvPlan(schedule, types, k).getBytes()
                       : 0;
  return SharedMemoryPlan(instruction, schedule, types.rhs,
                          WgmmaShares(schedule).partsOfK, behind);
}

GemvPlan::GemvPlan(WarpSpecializedScheduleAttr schedule,
                   const TypeCombination &types, int64_t k)
    : blocksOfBox(kBoxElements / types.blockSize) {
  int64_t steps = llvm::divideCeilSigned(k, schedule.getK());
  boxes = llvm::divideCeilSigned(steps, schedule.getSplitK()) *
          schedule.getK() / kBoxElements;
}

int64_t GemvPlan::getFactorBytes() const {
  return boxes * blocksOfBox * kFactorBytes;
}
