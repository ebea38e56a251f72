//===- LanePatterns.h - Parts of to-fragments -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_LANEPATTERNS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_LANEPATTERNS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::blockscale {

/// The extents of a value that is distributed like C of mma.sync, and where
/// they start for this warp.
struct WarpTile {
  int64_t m;
  int64_t n;
  /// The first row and column of the warp's share; null for 0.
  Value firstRow;
  Value firstColumn;
};

/// A pattern that knows what lane it writes code for.
template <typename SourceOp>
struct LanePattern : OpConversionPattern<SourceOp> {
  LanePattern(const TypeConverter &converter, MLIRContext *context, Value lane)
      : OpConversionPattern<SourceOp>(converter, context), lane(lane) {}

  Value lane;
};

/// Calls `body` for each pair of neighbors in a row that the lane holds of an
/// accumulator: with the number of the first one, among the lane's elements,
/// and its position in the tile.
void forEachAccPair(
    OpBuilder &builder, Location loc, Value lane, const WarpTile &tile,
    function_ref<void(int64_t index, Value row, Value column)> body);

/// Whether `type` is a vector that becomes a fragment: of rank 2, and not of
/// codes.
bool isSharedVector(Type type);

/// Whether `op` is one of the ops of the kernel level on accumulators.
bool isAccOp(Operation *op);

/// Checks that all that a function does with accumulators, and with shared
/// vectors if it has them, has a pattern. Fails after an error at what has
/// none.
LogicalResult verifyDistribution(gpu::GPUFuncOp function,
                                 bool hasSharedVectors);

void populateTileToFragmentsPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns, Value lane);
void populateVectorToFragmentsPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns, Value lane);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_LANEPATTERNS_H
