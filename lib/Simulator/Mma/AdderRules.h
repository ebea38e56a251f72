//===- AdderRules.h - How tensor cores add ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parameters in which the matrix units of chips differ
// (Numerics::Hardware). HardwareAdder.cpp describes the algorithm.
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
  /// The chip has no such instruction and multiplies in f16: products are added
  /// to 0 in two chunks, half of K each, and C is added to that, rounded to
  /// nearest.
  TwoHalves,
  /// f64: one fused multiply-add after the other.
  Chain,
};

struct MmaMatrices;

struct AdderRule {
  AdderMethod method;
  /// The number of products in a chunk; with TwoHalves, the maximum.
  unsigned chunk;
  /// How many bits after the binary point of the largest term are kept.
  int alignedBits;
  /// The largest exponent of a chunk is not below this.
  int floorF32, floorF16;
  /// For D of f32: how many fraction bits the rounding toward zero keeps. (f16
  /// is rounded to nearest.)
  unsigned fractionBits;
};

/// The rule of a form; null if it is computed as with Numerics::Exact:
/// integers, and targets that are not in the table. `target` is the number of
/// the module's target (90).
const AdderRule *findAdderRule(MatrixUnit unit, unsigned target,
                               const MmaForm &form);

/// The elements of D, row by row.
void multiplyInHardware(const MmaForm &form, const AdderRule &rule,
                        const MmaMatrices &matrices, uint64_t *bits);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MMA_ADDERRULES_H
