//===- AdderRules.h - How tensor cores add ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers by which matrix units of one chip differ from those of another
// (Numerics::Hardware). HardwareAdder.cpp says what they mean.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MMA_ADDERRULES_H
#define BLOCKSCALE_LIB_SIMULATOR_MMA_ADDERRULES_H

#include "Mma/MatrixForm.h"

namespace mlir::blockscale::sim {

/// The instructions that multiply: mma.sync and mma.sp.sync,
/// wgmma.mma_async, tcgen05.mma.
enum class MatrixUnit : uint8_t { Warp, Warpgroup, Tensor };

enum class AdderMethod : uint8_t {
  /// Every product is a term of a sum of chunks.
  Products,
  /// A term is the exact sum of 16 products, times the significands of the
  /// scales.
  GroupsOf16,
  /// The chip has no such instruction: products of f16 are added to 0 in two
  /// chunks, half of K each, and C is added to that, rounded to nearest.
  TwoHalves,
  /// f64: one fused multiply-add after the other.
  Chain,
};

struct AdderRule {
  AdderMethod method;
  /// Products of a chunk; with TwoHalves, at most.
  unsigned chunk;
  /// Bits after the binary point of the largest term that a sum keeps.
  int alignedBits;
  /// The largest exponent of a chunk is not below this.
  int floorF32, floorF16;
  /// Of a D of f32 (f16 is rounded to nearest): the fraction bits that are
  /// kept where it is rounded toward zero.
  unsigned fractionBits;
};

/// Null where a form is computed as Numerics::Exact: integers, and targets that
/// the table does not have. `target` is the number of a module's (90).
const AdderRule *findAdderRule(MatrixUnit unit, unsigned target,
                               const MmaForm &form);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MMA_ADDERRULES_H
