//===- WarpgroupForm.h - What a wgmma.mma_async is --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The forms of wgmma.mma_async. D has 64 rows, of which each of the four warps
// of a warpgroup has 16, as fragments of mma.sync: a tile of 8 columns follows
// the other in the registers of D, and the registers of A are those of a
// tile's.
//
// Source: PTX ISA, section 9.7.15 "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPFORM_H
#define BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPFORM_H

#include "Mma/AdderRules.h"

namespace mlir::blockscale::sim {

/// Rows of D that a warpgroup, and that a warp has.
inline constexpr unsigned kWarpgroupRows = 64, kWarpRows = 16;

/// An instruction and its modifiers.
struct WarpgroupForm {
  /// What a warp multiplies for 8 columns of D.
  MmaForm tile;
  unsigned n;
  /// Whether there are imm-scale-a and b, and whether there are imm-trans-a
  /// and b.
  bool hasSigns, hasTransposes;
  /// Of A and B.
  bool isRegisterA = false;
  bool isNegatedA = false, isNegatedB = false;
  bool isTransposedA = false, isTransposedB = false;
  const AdderRule *adder = nullptr;
  /// The guard `scale-d` is `!%p`.
  bool isScaleNegated = false;
  /// What statistics call it: shape and types, which also tell whether two
  /// instructions may have one accumulator after the other.
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
};

/// The form with a shape (such as "m64n128k16") and types, without what
/// operands tell. `version` is that of PTX (84 is 8.4). An error says what was
/// expected.
Result<WarpgroupForm> lookupWarpgroupForm(llvm::StringRef shape,
                                          const WarpgroupTypes &types,
                                          unsigned version);
/// Such as wgmma.m64n128k16.f32.bf16.bf16.
std::string makeName(const WarpgroupForm &form);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPFORM_H
