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

/// What a product is made of, whichever operands it has.
struct WarpProduct {
  Location loc;
  TypeCombination types;
  InstructionAttr instruction;
  Value lane;
};

/// How the instructions of one path, which are those of a warp, make a product.
/// The elements of an accumulator are in the order of FragmentEmitter.h.
class WarpMultiply {
public:
  virtual ~WarpMultiply() = default;

  /// The elements `acc` of the warp's share `tile` with the product of `op`
  /// added.
  virtual SmallVector<Value> emitTile(OpBuilder &b, TileMmaOp op,
                                      const WarpTile &tile, ValueRange acc,
                                      Value lane) const = 0;

  /// The same for operands that lanes hold.
  virtual SmallVector<Value>
  emitVectors(OpBuilder &b, const WarpProduct &product,
              const OperandFragments &x, const OperandFragments &y,
              const WarpTile &tile, ValueRange acc) const = 0;
};

/// Those of `path`, which has instructions of a warp.
const WarpMultiply &getWarpMultiply(Path path);

/// One a path.
const WarpMultiply &getMmaSyncMultiply();
const WarpMultiply &getDequantizeMultiply();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_WARPMULTIPLY_H
