//===- Tcgen05Mma.h - tcgen05.mma -------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One tcgen05.mma: which cells and chunks it touches, what the ISA asks of
// them, and the product, in tiles of 16 x 8 elements of D that are those of
// mma.sync.
//
// Source: PTX ISA, section 9.7.16.10 "tcgen05 instructions for matrix multiply
// and accumulate"; for scales, section 9.7.16.10.7 "Block scaling".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TCGEN05MMA_H
#define BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TCGEN05MMA_H

#include "Tcgen05/InstructionDescriptor.h"
#include "Tcgen05/Tcgen05Engine.h"

namespace mlir::blockscale::sim {

/// What follows .collector::bN. Collectors of A are hints: what is in them is
/// in shared memory as well.
enum class CollectorUse : uint8_t { Fill, Use, LastUse, Discard };

/// What the text of the instruction says.
struct Tcgen05MmaForm {
  Tcgen05Kind kind;
  /// .ws: collectors are those of B, and there may be a mask of its columns.
  bool isWeightStationary;
  CollectorUse collector;
  unsigned collectorBuffer;
  /// Of .cta_group.
  unsigned numBlocks;
  bool isTensorA;
  /// Elements of K that have a scale factor in common; 0 in kinds without.
  unsigned blockSize;
  /// It is written as .scale_vec, which 96 elements of K do not have.
  bool isScaleVec;
  /// The accumulator is multiplied by 2 to the minus this.
  unsigned inputShift;
  /// The number of the target.
  unsigned target;
  /// The target multiplies 96 elements of K.
  bool hasK96;
};

/// What the operands of one thread say.
struct Tcgen05MmaOperands {
  uint32_t d;
  /// A descriptor, or an address in tensor memory.
  uint64_t a;
  uint64_t b;
  uint32_t instruction;
  uint32_t scaleA, scaleB;
  bool addsD;
  /// Lanes of D, in each block, that are not written.
  Tcgen05Lanes disabledLanes[2];
  /// A zero-column mask descriptor.
  uint64_t zeroColumns;
};

/// Carries out the instruction of one lane of a warp.
void executeTcgen05Mma(Warp &warp, unsigned lane, const Tcgen05MmaForm &form,
                       const Tcgen05MmaOperands &operands);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TCGEN05MMA_H
