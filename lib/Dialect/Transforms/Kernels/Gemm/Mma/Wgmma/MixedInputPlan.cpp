//===- MixedInputPlan.cpp - Shared memory of mixed input and GEMV ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/MixedInputPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Padding between rows of partial accumulators in shared memory: the lanes
/// that store at once (4 rows two apart, 8 columns) have different banks.
int64_t blockscale::getPitch(WarpSpecializedScheduleAttr schedule) {
  constexpr int64_t kPadding = 4;
  return schedule.getM() + kPadding;
}

int64_t blockscale::getAccumulatorRows(WarpSpecializedScheduleAttr schedule) {
  constexpr int64_t kLeast = 8;
  return std::max(schedule.getN(), kLeast);
}

int64_t blockscale::getSlicePartialBytes(WarpSpecializedScheduleAttr schedule) {
  return (WgmmaShares(schedule).slicesOfK - 1) * getAccumulatorRows(schedule) *
         getPitch(schedule) * kAccumulatorBytes;
}

SharedMemoryPlan
blockscale::makeMixedInputPlan(const Instruction &instruction,
                               WarpSpecializedScheduleAttr schedule,
                               const TypeCombination &types, int64_t k) {
  int64_t behind = schedule.getKernel() == KernelKind::Gemv
                       ? GemvPlan(schedule, types, k).getBytes()
                       : 0;
  return SharedMemoryPlan(instruction, schedule, getFormatInRegisters(types),
                          WgmmaShares(schedule).slicesOfK, behind);
}

GemvPlan::GemvPlan(WarpSpecializedScheduleAttr schedule,
                   const TypeCombination &types, int64_t k)
    : blocksOfChunk(kChunkElements / types.blockSize) {
  int64_t steps = llvm::divideCeilSigned(k, schedule.getK());
  chunks = llvm::divideCeilSigned(steps, schedule.getSplitK()) *
           schedule.getK() / kChunkElements;
}

int64_t GemvPlan::getFactorBytes() const {
  return chunks * blocksOfChunk * kFactorBytes;
}
