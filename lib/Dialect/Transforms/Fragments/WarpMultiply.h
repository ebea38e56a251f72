//===- WarpMultiply.h - Products in registers of warps ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_WARPMULTIPLY_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_WARPMULTIPLY_H

#include "Fragments/FragmentEmitter.h"

namespace mlir::blockscale {

/// The parts of a product that do not depend on where its operands are.
struct WarpProduct {
  Location loc;
  TypeCombination types;
  InstructionAttr instruction;
  Value lane;
};

/// This warp's share of an accumulator in `#blockscale.warps`.
WarpTile getWarpTile(OpBuilder &b, Location loc, AccType type);

/// How a product is computed with instructions of a warp.
/// The elements of an accumulator are in the order of FragmentEmitter.h.
class WarpMultiply {
public:
  virtual ~WarpMultiply() = default;

  /// Returns the elements `acc` of the warp's share `tile` plus the product of
  /// `op`.
  virtual SmallVector<Value> emitTile(OpBuilder &b, TileMmaOp op,
                                      const WarpTile &tile, ValueRange acc,
                                      Value lane) const = 0;

  /// The same for operands that lanes hold.
  virtual SmallVector<Value>
  emitVectors(OpBuilder &b, const WarpProduct &product,
              const OperandFragments &x, const OperandFragments &y,
              const WarpTile &tile, ValueRange acc) const = 0;
};

/// The implementation for `instruction`, which a warp executes.
const WarpMultiply &getWarpMultiply(InstructionAttr instruction);

const WarpMultiply &getMmaSyncMultiply();
const WarpMultiply &getDequantizeMultiply();
const WarpMultiply &getUnscaledMultiply();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_WARPMULTIPLY_H
