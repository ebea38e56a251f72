//===- SpecialScan.h - Scan for infinities and NaN --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shifting and multiplying would turn infinities and NaN of narrow formats into
// finite values, so operands of formats that have them are scanned.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPECIALSCAN_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPECIALSCAN_H

#include "Fragments/FragmentEmitter.h"

namespace mlir::blockscale {

/// Scans for infinities and NaN piece by piece, so that other code can be
/// emitted in between.
class SpecialScan {
public:
  virtual ~SpecialScan() = default;

  virtual unsigned getNumPieces() const = 0;
  /// Starts a scan, at the insertion point of the builder.
  virtual void begin() = 0;
  virtual void emitPiece(unsigned number) = 0;
  /// Whether this thread has found one in the pieces since `begin`.
  virtual Value isFound() = 0;
  /// Whether any thread has found one; `isFound` is the result of this thread.
  /// All threads of the accumulator execute it.
  virtual Value isFoundByAny(Value isFound) = 0;
};

using SpecialScanPtr = std::unique_ptr<SpecialScan>;

/// Scans operands of `op` in shared memory. Each of `numThreads` threads scans
/// a part, and a barrier joins the results. Null if no format has infinity or
/// NaN.
SpecialScanPtr makeTileScan(OpBuilder &b, TileMmaOp op, int64_t numThreads);

/// Scans fragments of `types` in the lanes of a warp.
SpecialScanPtr makeFragmentScan(OpBuilder &b, Location loc,
                                const TypeCombination &types,
                                const OperandFragments &x,
                                const OperandFragments &y);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPECIALSCAN_H
