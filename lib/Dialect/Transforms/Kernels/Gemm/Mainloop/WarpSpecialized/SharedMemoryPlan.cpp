//===- SharedMemoryPlan.cpp - Where stages are ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sums behind SharedMemoryPlan.h, in one place for the kernels, for the
// choice of schedules and for their limits.

//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"

#include "blockscale/Support/ScaleLayout.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// What tiles are aligned to: eight lines, over which swizzles go.
static constexpr int64_t kTileAlignment = 1024;

SharedMemoryPlan::SharedMemoryPlan(const Instruction &instruction,
                                   WarpSpecializedScheduleAttr schedule,
                                   std::optional<Format> codes, int64_t parts,
                                   int64_t bytesBehind)
    : schedule(schedule), codes(codes), parts(parts), bytesBehind(bytesBehind),
      words(0) {
  if (instruction.scaleVec != 0)
    words = schedule.getK() / instruction.blockSize / kBlocksOfWord;
  placeOperands();
}

SharedMemoryPlan::SharedMemoryPlan(const Instruction &instruction,
                                   WarpSpecializedScheduleAttr schedule,
                                   int64_t blockSize)
    : schedule(schedule), parts(1), bytesBehind(0),
      words(schedule.getK() / blockSize / kBlocksOfWord) {
  placeOperands();
}

SharedMemoryPlan
blockscale::getSharedMemoryPlan(const TypeCombination &types,
                                const Instruction &instruction,
                                WarpSpecializedScheduleAttr schedule) {
  if (instruction.scaleVec == 0)
    return SharedMemoryPlan(instruction, schedule);
  return SharedMemoryPlan(instruction, schedule, types.blockSize);
}

void SharedMemoryPlan::placeOperands() {
  // Tiles of elements first, which are multiples of what they are aligned to.
  for (GemmOperand operand : kElementsFirst) {
    offsets[operand] = stageBytes;
    stageBytes += getBytes(operand);
  }
  stageBytes = llvm::alignTo(stageBytes, kTileAlignment);
}

int64_t SharedMemoryPlan::getMSubTiles() const {
  return schedule.getTwoCta() ? kScaleAtomRows / schedule.getM() : 1;
}

int64_t SharedMemoryPlan::getWordBytes(bool isA) const {
  return kScaleAtomBytes * (hasWordsOutside(isA) ? getRowAtoms(isA) : 1);
}

int64_t SharedMemoryPlan::getRowAtomBytes(bool isA) const {
  return kScaleAtomBytes * (hasWordsOutside(isA) ? 1 : getWords());
}

int64_t SharedMemoryPlan::getRowAtoms(bool isA) const {
  return llvm::divideCeilSigned(isA ? schedule.getM() : schedule.getN(),
                                kScaleAtomRows);
}

int64_t SharedMemoryPlan::getBytes(GemmOperand operand) const {
  auto [isA, isScale, letter, name] = getInfo(operand);
  if (isScale)
    return getRowAtoms(isA) * words * kScaleAtomBytes;
  int64_t rows = getRows(isA);
  if (!codes)
    return rows * kLineBytes;
  if (!isA && isGemv())
    return 0;
  constexpr int64_t kNumberBits = 16, kByteBits = 8;
  int64_t bits = isA ? getFormatInfo(*codes).storedBits() : kNumberBits;
  return rows * getPartK() * bits / kByteBits;
}

int64_t SharedMemoryPlan::getStagesBytes() const {
  return stageBytes * parts * schedule.getStages();
}

int64_t blockscale::getColumnBytes(int64_t rowBytes) {
  return std::min(kLineBytes, rowBytes & -rowBytes);
}

int64_t blockscale::getMostStageBytes(const Chip &chip) {
  return int64_t(1024) * chip.sharedMemoryKiB - kBarrierBytes;
}

int64_t blockscale::getElementBytes(const Instruction &instruction) {
  constexpr int64_t kByteBits = 8;
  return std::max<int64_t>(getFormatInfo(instruction.a).bits / kByteBits, 1);
}

int64_t blockscale::getElementsOfLine(const Instruction &instruction) {
  // Instructions of all kinds take 32 bytes along K.
  constexpr int64_t kStepBytes = 32;
  return kLineBytes / kStepBytes * instruction.k;
}
