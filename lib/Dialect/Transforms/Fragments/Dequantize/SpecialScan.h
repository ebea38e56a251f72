//===- SpecialScan.h - Infinities and NaN among codes -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Placing and multiplying makes numbers of the codes of infinities and NaN:
// formats that have them are asked for before.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPECIALSCAN_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPECIALSCAN_H

#include "Fragments/FragmentEmitter.h"

namespace mlir::blockscale {

/// Looks for special codes piece by piece, so that other code can come between.
class SpecialScan {
public:
  virtual ~SpecialScan() = default;

  virtual unsigned getNumPieces() const = 0;
  /// Starts anew, where the builder stands.
  virtual void begin() = 0;
  virtual void emitPiece(unsigned number) = 0;
  /// Whether the pieces since `begin` have any.
  virtual Value isFound() = 0;
  /// Whether any of those who look found one, `isFound` being what this thread
  /// says. All threads of the accumulator execute it.
  virtual Value isFoundByAny(Value isFound) = 0;
};

using SpecialScanPtr = std::unique_ptr<SpecialScan>;

/// For operands of `op` in shared memory, of which each of `numThreads` looks
/// at a part: they meet at a barrier. Null if no format has such codes.
SpecialScanPtr makeTileScan(OpBuilder &b, TileMmaOp op, int64_t numThreads);

/// For fragments of elements of `row`, and the lanes of a warp.
SpecialScanPtr makeFragmentScan(OpBuilder &b, Location loc,
                                const TypeCombination &types,
                                const OperandFragments &x,
                                const OperandFragments &y);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPECIALSCAN_H
