//===- Tcgen05Mma.h - tcgen05.mma -------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One tcgen05.mma: the cells and chunks that it accesses, the rules of the ISA
// for them, and the product, in tiles of 16 x 8 elements of D as in mma.sync.
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

/// The modifier behind .collector::bN. Collectors of A are only hints here, as
/// A is in shared memory as well.
enum class CollectorUse : uint8_t { Fill, Use, LastUse, Discard };

/// The static form of the instruction.
struct Tcgen05MmaForm {
  Tcgen05Kind kind;
  /// With .ws, collectors hold B, and there may be a zero-column mask. With
  /// .sp, A is sparse, and there is metadata.
  MmaVariant variant;
  CollectorUse collector;
  unsigned collectorBuffer;
  /// The number in .cta_group.
  unsigned numBlocks;
  bool isTensorA;
  /// Elements along K that share a scale factor, of which a sparse A has kept
  /// so many; 0 for kinds without scales.
  unsigned blockSize;
  /// The block size is spelled .scale_vec, which an extended K does not have.
  bool isScaleVec;
  /// The accumulator is multiplied by 2^-inputShift (scale-input-d).
  unsigned inputShift;
  /// The number of the target.
  unsigned target;
  /// Bit i: the target has getExtendedKs()[i].
  unsigned extendedKs;

  bool isWeightStationary() const {
    return variant == MmaVariant::WeightStationary;
  }
  bool isSparse() const { return variant == MmaVariant::Sparse; }
};

/// The operand values of the issuing thread.
struct Tcgen05MmaOperands {
  uint32_t d;
  /// A descriptor, or an address in tensor memory.
  uint64_t a;
  uint64_t b;
  uint32_t instruction;
  uint32_t metadata;
  uint32_t scaleA, scaleB;
  bool addsD;
  /// Lanes of D, in each block, that are not written.
  Tcgen05Lanes disabledLanes[2];
  /// A zero-column mask descriptor.
  uint64_t zeroColumns;
};

/// Executes the instruction for one lane of a warp.
void executeTcgen05Mma(Warp &warp, unsigned lane, const Tcgen05MmaForm &form,
                       const Tcgen05MmaOperands &operands);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TCGEN05MMA_H
