//===- IntervalGeneric.cpp - linalg.generic on intervals ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntervalGeneric.h"

#include "Emitter.h"
#include "LicensedSums.h"
#include "blockscale/Dialect/Transforms/Reference/ProductTerms.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;
using utils::IteratorType;

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kTensorCoreSum = "tensor_core_sum";
static constexpr StringLiteral kDecodedProduct = "decoded_product";

void blockscale::markTensorCoreSum(linalg::GenericOp op) {
  op->setAttr(kTensorCoreSum, UnitAttr::get(op.getContext()));
}

bool blockscale::isTensorCoreSum(Operation *op) {
  return op->hasAttr(kTensorCoreSum);
}

void blockscale::markDecodedProduct(linalg::GenericOp op) {
  op->setAttr(kDecodedProduct, UnitAttr::get(op.getContext()));
}

void blockscale::unmarkSums(Operation *root) {
  root->walk([](linalg::GenericOp op) {
    op->removeAttr(kTensorCoreSum);
    op->removeAttr(kDecodedProduct);
    unmarkLicensedSum(op);
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {
/// The rounding errors of additions in a type: each addition errs by at most
/// `relative` times the sum of the terms' magnitudes, plus `absolute`. If the
/// magnitudes add up to more than `largest`, a partial sum may overflow.
struct Additions {
  double relative, absolute, largest;
};

/// Sums that are rounded to nearest after each addition.
struct AdditionsRow {
  bool (*matches)(Type type);
  Additions additions;
};
} // namespace

static Additions getAdditions(linalg::GenericOp op, Type type) {
  // The documented error bound of products (docs/Numerics.md).
  if (isTensorCoreSum(op))
    return {0x1p-22, 0x1p-122, 0x1p126};
  static constexpr AdditionsRow rows[] = {
      {[](Type type) { return type.isF16(); }, {0x1p-11, 0, 0x1p14}},
      {[](Type type) { return type.isBF16(); }, {0x1p-8, 0, 0x1p126}},
      {[](Type type) { return type.isF32(); }, {0x1p-24, 0, 0x1p126}},
  };
  for (const AdditionsRow &row : rows)
    if (row.matches(type))
      return row.additions;
  return {0x1p-52, 0, 0x1p1022};
}

/// If output `i` is its old value plus a term: the term and the op that adds
/// it; null otherwise.
static Value getTerm(linalg::GenericOp op, unsigned i, Operation *&sum) {
  if (op.getNumReductionLoops() == 0)
    return {};
  BlockArgument acc = op.getRegionOutputArgs()[i];
  sum = op.getBody()->getTerminator()->getOperand(i).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(sum) ||
      sum->getBlock() != op.getBody() || !acc.hasOneUse() ||
      !sum->getResult(0).hasOneUse())
    return {};
  if (sum->getOperand(0) == acc)
    return sum->getOperand(1);
  return isa<arith::AddFOp>(sum) && sum->getOperand(1) == acc
             ? sum->getOperand(0)
             : Value();
}

bool blockscale::isReorderedSum(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !generic.hasPureTensorSemantics())
    return false;
  for (unsigned i = 0; i != generic->getNumResults(); ++i) {
    Type type = getElementTypeOrSelf(generic.getResult(i).getType());
    Operation *sum = nullptr;
    if ((type.isF32() || type.isF64()) && getTerm(generic, i, sum))
      return true;
  }
  return false;
}

/// The number of terms of an element of the results, as f64.
static Value countTerms(OpBuilder &builder, linalg::GenericOp op) {
  Location loc = op.getLoc();
  SmallVector<Range> ranges =
      cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(builder, loc);
  Value count =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(1.0));
  for (auto [range, iterator] :
       llvm::zip_equal(ranges, op.getIteratorTypesArray())) {
    if (iterator != IteratorType::reduction)
      continue;
    Value size = getValueOrCreateConstantIndexOp(builder, loc, range.size);
    size =
        arith::IndexCastUIOp::create(builder, loc, builder.getI64Type(), size);
    size = arith::UIToFPOp::create(builder, loc, builder.getF64Type(), size);
    count = arith::MulFOp::create(builder, loc, count, size);
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

static Value makeEmpty(OpBuilder &builder, Value like, Type element) {
  Location loc = like.getLoc();
  return tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like), element);
}

