//===- SharedMemoryPlan.h - Where stages are --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a block whose warps have roles has in shared memory. Stages hold lines
// of 128 bytes of A and B and, where the product has scales, their atoms.

//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_SHAREDMEMORYPLAN_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_SHAREDMEMORYPLAN_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// Where things are that depend on the schedule and the instruction alone; and
/// on the format of A, where that is codes that become numbers in registers.
///
/// K of a stage may have parts, which are stages of their own: each has its
/// bytes and its barriers. Where N of the tile is 1, B is no part of stages:
/// it is in `bytesBehind` bytes behind them, all of it. (Others may leave bytes
/// there unused.)
class SharedMemoryPlan {
public:
  SharedMemoryPlan(const Instruction &instruction,
                   WarpSpecializedScheduleAttr schedule,
                   std::optional<Format> codes = std::nullopt,
                   int64_t parts = 1, int64_t bytesBehind = 0);
  /// Where the instruction is one of several for blocks of `blockSize`.
  SharedMemoryPlan(const Instruction &instruction,
                   WarpSpecializedScheduleAttr schedule, int64_t blockSize);

  WarpSpecializedScheduleAttr getSchedule() const { return schedule; }

  std::optional<Format> getCodes() const { return codes; }
  bool isGemv() const { return codes && schedule.getN() == 1; }
  int64_t getParts() const { return parts; }
  /// The rows of A, or of B, that a block has in a stage.
  int64_t getRows(bool isA) const {
    return isA ? schedule.getM() : schedule.getRowsOfB();
  }
  /// How many tiles a block takes, one below the other, before it goes on:
  /// pairs with 64 rows each go through whole atoms of scales.
  int64_t getMSubTiles() const;
  /// The rows of these.
  int64_t getRowsOfSubTiles() const { return schedule.getM() * getMSubTiles(); }
  /// Whether atoms of scales with the same words lie side by side: those of B
  /// that one copy of such pairs takes.
  bool hasWordsOutside(bool isA) const { return !isA && getMSubTiles() != 1; }
  /// From a word of scales to the next one, and from an atom along rows to the
  /// next one, in bytes.
  int64_t getWordBytes(bool isA) const;
  int64_t getRowAtomBytes(bool isA) const;
  /// Elements along K of a part.
  int64_t getPartK() const { return schedule.getK() / parts; }

  /// Words of four scales along K in a stage; 0 without scales.
  int64_t getWords() const { return words; }
  /// Atoms of 128 rows: those of A, or of B.
  int64_t getRowAtoms(bool isA) const;

  /// In a stage: the first byte of an operand, and how many it has.
  int64_t getOffset(GemmOperand operand) const { return offsets[operand]; }
  int64_t getBytes(GemmOperand operand) const;
  /// Of a part.
  int64_t getStageBytes() const { return stageBytes; }
  /// Of all stages; and with what is behind them.
  int64_t getStagesBytes() const;
  int64_t getSharedBytes() const { return getStagesBytes() + bytesBehind; }

  /// The number of the mbarrier that says that the first stage is full, or
  /// empty; those of the others come behind it. How many there are in all.
  int64_t getFullStages() const { return 0; }
  int64_t getEmptyStages() const { return parts * schedule.getStages(); }
  int64_t getStageBarriers() const { return 2 * getEmptyStages(); }

private:
  /// Puts the operands of a stage in their places.
  void placeOperands();

  WarpSpecializedScheduleAttr schedule;
  std::optional<Format> codes;
  int64_t parts, bytesBehind, words;
  PerOperand<int64_t> offsets;
  int64_t stageBytes = 0;
};

/// Of `instruction` for a product of `row`, whose blocks of scales it may take
/// half by half.
SharedMemoryPlan getSharedMemoryPlan(const TypeCombination &types,
                                     const Instruction &instruction,
                                     WarpSpecializedScheduleAttr schedule);

/// Shared memory that mbarriers and the like may take beside stages.
inline constexpr int64_t kBarrierBytes = 1024;

/// The bytes of a line of a stage, over which copies swizzle.
inline constexpr int64_t kLineBytes = 128;

/// The lines over which a swizzle repeats.
inline constexpr int64_t kSwizzledLines = 8;

/// The bytes of a line of a tile whose rows are contiguous and take so many
/// bytes.
int64_t getColumnBytes(int64_t rowBytes);

/// The bytes of shared memory that stages of a block may have on `chip`.
int64_t getMostStageBytes(const Chip &chip);

/// The bytes of an element in a line along M or N; a code has one there.
int64_t getElementBytes(const Instruction &instruction);

/// The elements that fill a line of a stage.
int64_t getElementsOfLine(const Instruction &instruction);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_SHAREDMEMORYPLAN_H
