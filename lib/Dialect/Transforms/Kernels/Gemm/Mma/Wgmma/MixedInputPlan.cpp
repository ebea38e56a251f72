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

Format blockscale::getFormatInRegisters(const TypeCombination &types) {
  return types.sparsity ? types.lhs : types.rhs;
}

/// The logical elements of so many bits of the operand in registers.
static int64_t getElementsOfBits(const TypeCombination &types, int64_t bits) {
  int64_t elements =
      bits / getFormatInfo(getFormatInRegisters(types)).storedBits();
  return types.sparsity ? elements * kUnitsPerChunk / kKeptUnits : elements;
}

int64_t blockscale::getMixedInputChunk(const TypeCombination &types) {
  constexpr int64_t kByteBits = 8;
  return getElementsOfBits(types, kQuantizedChunkBytes * kByteBits);
}

int64_t blockscale::getMixedInputUnit(const TypeCombination &types,
                                      bool isDynamic) {
  constexpr int64_t kRowBits = 128;
  return std::max<int64_t>(getElementsOfBits(types, kRowBits),
                           types.blockSize * (isDynamic ? 2 : 1));
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