Interval blockscale::widenTensor(OpBuilder &builder, Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  Type endType = getEndType(element);
  if (element == endType)
    return {tensor, tensor};
  Value end = mapElements(builder, tensor, endType, tensor,
                          [](Emitter emit, ValueRange args) {
                            return SmallVector<Value>{emit.widen(args[0])};
                          })
                  .front();
  return {end, end};
}

/// The ends of sums, widened by the rounding errors of additions, and by
/// `licensed`, what tensor cores may lose before these; null for nothing.
static Interval putAround(OpBuilder &builder, Interval sums, Value magnitudes,
                          Value licensed, Value count, Additions additions) {
  SmallVector<Value> inputs = {sums.low, sums.high, magnitudes};
  if (licensed)
    inputs.push_back(licensed);
  return mapToEnds(
      builder, sums.low, inputs, [&](Emitter emit, ValueRange args) {
        Value terms = args[2];
        if (licensed)
          terms = emit.add(terms, args[3]);
        Value radius = emit.multiply(terms, count);
        radius = emit.multiply(radius, emit.number(additions.relative));
        radius = emit.add(radius, emit.number(additions.absolute));
        if (licensed)
          radius = emit.add(radius, args[3]);
        Value low = emit.subtract(args[0], radius);
        Value high = emit.add(args[1], radius);
        // A partial sum may overflow, but NaN stays NaN.
        Value isLarge = emit.compare(arith::CmpFPredicate::OGT, args[2],
                                     emit.number(additions.largest));
        isLarge = emit.both(isLarge, emit.isNumber(args[0]));
        return emit.anythingIf(isLarge, emit.hull({low, high}));
      });
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// An element of a tensor at exact indices.
static bool extractOnIntervals(OpBuilder &builder, tensor::ExtractOp op,
                               IntervalMap &intervals, const IRMapping &exact) {
  Interval ends = intervals.lookup(op.getTensor());
  if (!ends || llvm::any_of(op.getIndices(), [&](Value index) {
        return intervals.contains(index);
      }))
    return false;
  auto indices = llvm::map_to_vector(op.getIndices(), [&](Value index) {
    return exact.lookupOrDefault(index);
  });
  auto take = [&](Value tensor) -> Value {
    return tensor::ExtractOp::create(builder, op.getLoc(), tensor, indices);
  };
  Value low = take(ends.low);
  intervals[op.getResult()] = {low, take(ends.high)};
  return true;
}

bool blockscale::buildScalarOnIntervals(OpBuilder &builder, Operation &op,
                                        IntervalMap &intervals,
                                        const IRMapping &exact) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return extractOnIntervals(builder, extract, intervals, exact);
  if (op.getNumRegions() != 0)
    return false;
  auto operands = llvm::map_to_vector(op.getOperands(), [&](Value value) {
    return IntervalOperand{exact.lookupOrDefault(value),
                           intervals.lookup(value)};
  });
  FailureOr<Interval> interval = emitInterval(builder, &op, operands);
  if (succeeded(interval))
    intervals[op.getResult(0)] = *interval;
  return succeeded(interval);
}

//===----------------------------------------------------------------------===//
// Loops on intervals
//===----------------------------------------------------------------------===//

/// The larger magnitude of two ends.
static Value getLargest(Emitter emit, Interval ends) {
  Value low = emit.magnitude(ends.low);
  if (ends.low == ends.high)
    return low;
  return arith::MaximumFOp::create(emit.builder, emit.loc, low,
                                   emit.magnitude(ends.high));
}

