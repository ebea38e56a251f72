//===- WarpgroupForm.h - Forms of wgmma.mma_async ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The forms of wgmma.mma_async. D has 64 rows, 16 for each of the four warps of
// a warpgroup. A warp holds them as fragments of mma.sync: the registers of D
// are consecutive tiles of 8 columns, and the registers of A, and of its
// metadata, are those of one tile.
//
// Source: PTX ISA, section 9.7.15 "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPFORM_H
#define BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPFORM_H

#include "Mma/AdderRules.h"

namespace mlir::blockscale::sim {

class Warp;
struct Step;

/// Rows of D of a warpgroup, and of a warp.
inline constexpr unsigned kWarpgroupRows = 64, kWarpRows = 16;

/// An instruction and its modifiers.
struct WarpgroupForm {
  /// The form of mma.sync for 8 columns of D of a warp.
  MmaForm tile;
  unsigned n;
  /// Whether there are imm-scale-a and b, and whether there are imm-trans-a
  /// and b.
  bool hasSigns, hasTransposes;
  /// Properties of A and B.
  bool isRegisterA = false;
  bool isNegatedA = false, isNegatedB = false;
  bool isTransposedA = false, isTransposedB = false;
  const AdderRule *adder = nullptr;
  /// The guard `scale-d` is `!%p`.
  bool isScaleNegated = false;
  /// Of a sparse A: which lanes have its metadata.
  unsigned sparsitySelector = 0;
  /// Its name in statistics: shape and types. Two instructions may use one
  /// accumulator in succession only if these are equal.
  llvm::StringRef name = {};

  unsigned getNumTiles() const { return n / tile.n; }
  unsigned getRegistersOfTile() const { return getRegisters(tile).d; }
  unsigned getNumAccumulators() const {
    return getNumTiles() * getRegistersOfTile();
  }
  /// Constants behind the operand scale-d.
  unsigned getNumConstants() const {
    return (hasSigns ? 2 : 0) + (!hasTransposes ? 0 : isRegisterA ? 1 : 2);
  }
};

struct WarpgroupTypes {
  Type d, a, b;
  bool isSatfinite;
  /// With .sp.
  bool isSparse = false;
};

/// Looks up the form with a shape (such as "m64n128k16") and types; members
/// that depend on operands are not set. `version` is that of PTX (84 is 8.4).
/// An error says what was expected.
Result<WarpgroupForm> lookupWarpgroupForm(llvm::StringRef shape,
                                          const WarpgroupTypes &types,
                                          unsigned version);
/// Such as wgmma.m64n128k16.f32.bf16.bf16.
std::string makeName(const WarpgroupForm &form);

/// Operands: registers of D, then the registers or the descriptor of A, the
/// descriptor of B, metadata if A is sparse, and the predicate scale-d. The
/// form is a WarpgroupForm.
void executeWarpgroupMultiply(Warp &warp, const Step &step);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPFORM_H
