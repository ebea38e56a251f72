//===- MatchRowGroups.cpp - Rows that name their groups -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The number of a group that a body reads stands for one more loop. With it, y
// has a batch, and x has none: the operands of a block-scaled product are found
// as those of `mma_scaled` are.
//
//===----------------------------------------------------------------------===//

#include "Raise/MatchRowGroups.h"

#include "Raise/GroupBounds.h"
#include "Raise/GroupSlices.h"
#include "Raise/RaiseEpilogue.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/IR/Routing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static Value stripExtension(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension ? extension.getIn() : value;
}

/// The loop whose index `value` is; nullopt if it is none.
static std::optional<unsigned> getLoop(Value value) {
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index ? std::optional<unsigned>(index.getDim()) : std::nullopt;
}

/// The operand of `op` that `value`, in its body, is an element of; null if it
/// is none.
static OpOperand *getOperand(linalg::GenericOp op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == op.getBody()
             ? op.getMatchingOpOperand(argument)
             : nullptr;
}

/// The number by which `read` chooses the matrix that it reads an element of;
/// null if that is no element of an operand of `op`.
static Value getNumber(linalg::GenericOp op, tensor::ExtractOp read) {
  if (read.getIndices().size() != 3 ||
      op.getRegion().isAncestor(read.getTensor().getParentRegion()))
    return {};
  Value number = stripIndexCasts(read.getIndices().front());
  return getOperand(op, number) ? number : Value();
}

namespace {
class RowGroupsMatcher {
public:
  RowGroupsMatcher(linalg::GenericOp op, const RaiseOptions &options,
                   RowGroups &match, std::string &reason)
      : op(op), options(options), match(match), reason(reason) {}

  bool run() {
    std::optional<Contraction> contraction = describeContraction(op);
    if (!contraction || !contraction->problem.empty())
      return false;
    auto product =
        contraction->inputs.front().value.getDefiningOp<arith::MulFOp>();
    if (!product || !findRead())
      return false;
    match.acc = op.getDpsInits().front();
    return findRows() && checkRows() &&
           (match.isScaled ? matchScaled(*contraction) : matchMatmul(product));
  }

private:
  linalg::GenericOp op;
  const RaiseOptions &options;
  RowGroups &match;
  std::string &reason;
  /// A read of y, or of its scales.
  tensor::ExtractOp read;
  Value number;
  /// The loops over rows, and over N.
  SmallVector<unsigned> rows;
  unsigned n = 0;

  AffineMap map(ArrayRef<unsigned> loops) {
    return AffineMap::getMultiDimMapWithTargets(op.getNumLoops(), loops,
                                                op.getContext());
  }

  bool findRead() {
    for (auto extract : op.getBody()->getOps<tensor::ExtractOp>()) {
      Value chosen = getNumber(op, extract);
      if (!chosen)
        continue;
      bool isNarrow = isNarrowFloat(extract.getTensor().getType());
      if (read && !isNarrow)
        continue;
      // Elements and scales are read; the latter may be of f32.
      read = extract;
      number = chosen;
      match.isScaled = isNarrow;
      if (isNarrow)
        break;
    }
    if (!read)
      return false;
    match.ids = getOperand(op, number)->get();
    return true;
  }

  /// The result is rows by N, and each row has a number.
  bool findRows() {
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    for (AffineExpr loop : result.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(loop))
        rows.push_back(dim.getPosition());
    if (rows.size() < 2 || rows.size() > 3 || result != map(rows) ||
        rows.size() != op.getNumParallelLoops())
      return fail(reason,
                  "expected a result of one or two dimensions for rows, "
                  "and N, got one that is written at ",
                  result);
    n = rows.pop_back_val();
    match.haveSlots = rows.size() == 2;
    AffineMap ids = op.getMatchingIndexingMap(getOperand(op, number));
    return ids == map(rows) ||
           fail(reason,
                "expected one number of a group for each row, got one "
                "that is read at ",
                ids);
  }

  bool checkRows() {
    if (!checkTensors({match.ids, match.acc, read.getTensor()}))
      return false;
    Type sum = getElementTypeOrSelf(match.acc);
    if (!sum.isF32())
      return fail(reason, "it accumulates in ", sum, ", expected f32");
    RankedTensorType ids = getType(match.ids);
    if (!ids.getElementType().isInteger(32) &&
        !ids.getElementType().isInteger(64))
      return fail(reason, "expected numbers of groups of type i32 or i64, got ",
                  ids.getElementType());
    // (O6)
    if (ids.hasStaticShape() && !llvm::isInt<32>(ids.getNumElements()))
      return fail(reason, "expected fewer than 2^31 rows, got ",
                  ids.getNumElements());
    match.numGroups = getType(read.getTensor()).getDimSize(0);
    if (match.numGroups < 1 || match.numGroups > SortRoutesOp::kMostGroups)
      return fail(reason, "expected from 1 to ", SortRoutesOp::kMostGroups,
                  " groups, got y of type ", read.getTensor().getType());
    return isZeros(match.acc) ||
           fail(reason, "expected an accumulator of zeros");
  }

