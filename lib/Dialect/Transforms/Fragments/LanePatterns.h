//===- LanePatterns.h - Parts of to-fragments -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_LANEPATTERNS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_LANEPATTERNS_H

#include "Fragments/FragmentEmitter.h"
#include "Utils/KnownAlignment.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::blockscale {

/// The values of each result of an op in one lane.
using LaneResults = SmallVector<SmallVector<Value>>;

/// The operands of an op in one lane.
template <typename Op>
using LaneOperands = typename OpConversionPattern<Op>::OneToNOpAdaptor;

/// A function that emits the code of the lane `lane` for `op`.
template <typename Op>
using LowerFn = FailureOr<LaneResults> (*)(Op op, LaneOperands<Op> operands,
                                           Value lane,
                                           ConversionPatternRewriter &b);

template <typename Op>
struct LanePattern final : OpConversionPattern<Op> {
  LanePattern(const TypeConverter &converter, MLIRContext *context, Value lane,
              LowerFn<Op> lower)
      : OpConversionPattern<Op>(converter, context), lane(lane), lower(lower) {}

  LogicalResult
  matchAndRewrite(Op op, LaneOperands<Op> operands,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<LaneResults> results = lower(op, operands, lane, rewriter);
    if (failed(results))
      return failure();
    rewriter.replaceOpWithMultiple(op, *std::move(results));
    return success();
  }

  Value lane;
  LowerFn<Op> lower;
};

/// Adds a pattern for each of `functions`.
template <typename... Ops>
void addLanePatterns(const TypeConverter &converter,
                     RewritePatternSet &patterns, Value lane,
                     LowerFn<Ops>... functions) {
  (patterns.add<LanePattern<Ops>>(converter, patterns.getContext(), lane,
                                  functions),
   ...);
}

/// Whether `type` is a vector that becomes a fragment: it has rank 2, and its
/// elements are not quantized.
bool isSharedVector(Type type);

/// Whether `op` is one of the ops of the kernel level on accumulators.
bool isAccOp(Operation *op);

/// Checks that there is a pattern for each op of a function on accumulators,
/// and on shared vectors if it has them. Emits an error at an op that has none.
LogicalResult verifyDistribution(gpu::GPUFuncOp function,
                                 bool hasSharedVectors);

/// Loads the fragments of x (A) or y (B) of `op` that the lane `lane` holds, at
/// their sources. Fails if a source cannot be found. `isMultiple` knows
/// multiples of indices, which the width of loads depends on.
FailureOr<OperandFragments> loadVectorOperand(OpBuilder &builder,
                                              MmaScaledOp op, Operand operand,
                                              Value lane,
                                              IsMultipleFn isMultiple);

void populateTileOpPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns, Value lane);
void populateFragmentsPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns, Value lane);
void populateAccQuantizePatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns, Value lane);
void populateAccInterleavePatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns, Value lane);
void populatePromotionPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns, Value lane);
/// `warpgroup` is the number of the warpgroup of a thread, an index; null
/// without ops that need it.
void populateWarpgroupPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns, Value lane,
                               Value warpgroup);
void populateSharedVectorPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns, Value lane);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_LANEPATTERNS_H
