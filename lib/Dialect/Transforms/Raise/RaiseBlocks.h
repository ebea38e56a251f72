//===- RaiseBlocks.h - Blocks of K that share a scale -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEBLOCKS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEBLOCKS_H

#include "Raise/RaiseContraction.h"
#include "Raise/RaiseEpilogue.h"
#include "Raise/RaiseOperand.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

namespace mlir::blockscale {

/// The factors of x, or of y. Without `scale`, the scales are `tensorScale`, or
/// 1.
struct SideFactors {
  const Factor *element = nullptr;
  const Factor *scale = nullptr;
  const Factor *tensorScale = nullptr;
};

/// One of x and y, with its scales.
struct RaisedSide {
  OperandForm element;
  /// The scales, or nullopt if all of them are `splatScale`, or `tensorScale`
  /// if that is null.
  std::optional<OperandForm> scale;
  FloatAttr splatScale;
  std::optional<TensorScale> tensorScale = std::nullopt;
  /// The block of coarse scales; nullopt for others.
  std::optional<ScaleBlock> block = std::nullopt;
};

/// The operands of the `mma_scaled` that a contraction becomes.
struct RaiseMatch {
  RaisedSide x;
  RaisedSide y;
  Value acc;
  /// The block size; 0 if scales are coarse, with the blocks of x and y.
  int64_t block = 0;
  /// The factors of the whole product.
  SmallVector<TensorScale> tensorScales = {};

  /// The attributes of the op: the first one, or the two others.
  IntegerAttr getBlockSize() const;
  ScaleBlockAttr getScaleBlock(MmaScaledOp::Side side) const;
};

/// The name in the op and in remarks.
inline StringRef getName(MmaScaledOp::Side side) {
  return side == MmaScaledOp::Side::X ? "x" : "y";
}

/// Finds the block size of all scales, one of `legalBlocks` (ascending), and
/// the operands with it. `reason` says why there is none.
std::optional<RaiseMatch> matchBlocks(const Contraction &contraction,
                                      const SideFactors &x,
                                      const SideFactors &y,
                                      ArrayRef<unsigned> legalBlocks,
                                      Type scaleType, std::string &reason);

/// The same for one operand only. Its elements and scales become [batch, row,
/// K], with the batch if `hasBatch`.
std::optional<RaisedSide>
matchBlocksOfSide(const Contraction &contraction, MmaScaledOp::Side side,
                  const SideFactors &factors, bool hasBatch,
                  ArrayRef<unsigned> legalBlocks, Type scaleType,
                  int64_t &block, std::string &reason);

/// A high-precision operand, without scales, as [batch, row, K].
std::optional<OperandForm> matchRowsOfK(const Contraction &contraction,
                                        MmaScaledOp::Side side,
                                        const Factor &dense, bool hasBatch,
                                        int64_t block);

/// Creates the scales of `side`, which is x or y, beside its elements `matrix`.
/// Without coarse scales, `block` is their block size.
Value createScales(OpBuilder &builder, Location loc, const RaisedSide &operand,
                   Value matrix, MmaScaledOp::Side side, int64_t block);

/// Matches `contraction` as an `mma_scaled`. If it has block scales and does
/// not match, `reason` says why.
std::optional<RaiseMatch> matchMmaScaled(Contraction &contraction,
                                         const RaiseOptions &options,
                                         std::string &reason);

/// Matches `op` as an `mma_scaled`. If `op` is a contraction with block scales
/// that does not match, `reason` says why.
std::optional<RaiseMatch>
matchMmaScaled(Operation *op, const RaiseOptions &options, std::string &reason);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEBLOCKS_H
