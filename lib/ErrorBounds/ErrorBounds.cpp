//===- ErrorBounds.cpp - A function that computes error bounds ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interval arithmetic on functions: the function computes intervals besides its
// values. Each inexact tensor has two companions, the lower and upper ends of
// its elements' intervals. All computation is in linalg ops here, which are
// cloned with a body on intervals; ops that move elements also move the ends.
//
// Values become inexact where a device adds in another order or approximates a
// function. Everything else is exact if its operands are.
//
//===----------------------------------------------------------------------===//

#include "ErrorBounds.h"

#include "ErrorProbes.h"
#include "IntervalGeneric.h"
#include "IntervalQuantize.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Reference/ProductTerms.h"
#include "blockscale/Dialect/Transforms/Reference/Softmax.h"
#include "blockscale/Dialect/Transforms/Reference/Sparse.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// From ops of the dialect to linalg
//===----------------------------------------------------------------------===//

namespace {
/// Marks the linalg ops that replace products: sums and decoded operands.
class MarkProducts : public RewriterBase::Listener {
public:
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      return;
    if (generic.getNumReductionLoops() != 0) {
      // The largest scale of a row is no sum.
      if (generic.getNumDpsInputs() > 1)
        markTensorCoreSum(generic);
    } else if (generic.getNumDpsInputs() == 2 &&
               getElementTypeOrSelf(generic.getResult(0).getType()).isF64())
      markDecodedProduct(generic);
  }
};
} // namespace

/// Replaces ops of the dialect by their meaning in linalg. Products are
/// replaced first, while the ops of their operands still exist.
static LogicalResult decompose(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet products(context), layouts(context);
  populateDecomposeMmaScaledPatterns(products);
  populateDecomposeProductTermsPatterns(products);
  populateDecomposeSparseMmaPatterns(products);
  populateDecomposeSwizzlePatterns(layouts);
  MarkProducts mark;
  GreedyRewriteConfig config;
  config.setListener(&mark);
  return failure(
      failed(applyPatternsGreedily(function, std::move(products), config)) ||
      failed(applyPatternsGreedily(function, std::move(layouts))));
}

/// Whether tensor cores may compute a product of linalg.
static bool isUnscaledProduct(Operation *op) {
  if (!isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op) ||
      op->getNumResults() != 1 ||
      !getElementTypeOrSelf(op->getResult(0).getType()).isF32())
    return false;
  return llvm::all_of(cast<linalg::LinalgOp>(op).getDpsInputs(), [](Value v) {
    return getHighPrecisionFormat(getElementTypeOrSelf(v.getType()))
        .has_value();
  });
}

/// Decomposes an op as the targets do.
static FailureOr<SmallVector<Value>>
decomposeComposed(OpBuilder &builder, linalg::AggregatedOpInterface op) {
  auto softmax = dyn_cast<linalg::SoftmaxOp>(op.getOperation());
  if (!softmax)
    return op.decomposeOperation(builder);
  FailureOr<Value> result = decomposeSoftmax(builder, softmax);
  if (failed(result))
    return failure();
  return SmallVector<Value>{*result};
}

/// Generalizes every linalg op, and decomposes composed ones.
static LogicalResult generalize(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::AggregatedOpInterface> composed;
  function.walk(
      [&](linalg::AggregatedOpInterface op) { composed.push_back(op); });
  for (linalg::AggregatedOpInterface op : composed) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> results = decomposeComposed(rewriter, op);
    if (succeeded(results))
      rewriter.replaceOp(op, *results);
  }
  SmallVector<linalg::LinalgOp> named;
  function.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(op) && op.hasPureTensorSemantics())
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    bool isPlain = isUnscaledProduct(op);
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> generic =
        linalg::generalizeNamedOp(rewriter, op);
    if (succeeded(generic) && isPlain)
      markTensorCoreSum(*generic);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Values and their companions
//===----------------------------------------------------------------------===//

