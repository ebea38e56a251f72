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

/// A pattern that emits code of the lane `lane`.
template <typename SourceOp>
struct LanePattern : OpConversionPattern<SourceOp> {
  LanePattern(const TypeConverter &converter, MLIRContext *context, Value lane)
      : OpConversionPattern<SourceOp>(converter, context), lane(lane) {}

  Value lane;
};

/// Whether `type` is a vector that becomes a fragment: it has rank 2, and its
/// elements are not quantized.
bool isSharedVector(Type type);

/// Whether `op` is one of the ops of the kernel level on accumulators.
bool isAccOp(Operation *op);

/// Checks that there is a pattern for each op of a function on accumulators,
/// and on shared vectors if it has them. Emits an error at an op that has none.
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
