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

/// A pattern that knows what lane it writes code for.
template <typename SourceOp>
struct LanePattern : OpConversionPattern<SourceOp> {
  LanePattern(const TypeConverter &converter, MLIRContext *context, Value lane)
      : OpConversionPattern<SourceOp>(converter, context), lane(lane) {}

  Value lane;
};

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

void populateTileOpPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns, Value lane);
void populateAccQuantizePatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns, Value lane);
void populateWarpgroupPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns, Value lane);
void populateSharedVectorPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns, Value lane);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_LANEPATTERNS_H
