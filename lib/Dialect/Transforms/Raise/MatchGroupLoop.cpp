//===- MatchGroupLoop.cpp - Loops over groups of rows ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each tensor that the loop carries is the result of a grouped product of its
// own. Rows of no group keep what the loop starts with, as those of the op keep
// the accumulator. So this must be the accumulator of all rows: the product
// adds to the rows that the loop carries, or starts with zeros, as the loop
// does.
//
// Ends that descend or are beyond the rows make slices of negative sizes or out
// of bounds, which have no meaning upstream. So that the op takes them for an
// error is no difference.
//
//===----------------------------------------------------------------------===//

#include "Raise/MatchGroupLoop.h"

#include "Raise/RaiseEpilogue.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The conversion to a narrower type that makes `value` of each element of a
/// tensor, which is set; null if it is made in another way.
static arith::TruncFOp getTruncation(Value value, Value &source) {
  if (auto truncation = value.getDefiningOp<arith::TruncFOp>()) {
    source = truncation.getIn();
    return truncation;
  }
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      !op.isAllParallelLoops() ||
      !llvm::hasSingleElement(op.getBody()->without_terminator()) ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  auto truncation = op.getBody()
                        ->getTerminator()
                        ->getOperand(0)
                        .getDefiningOp<arith::TruncFOp>();
  if (!truncation || truncation->getBlock() != op.getBody() ||
      truncation.getIn() != op.getBody()->getArgument(0))
    return {};
  source = op.getDpsInputs().front();
  return truncation;
}

/// What makes `value`, for a remark.
static std::string describeProducer(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? "'" + op->getName().getStringRef().str() + "'" : "an argument";
}

namespace {
class LoopMatcher {
public:
  LoopMatcher(scf::ForOp loop, std::string &reason)
      : loop(loop), reason(reason) {}

  SmallVector<std::optional<GroupedResult>> run() {
    SmallVector<std::optional<GroupedResult>> results;
    if (!checkLoop())
      return {};
    for (OpResult result : loop->getResults()) {
      if (result.getType().isIntOrIndex()) {
        if (!result.use_empty()) {
          fail(reason, "expected no use of the last end behind the loop");
          return {};
        }
        results.push_back(std::nullopt);
        continue;
      }
      results.push_back(matchResult(result));
      if (!results.back())
        return {};
    }
    return results;
  }

private:
  scf::ForOp loop;
  std::string &reason;

  bool checkLoop() {
    if (!isConstantIntValue(loop.getLowerBound(), 0) ||
        !isConstantIntValue(loop.getStep(), 1))
      return fail(
          reason,
          "expected a loop from 0 on in steps of 1, one for each group");
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isMemoryEffectFree(&op))
        return fail(reason, "expected a loop without side effects, got '",
                    op.getName().getStringRef(), "'");
    return true;
  }

  std::optional<GroupedResult> matchResult(OpResult result) {
    BlockArgument carried = loop.getTiedLoopRegionIterArg(result);
    Value yielded = loop.getTiedLoopYieldedValue(carried)->get();
    auto insert = yielded.getDefiningOp<tensor::InsertSliceOp>();
    if (!insert || insert.getDest() != carried ||
        insert.getSourceType().getRank() != 2 ||
        insert.getDestType().getRank() != 2) {
      fail(reason,
           "expected each step to insert rows into the tensor of rank 2 "
           "that the loop carries");
      return std::nullopt;
    }
    std::optional<GroupBounds> bounds =
        GroupBounds::find(loop, insert.getMixedSizes().front());
    if (!bounds || !GroupSlices(loop, *bounds).areRows(insert, carried)) {
      fail(reason, "expected rows from the end of the group before, or 0, to "
                   "the end of the group, both of one tensor of ends");
      return std::nullopt;
    }
    return matchInserted(insert.getSource(), carried, *bounds);
  }

  std::optional<GroupedResult>
  matchInserted(Value inserted, BlockArgument carried, GroupBounds bounds) {
    Value sum = inserted;
    arith::TruncFOp truncation = getTruncation(inserted, sum);
    Operation *op = sum.getDefiningOp();
    std::optional<GroupProduct> product =
        op ? describeGroupProduct(op) : std::nullopt;
    if (!product) {
      fail(reason,
           "expected the rows of a product, perhaps truncated, to be "
           "inserted, got ",
           describeProducer(sum));
      return std::nullopt;
    }
    GroupedResult result = {*product,
                            GroupSlices(loop, bounds),
                            bounds.getEnds(),
                            loop.getTiedLoopInit(carried)->get(),
                            truncation,
                            /*needsZeros=*/false};
    if (!checkTypes(result) || !checkOperands(result) ||
        !checkStart(result, carried))
      return std::nullopt;
    return result;
  }