namespace {
/// One output of an op.
struct Output {
  Type endType;
  /// For a sum: the term of each step, and the op that adds it.
  Value term;
  Operation *sum = nullptr;
  /// The output tensors of the ends, and for a sum of its magnitudes.
  SmallVector<Value, 3> inits;
};

class GenericBuilder {
public:
  GenericBuilder(OpBuilder &builder, linalg::GenericOp op,
                 IntervalMap &intervals, std::string &culprit)
      : builder(builder), op(op), intervals(intervals), culprit(culprit) {}

  bool build() {
    if (!op.hasPureTensorSemantics() || !makeOutputs())
      return false;
    linalg::GenericOp loops = makeLoops();
    for (Operation &bodyOp : *op.getBody())
      for (Value value : bodyOp.getResults())
        intervals.erase(value);
    for (BlockArgument arg : op.getBody()->getArguments())
      intervals.erase(arg);
    if (!isKnown) {
      loops.erase();
      return false;
    }
    ValueRange results = loops.getResults();
    Value count;
    for (auto [i, output] : llvm::enumerate(outputs)) {
      Interval ends = {results[0], results[1]};
      if (output.term) {
        if (!count)
          count = countTerms(builder, op);
        Value licensed = buildLicensedErrors(builder, op, intervals);
        Type type = getElementTypeOrSelf(op.getResult(i).getType());
        ends = putAround(builder, ends, results[2], licensed, count,
                         getAdditions(op, type));
      }
      results = results.drop_front(output.inits.size());
      intervals[op.getResult(i)] = ends;
    }
    return true;
  }

private:
  bool makeOutputs() {
    for (auto [i, init] : llvm::enumerate(op.getDpsInits())) {
      Output output;
      output.endType = getEndType(getElementTypeOrSelf(init.getType()));
      if (!output.endType) {
        Value value = op.getBody()->getTerminator()->getOperand(i);
        if (Operation *bodyOp = value.getDefiningOp())
          culprit = bodyOp->getName().getStringRef();
        return false;
      }
      output.term = getTerm(op, i, output.sum);
      if (op.getRegionOutputArgs()[i].use_empty()) {
        for (unsigned end = 0; end != 2; ++end)
          output.inits.push_back(makeEmpty(builder, init, output.endType));
      } else {
        Interval ends = intervals.lookup(init);
        if (!ends)
          ends = widenTensor(builder, init);
        output.inits = {ends.low, ends.high};
        if (output.term)
          output.inits.push_back(
              mapElements(builder, init, output.endType, {ends.low, ends.high},
                          [](Emitter emit, ValueRange args) {
                            return SmallVector<Value>{
                                getLargest(emit, {args[0], args[1]})};
                          })
                  .front());
      }
      outputs.push_back(output);
    }
    return true;
  }

  linalg::GenericOp makeLoops() {
    SmallVector<Value> inputs(op.getDpsInputs()), inits;
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands())
      maps.push_back(op.getMatchingIndexingMap(input));
    for (OpOperand *input : op.getDpsInputOperands()) {
      Interval ends = intervals.lookup(input->get());
      if (!ends)
        continue;
      inputs.append({ends.low, ends.high});
      maps.append(2, op.getMatchingIndexingMap(input));
    }
    for (auto [i, output] : llvm::enumerate(outputs)) {
      llvm::append_range(inits, output.inits);
      maps.append(output.inits.size(),
                  op.getMatchingIndexingMap(op.getDpsInitOperand(i)));
    }
    return linalg::GenericOp::create(
        builder, op.getLoc(), ValueRange(inits).getTypes(), inputs, inits, maps,
        op.getIteratorTypesArray(),
        [&](OpBuilder &b, Location loc, ValueRange args) {
          SmallVector<Value> results = buildBody(b, args);
          // Ops without a rule are erased below.
          linalg::YieldOp::create(b, loc,
                                  isKnown ? ValueRange(results)
                                          : args.take_back(inits.size()));
        });
  }

