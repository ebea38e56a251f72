//===- SharedMemoryPlan.h - The shared-memory plan --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shared-memory plan of warp-specialized kernels. A stage holds the tiles
// of A and B in swizzle rows of 128 bytes and, for block-scaled instructions,
// the atoms of their scale factors, and of the metadata of a sparse A. The
// mbarriers are numbered here, too.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_SHAREDMEMORYPLAN_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_SHAREDMEMORYPLAN_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// Offsets, which depend only on the schedule, the instruction and, for mixed
/// input, the format of the quantized A. A stage may have several K slices,
/// each with bytes and mbarriers of its own. With N = 1 (GEMV), B is not in
/// stages: all of it is in `bytesBehind` bytes behind them. (Other kernels may
/// leave bytes there unused.)
class SharedMemoryPlan {
public:
  SharedMemoryPlan(const Instruction &instruction,
                   WarpSpecializedScheduleAttr schedule,
                   std::optional<Format> quantizedA = std::nullopt,
                   int64_t slices = 1, int64_t bytesBehind = 0);
  /// For an instruction that may have half of a scale block of `blockSize`.
  SharedMemoryPlan(const Instruction &instruction,
                   WarpSpecializedScheduleAttr schedule, int64_t blockSize);

  WarpSpecializedScheduleAttr getSchedule() const { return schedule; }

  std::optional<Format> getQuantizedA() const { return quantizedA; }
  bool isGemv() const { return quantizedA && schedule.getN() == 1; }
  int64_t getSlices() const { return slices; }
  /// The rows of A, or of B, that a block has in a stage.
  int64_t getRows(bool isA) const {
    return isA ? schedule.getM() : schedule.getRowsOfB();
  }
  /// The number of M sub-tiles of a tile: with 2-CTA and 64 rows for each
  /// block, two of them, so that a tile covers whole atoms of scales.
  int64_t getMSubTiles() const;
  /// The rows of all M sub-tiles.
  int64_t getRowsOfSubTiles() const { return schedule.getM() * getMSubTiles(); }
  /// Whether atoms of scales lie side by side for each u32 of scales along K:
  /// those of B, if there are M sub-tiles, where one copy takes them.
  bool hasWordsOutside(bool isA) const { return !isA && getMSubTiles() != 1; }
  /// The distance in bytes from a u32 of scales to the next one along K, and
  /// from an atom to the next one along rows.
  int64_t getWordBytes(bool isA) const;
  int64_t getRowAtomBytes(bool isA) const;
  /// Elements along K of a slice; and those that A, or B, has of them.
  int64_t getSliceK() const { return schedule.getK() / slices; }
  int64_t getSliceElements(bool isA) const {
    return isA ? getKeptElements(getSliceK(), sparsity) : getSliceK();
  }
  /// The elements along K that A, or B, has in a stage: a sparse A has only the
  /// kept ones.
  int64_t getElementsOfK(bool isA) const {
    return isA ? getKeptElements(schedule.getK(), sparsity) : schedule.getK();
  }
  /// The swizzle rows side by side that they take if they are contiguous.
  int64_t getColumns(bool isA) const {
    return getElementsOfK(isA) / getElementsOfK(/*isA=*/true);
  }
  /// The bytes of metadata of a row in a stage; 0 for a dense A, and for a
  /// quantized one, whose metadata goes to registers.
  int64_t getMetadataBytes() const {
    return sparsity && !quantizedA
               ? schedule.getK() /
                     getGranularityInfo(*sparsity).elementsPerByte()
               : 0;
  }

  /// How many u32 of four scales a stage has along K; 0 without scales.
  int64_t getScaleWords() const { return scaleWords; }
  /// Atoms of 128 rows: those of A, or of B.
  int64_t getRowAtoms(bool isA) const;

  /// In a stage: the first byte of an operand, and how many it has.
  int64_t getOffset(GemmOperand operand) const { return offsets[operand]; }
  int64_t getBytes(GemmOperand operand) const;
  /// The bytes of one K slice of a stage.
  int64_t getStageBytes() const { return stageBytes; }
  /// The bytes of all stages; and with `bytesBehind`.
  int64_t getStagesBytes() const;
  int64_t getSharedBytes() const { return getStagesBytes() + bytesBehind; }

  /// The index of the full mbarrier of the first stage, and of its empty one;
  /// those of the other stages follow. The number of all of them.
  int64_t getFullStages() const { return 0; }
  int64_t getEmptyStages() const { return slices * schedule.getStages(); }
  int64_t getStageBarriers() const { return 2 * getEmptyStages(); }

private:
  /// Computes the offsets of the operands in a stage.
  void assignOffsets();

  WarpSpecializedScheduleAttr schedule;
  std::optional<Granularity> sparsity;
  std::optional<Format> quantizedA;
  int64_t slices, bytesBehind, scaleWords;
  PerOperand<int64_t> offsets;
  int64_t stageBytes = 0;
};

/// The plan of `instruction` for a product of `types`; the instruction may have
/// half of a scale block.
SharedMemoryPlan getSharedMemoryPlan(const TypeCombination &types,
                                     const Instruction &instruction,
                                     WarpSpecializedScheduleAttr schedule);

/// Shared memory beside stages, for mbarriers and flags.
inline constexpr int64_t kBarrierBytes = 1024;

/// The bytes of a swizzle row: the unit along which TMA swizzles.
inline constexpr int64_t kSwizzleRowBytes = 128;

/// The number of rows after which a swizzle repeats.
inline constexpr int64_t kSwizzlePeriodRows = 8;

/// The bytes of a swizzle row of a tile that is contiguous along rows, which
/// take `rowBytes`.
int64_t getColumnBytes(int64_t rowBytes);

/// The bytes of shared memory that stages of a block may have on `chip`.
int64_t getMostStageBytes(const Chip &chip, int64_t blocksPerSm = 1);

/// The bytes of an element in a swizzle row along M or N; a quantized element
/// has one byte there.
int64_t getElementBytes(const Instruction &instruction);

/// The elements along K in a swizzle row; of a sparse A, the logical ones.
int64_t getSwizzleRowElements(const Instruction &instruction);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_SHAREDMEMORYPLAN_H