  bool checkTypes(const GroupedResult &result) {
    const GroupProduct &product = result.product;
    Type type = getElementTypeOrSelf(product.acc);
    if (!type.isF32())
      return fail(reason, "it accumulates in ", type, ", expected f32");
    Type x = getElementTypeOrSelf(product.x),
         y = getElementTypeOrSelf(product.y);
    if (!product.xScale && x != y)
      return fail(reason, "expected x and y of one type, got ", x, " and ", y);
    // (P10)
    if (product.xBlock && product.xBlock.getRows() != 1 &&
        product.xBlock.getRows() != ScaleBlock::kAll)
      return fail(reason,
                  "groups start at any row, so expected scales of x for one "
                  "row, or for all, got ",
                  stringifyScaleBlock(product.xBlock.getBlock()));
    auto ends = cast<RankedTensorType>(result.offsets.getType());
    return ends.getElementType().isInteger(32) ||
           fail(reason, "expected ends of type i32, got ",
                ends.getElementType());
  }

  /// Operands are slices, and whole ones are such as the op takes.
  bool checkOperands(const GroupedResult &result) {
    static constexpr std::pair<SliceKind, StringRef> kExpected[] = {
        {SliceKind::Rows, "x and its scales to be the rows of the group"},
        {SliceKind::Matrix, "y and its scales to be the matrices of the group"},
        {SliceKind::Common,
         "scales of x for all rows to be the same for all groups"},
    };
    if (!loop.isDefinedOutsideOfLoop(result.offsets))
      return fail(reason, "expected ends from outside of the loop");
    if (!checkGroups(result.offsets) || !checkEncoding(result.init))
      return false;
    for (auto [kind, expected] : kExpected)
      for (Value operand : result.product.getOperands(kind)) {
        SmallVector<Value> sources = result.slices.getSources(operand, kind);
        if (sources.empty())
          return fail(reason, "expected ", expected, ", got ",
                      describeProducer(operand));
        for (Value source : sources)
          if (!checkEncoding(source) ||
              (kind == SliceKind::Rows && !checkRows(source, result.init)) ||
              (kind == SliceKind::Matrix && !checkGroups(source)))
            return false;
      }
    return true;
  }

  bool checkEncoding(Value tensor) {
    return !cast<RankedTensorType>(tensor.getType()).getEncoding() ||
           fail(reason, "expected tensors without encoding, got ",
                tensor.getType());
  }

  /// There is a step for each element of `tensor`, one at least.
  bool checkGroups(Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.getDimSize(0) == 0)
      return fail(reason, "expected at least one group, got ", type);
    return isSizeOf(getAsOpFoldResult(loop.getUpperBound()), tensor, 0) ||
           fail(reason, "expected one step for each group of ", type);
  }

  bool checkRows(Value tensor, Value init) {
    return haveOneSize(tensor, 0, init, 0) ||
           fail(reason, "expected a result with the rows of ", tensor.getType(),
                ", got ", init.getType());
  }

  bool checkStart(GroupedResult &result, BlockArgument carried) {
    Value acc = result.product.acc, init = result.init;
    auto slice = acc.getDefiningOp<tensor::ExtractSliceOp>();
    if (slice && slice.getSource() == carried &&
        result.slices.areRows(slice, carried) && !result.truncation)
      return true;
    if (!isZeros(acc))
      return fail(reason,
                  "expected a product that starts with zeros or adds to "
                  "the rows that the loop carries");
    // Rows of a new tensor that nobody writes may be anything.
    if (!isZeros(init) && !init.getDefiningOp<tensor::EmptyOp>())
      return fail(reason, "products start with zeros, so expected the loop to "
                          "start with zeros, for rows of no group");
    result.needsZeros = result.truncation || !isZeros(init);
    return true;
  }
};
} // namespace

std::optional<GroupProduct> blockscale::findGroupProduct(scf::ForOp loop) {
  if (llvm::none_of(loop.getYieldedValues(), [](Value value) {
        return value.getDefiningOp<tensor::InsertSliceOp>() != nullptr;
      }))
    return std::nullopt;
  for (Operation &op : loop.getBody()->without_terminator()) {
    std::optional<GroupProduct> product = describeGroupProduct(&op);
    if (product && llvm::any_of(product->getOperands(SliceKind::Matrix),
                                [&](Value operand) {
                                  return isMatrixOfGroup(loop, operand);
                                }))
      return product;
  }
  return std::nullopt;
}

SmallVector<std::optional<GroupedResult>>
blockscale::matchGroupLoop(scf::ForOp loop, std::string &reason) {
  return LoopMatcher(loop, reason).run();
}
