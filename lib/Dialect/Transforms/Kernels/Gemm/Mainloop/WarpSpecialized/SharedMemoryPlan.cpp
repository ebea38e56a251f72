//===- SharedMemoryPlan.cpp - The shared-memory plan ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"

#include "blockscale/Support/ScaleLayout.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The alignment of tiles: the eight rows over which a swizzle repeats.
static constexpr int64_t kTileAlignment = 1024;

SharedMemoryPlan::SharedMemoryPlan(const Instruction &instruction,
                                   WarpSpecializedScheduleAttr schedule,
                                   std::optional<Format> quantizedA,
                                   int64_t slices, int64_t bytesBehind)
    : schedule(schedule), sparsity(instruction.sparsity),
      quantizedA(quantizedA), slices(slices), bytesBehind(bytesBehind),
      scaleWords(0) {
  if (instruction.scaleVec != 0)
    scaleWords = schedule.getK() / instruction.blockSize / kBlocksOfWord;
  assignOffsets();
}

SharedMemoryPlan::SharedMemoryPlan(const Instruction &instruction,
                                   WarpSpecializedScheduleAttr schedule,
                                   int64_t blockSize)
    : schedule(schedule), sparsity(instruction.sparsity), slices(1),
      bytesBehind(0), scaleWords(schedule.getK() / blockSize / kBlocksOfWord) {
  assignOffsets();
}

SharedMemoryPlan
blockscale::getSharedMemoryPlan(const TypeCombination &types,
                                const Instruction &instruction,
                                WarpSpecializedScheduleAttr schedule) {
  if (instruction.scaleVec == 0)
    return SharedMemoryPlan(instruction, schedule);
  return SharedMemoryPlan(instruction, schedule, types.blockSize);
}

void SharedMemoryPlan::assignOffsets() {
  // Tiles of elements come first; their sizes are multiples of their alignment.
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
  return kScaleAtomBytes * (hasWordsOutside(isA) ? 1 : getScaleWords());
}

int64_t SharedMemoryPlan::getRowAtoms(bool isA) const {
  return llvm::divideCeilSigned(isA ? schedule.getM() : schedule.getN(),
                                kScaleAtomRows);
}

int64_t SharedMemoryPlan::getBytes(GemmOperand operand) const {
  auto [isA, isScale, isMetadata, letter, name] = getInfo(operand);
  if (isMetadata)
    return getRows(isA) * getMetadataBytes();
  if (isScale)
    return getRowAtoms(isA) * scaleWords * kScaleAtomBytes;
  int64_t rows = getRows(isA);
  if (!quantizedA)
    return getColumns(isA) * rows * kSwizzleRowBytes;
  if (!isA && isGemv())
    return 0;
  constexpr int64_t kValueBits = 16, kByteBits = 8;
  int64_t bits = isA ? getFormatInfo(*quantizedA).storedBits() : kValueBits;
  return rows * getSliceElements(isA) * bits / kByteBits;
}

int64_t SharedMemoryPlan::getStagesBytes() const {
  return stageBytes * slices * schedule.getStages();
}

int64_t blockscale::getColumnBytes(int64_t rowBytes) {
  return std::min(kSwizzleRowBytes, rowBytes & -rowBytes);
}

int64_t blockscale::getMostStageBytes(const Chip &chip, int64_t blocksPerSm) {
  // The system takes 1 KiB of each block but the first one, whose part is not
  // in the number of the chip.
  int64_t kib = (chip.sharedMemoryKiB - (blocksPerSm - 1)) / blocksPerSm;
  return int64_t(1024) * kib - kBarrierBytes;
}

int64_t blockscale::getElementBytes(const Instruction &instruction) {
  constexpr int64_t kByteBits = 8;
  return std::max<int64_t>(getFormatInfo(instruction.a).bits / kByteBits, 1);
}

int64_t blockscale::getSwizzleRowElements(const Instruction &instruction) {
  // Instructions of all kinds take 32 bytes along K.
  constexpr int64_t kStepBytes = 32;
  return kSwizzleRowBytes / kStepBytes * instruction.k;
}