  /// (P1) and (P5)
  bool checkTensors(ArrayRef<Value> tensors) {
    for (Value tensor : tensors) {
      auto type = dyn_cast<RankedTensorType>(tensor.getType());
      if (!type || type.getEncoding())
        return fail(reason, "expected tensors without encoding, got ",
                    tensor.getType());
      if (llvm::is_contained(type.getShape().drop_front(), 0))
        return fail(reason, "expected sizes of at least 1, got ", type);
    }
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Block-scaled operands
  //===--------------------------------------------------------------------===//

  bool matchScaled(Contraction &contraction) {
    if (match.haveSlots)
      return fail(reason, "expected one dimension for block-scaled rows, got "
                          "two");
    unsigned numLoops = contraction.loops.extents.size();
    AffineExpr group = getAffineDimExpr(numLoops, op.getContext());
    contraction.loops.extents.push_back(match.numGroups);
    contraction.loops.divisors.emplace_back();
    contraction.loops.named = number;
    contraction.loops.namedLoop = group;
    contraction.accIndex.insert(contraction.accIndex.begin(), group);
    match.scaled = matchMmaScaled(contraction, options, reason);
    if (!match.scaled)
      return !reason.empty() ? false
                             : fail(reason, "expected scales of blocks");
    // One of both has the batch.
    if (match.scaled->x.element.getOperandRank() != 2)
      return fail(reason, "expected only y to be chosen by numbers of groups");
    // (P10)
    ScaleBlockAttr block = match.scaled->getScaleBlock(MmaScaledOp::Side::X);
    if (block && block.getRows() != 1 && block.getRows() != ScaleBlock::kAll)
      return fail(reason,
                  "rows are in any order, so expected scales of x for one row, "
                  "or for all, got ",
                  stringifyScaleBlock(block.getBlock()));
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Operands without scales
  //===--------------------------------------------------------------------===//

  bool matchMatmul(arith::MulFOp product) {
    Value x = stripExtension(product.getLhs()),
          y = stripExtension(product.getRhs());
    if (x == read.getResult())
      std::swap(x, y);
    OpOperand *operand = getOperand(op, x);
    if (y != read.getResult() || !operand)
      return fail(reason, "expected the product of an element of x and one of "
                          "y, each extended at most");
    match.x = operand->get();
    match.y = read.getTensor();
    return findDims(*operand) && checkTensors(match.x) && checkTypes() &&
           checkSizes();
  }

  /// y is read at K and N, in one of both orders, and x at rows and K.
  bool findDims(OpOperand &operandOfX) {
    SmallVector<unsigned> reductions;
    op.getReductionDims(reductions);
    unsigned k = reductions.front();
    std::optional<unsigned> first = getLoop(read.getIndices()[1]),
                            second = getLoop(read.getIndices()[2]);
    match.isYTransposed = first == n && second == k;
    if (reductions.size() != 1 ||
        (!match.isYTransposed && (first != k || second != n)))
      return fail(reason, "expected y to be read at K and N");
    AffineMap x = op.getMatchingIndexingMap(&operandOfX);
    SmallVector<unsigned> all = rows;
    all.push_back(k);
    match.hasXSlots = match.haveSlots && x == map(all);
    return x == map(all) || x == map({rows.front(), k}) ||
           fail(reason, "expected x to be read at rows and K, got ", x);
  }

  bool checkTypes() {
    Type x = getElementTypeOrSelf(match.x), y = getElementTypeOrSelf(match.y);
    return (x == y && isa<BFloat16Type, Float16Type>(x)) ||
           fail(reason, "expected x and y of bf16 or of f16, got ", x, " and ",
                y);
  }

  /// All of y is read.
  bool checkSizes() {
    int64_t k = match.isYTransposed ? 2 : 1;
    return (haveOneSize(match.y, k, match.x, getType(match.x).getRank() - 1) &&
            haveOneSize(match.y, 3 - k, match.acc,
                        getType(match.acc).getRank() - 1)) ||
           fail(reason, "expected y to have the K of x, ", match.x.getType(),
                ", and the N of the result, ", match.acc.getType(), ", got ",
                match.y.getType());
  }
};
} // namespace

StringRef RowGroups::getTarget() const {
  return isScaled ? GroupedMmaScaledOp::getOperationName()
                  : GroupedMatmulOp::getOperationName();
}

bool blockscale::matchRowGroups(linalg::GenericOp op,
                                const RaiseOptions &options, RowGroups &match,
                                std::string &reason) {
  return RowGroupsMatcher(op, options, match, reason).run();
}