/// Whether a device's results may differ from the host's even if all operands
/// are equal.
static bool isSource(Operation &op) {
  if (isa<CallOpInterface>(op))
    return true;
  return op
      .walk([](Operation *nested) {
        return isApproximated(nested) || isTensorCoreSum(nested) ||
                       isReorderedSum(nested)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
class BoundBuilder {
public:
  explicit BoundBuilder(func::FuncOp function)
      : function(function), builder(function.getContext()) {}

  std::vector<BoundedResult> run() {
    if (!function.getBody().hasOneBlock())
      return std::vector<BoundedResult>(function.getNumResults());
    Block &body = function.getBody().front();
    SmallVector<Operation *> ops = llvm::map_to_vector(
        body.without_terminator(), [](Operation &op) { return &op; });
    for (Operation *op : ops)
      visit(*op);

    std::vector<BoundedResult> results;
    SmallVector<Value> values;
    Operation *end = body.getTerminator();
    SmallVector<SmallVector<Value>> probes;
    builder.setInsertionPoint(end);
    if (llvm::any_of(end->getOperands(),
                     [&](Value value) { return chained.contains(value); }))
      for (unsigned i = 0; i != kNumErrorProbes; ++i)
        probes.push_back(
            buildErrorProbe(builder, ops, end->getOperands(), i, isSource));
    for (auto [i, value] : llvm::enumerate(end->getOperands())) {
      values.push_back(value);
      Interval ends = intervals.lookup(value);
      bool isProbed = ends && chained.contains(value);
      results.push_back(
          {static_cast<bool>(ends), isProbed, unknown.lookup(value)});
      if (ends)
        values.append({ends.low, ends.high});
      if (isProbed)
        for (ArrayRef<Value> probe : probes)
          values.push_back(probe[i]);
    }
    end->setOperands(values);
    function.setType(FunctionType::get(function.getContext(),
                                       function.getArgumentTypes(),
                                       ValueRange(values).getTypes()));
    function.removeResAttrsAttr();
    return results;
  }

private:
  /// Propagates intervals through an op; false if it has no rule.
  using Visitor = bool (BoundBuilder::*)(Operation &op);
  /// A row for each op with a rule, except ops on scalars. Elementwise
  /// arithmetic on tensors, and named linalg ops, are linalg.generic here.
  static const llvm::StringMap<Visitor> &getVisitors() {
    static const llvm::StringMap<Visitor> visitors = {
        {"blockscale.dequantize", &BoundBuilder::visitDequantize},
        {"blockscale.quantize", &BoundBuilder::visitQuantize},
        {"linalg.generic", &BoundBuilder::visitGeneric},
        {"tensor.cast", &BoundBuilder::visitMove},
        {"tensor.collapse_shape", &BoundBuilder::visitMove},
        {"tensor.concat", &BoundBuilder::visitMove},
        {"tensor.expand_shape", &BoundBuilder::visitMove},
        {"tensor.extract_slice", &BoundBuilder::visitMove},
        {"tensor.insert_slice", &BoundBuilder::visitMove},
    };
    return visitors;
  }

  bool visitGeneric(Operation &op) {
    return buildOnIntervals(builder, cast<linalg::GenericOp>(op), intervals,
                            culprit);
  }

  /// Ops that move elements also move the ends of their intervals.
  bool visitMove(Operation &op) {
    auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
    Type endType = type ? getEndType(type.getElementType()) : Type();
    if (!endType)
      return false;
    IRMapping lows, highs;
    for (Value operand : op.getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        continue;
      Interval ends = intervals.lookup(operand);
      if (!ends)
        ends = widenTensor(builder, operand);
      lows.map(operand, ends.low);
      highs.map(operand, ends.high);
    }
    auto move = [&](IRMapping &mapping) {
      Value end = builder.clone(op, mapping)->getResult(0);
      end.setType(type.clone(endType));
      return end;
    };
    Value low = move(lows), high = move(highs);
    intervals[op.getResult(0)] = {low, high};
    return true;
  }

  bool visitQuantize(Operation &op) {
    return quantizeOnIntervals(builder, cast<QuantizeOp>(op), intervals);
  }

  bool visitDequantize(Operation &op) {
    return dequantizeOnIntervals(builder, cast<DequantizeOp>(op), intervals,
                                 culprit);
  }

  bool visitScalar(Operation &op) {
    return buildScalarOnIntervals(builder, op, intervals);
  }

  void visit(Operation &op) {
    builder.setInsertionPointAfter(&op);
    std::string unknownFrom;
    bool isInexact = isSource(op);
    // Other ops only pass errors on or add their own, so intervals stay narrow.
    bool isStep = isTensorCoreSum(&op) || isa<QuantizeOp>(op),
         isChained = false;
    // Values that regions capture are operands, too.
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        isInexact |= intervals.contains(operand);
        isChained |= chained.contains(operand) ||
                     (isStep && intervals.contains(operand));
        if (unknownFrom.empty())
          unknownFrom = unknown.lookup(operand);
      }
    });
    if (unknownFrom.empty()) {
      if (!isInexact || op.getNumResults() == 0 || isa<tensor::DimOp>(op))
        return;
      culprit = op.getName().getStringRef();
      auto row = getVisitors().find(op.getName().getStringRef());
      Visitor visitor =
          row == getVisitors().end() ? &BoundBuilder::visitScalar : row->second;
      if ((this->*visitor)(op)) {
        if (isChained)
          chained.insert_range(op.getResults());
        return;
      }
      unknownFrom = culprit;
    }
    for (Value result : op.getResults())
      unknown[result] = unknownFrom;
  }

  func::FuncOp function;
  OpBuilder builder;
  IntervalMap intervals;
  /// The name of the op through which the interval of a value is unknown.
  DenseMap<Value, std::string> unknown;
  /// Inexact values that depend on inexact values through a product, or through
  /// quantization, where they may change to the next code.
  DenseSet<Value> chained;
  /// The op without a rule, if it is not the visited op itself.
  std::string culprit;
};
} // namespace

FailureOr<std::vector<BoundedResult>>
blockscale::returnErrorBounds(func::FuncOp function) {
  if (failed(decompose(function)) || failed(generalize(function)))
    return function.emitError("decomposition did not converge");
  std::vector<BoundedResult> results = BoundBuilder(function).run();
  unmarkSums(function);
  return results;
}