  SmallVector<Value> buildBody(OpBuilder &b, ValueRange args) {
    Location loc = op.getLoc();
    Block &body = *op.getBody();
    auto takeEnds = [&]() -> Interval {
      Interval ends = {args[0], args[1]};
      args = args.drop_front(2);
      return ends;
    };
    for (BlockArgument arg : op.getRegionInputArgs()) {
      exact.map(arg, args.front());
      args = args.drop_front();
    }
    for (OpOperand *input : op.getDpsInputOperands())
      if (intervals.contains(input->get()))
        intervals[op.getMatchingBlockArgument(input)] = takeEnds();
    if (op->hasAttr(kDecodedProduct)) {
      // The values of quantized elements are known; their decoding has no
      // intervals.
      Operation *product = body.getTerminator()->getOperand(0).getDefiningOp();
      for (unsigned i = 0; i != 2; ++i) {
        BlockArgument code = op.getRegionInputArgs()[i];
        if (!intervals.contains(code))
          continue;
        Interval ends = intervals.lookup(code);
        intervals.erase(code);
        bool isUnsigned = i == 1 && isa<Float8E4M3FNType>(code.getType());
        intervals[product->getOperand(i)] =
            isUnsigned ? Emitter{b, loc}.magnitude(ends) : ends;
      }
    }
    SmallVector<Value> magnitudes(outputs.size());
    for (auto [i, output] : llvm::enumerate(outputs)) {
      intervals[op.getRegionOutputArgs()[i]] = takeEnds();
      if (!output.term)
        continue;
      magnitudes[i] = args.front();
      args = args.drop_front();
    }

    for (Operation &bodyOp : body.without_terminator()) {
      // Sums are built below; inexact quantized elements are not supported.
      if (llvm::any_of(outputs,
                       [&](Output &output) {
                         return output.term && output.sum == &bodyOp;
                       }) ||
          llvm::any_of(bodyOp.getResults(),
                       [&](Value value) { return intervals.contains(value); }))
        continue;
      bool isInexact = false;
      bodyOp.walk([&](Operation *nested) {
        isInexact |= isApproximated(nested);
        for (Value operand : nested->getOperands())
          isInexact |= intervals.contains(operand);
      });
      if (!isInexact) {
        b.clone(bodyOp, exact);
      } else if (!buildScalarOnIntervals(b, bodyOp, intervals, exact)) {
        if (isKnown)
          culprit = bodyOp.getName().getStringRef();
        isKnown = false;
        return {};
      }
    }

    SmallVector<Value> results;
    for (auto [i, output] : llvm::enumerate(outputs)) {
      Value value = body.getTerminator()->getOperand(i);
      if (!output.term) {
        Interval ends = getEnds(b, value);
        results.append({ends.low, ends.high});
        continue;
      }
      Interval acc = intervals.lookup(op.getRegionOutputArgs()[i]);
      Interval term = getEnds(b, output.term);
      if (isa<arith::SubFOp>(output.sum)) {
        Value low = arith::NegFOp::create(b, loc, term.high);
        term = {low, arith::NegFOp::create(b, loc, term.low)};
      }
      Emitter emit{b, loc};
      Value magnitude = getLargest(emit, term);
      results.push_back(emit.add(acc.low, term.low));
      results.push_back(emit.add(acc.high, term.high));
      results.push_back(emit.add(magnitudes[i], magnitude));
    }
    return results;
  }

  /// Also for exact values inside of the body.
  Interval getEnds(OpBuilder &b, Value value) {
    if (Interval ends = intervals.lookup(value))
      return ends;
    Value end = Emitter{b, op.getLoc()}.widen(exact.lookupOrDefault(value));
    return {end, end};
  }

  OpBuilder &builder;
  linalg::GenericOp op;
  /// The intervals of tensors, and of elements while the body is built.
  IntervalMap &intervals;
  std::string &culprit;
  SmallVector<Output> outputs;
  /// From values in the body to their copies.
  IRMapping exact;
  bool isKnown = true;
};
} // namespace

bool blockscale::buildOnIntervals(OpBuilder &builder, linalg::GenericOp op,
                                  IntervalMap &intervals,
                                  std::string &culprit) {
  return GenericBuilder(builder, op, intervals, culprit).build();
}
