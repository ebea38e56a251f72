//===- RaiseBlocks.cpp - Blocks of K that share a scale -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program does not state the block size: the matcher tries each legal size,
// and keeps the reason why none fits.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseBlocks.h"

#include "Raise/RaiseCoarse.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

/// The number of elements along K that read one scale, if it follows from the
/// index; else 0.
static int64_t getObservedBlock(const Contraction &contraction,
                                const Factor *scale) {
  if (!scale || scale->splat)
    return 0;
  SmallVector<AffineExpr> alongK;
  auto readsK = [&](AffineExpr expr) {
    return llvm::any_of(contraction.reductions, [&](unsigned loop) {
      return expr.isFunctionOfDim(loop);
    });
  };
  for (AffineExpr expr : scale->forms.back().index)
    if (readsK(expr))
      alongK.push_back(expr);
  unsigned first = contraction.reductions.front();
  unsigned last = contraction.reductions.back();
  auto getSize = [&](unsigned loop) {
    int64_t extent = contraction.loops.extents[loop];
    return ShapedType::isDynamic(extent) ? 0 : extent;
  };
  if (alongK.empty())
    return first == last ? getSize(first) : 0;
  if (alongK.size() != 1)
    return 0;
  if (auto loop = dyn_cast<AffineDimExpr>(alongK.front())) {
    if (first == last)
      return 1;
    return getSize(loop.getPosition() == first ? last : first);
  }
  auto division = dyn_cast<AffineBinaryOpExpr>(alongK.front());
  if (first != last || !division ||
      division.getKind() != AffineExprKind::FloorDiv ||
      !isa<AffineDimExpr>(division.getLHS()))
    return 0;
  auto divisor = dyn_cast<AffineConstantExpr>(division.getRHS());
  return divisor ? divisor.getValue() : 0;
}

namespace {

class BlockMatcher {
public:
  BlockMatcher(const Contraction &contraction, const SideFactors &x,
               const SideFactors &y, ArrayRef<unsigned> legalBlocks,
               Type scaleType, std::string &reason)
      : contraction(contraction), x(x), y(y), legalBlocks(legalBlocks),
        scaleType(scaleType), reason(reason) {}

  std::optional<RaiseMatch> run() {
    RaiseMatch match;
    match.acc = contraction.acc;
    bool isFound = tryBlockings([&](const Blocking &blocking) {
      match.block = blocking.size;
      return matchSide(Side::X, blocking, /*needsBatch=*/false, match.x) &&
             matchSide(Side::Y, blocking, /*needsBatch=*/false, match.y) &&
             matchBatch(blocking, match);
    });
    return isFound ? std::optional(std::move(match)) : std::nullopt;
  }

  /// Matches one side only, with K last.
  std::optional<RaisedSide> runAlone(Side side, bool hasBatch, int64_t &block) {
    isAlone = true;
    RaisedSide match;
    bool isFound = tryBlockings([&](const Blocking &blocking) {
      block = blocking.size;
      return matchSide(side, blocking, hasBatch, match);
    });
    return isFound ? std::optional(std::move(match)) : std::nullopt;
  }

  /// The same for a high-precision operand, which has no scales.
  std::optional<OperandForm> runHighPrecision(Side side, const Factor &dense,
                                              bool hasBatch) {
    OperandDims dims = {Side::X, /*isScale=*/false,
                        hasBatch ? contraction.accIndex.front() : AffineExpr(),
                        contraction.getRow(side)};
    bool isPartial = false;
    for (const Blocking &blocking : getBlockings())
      if (auto form = findOperandForm(dense, dims, blocking, isPartial))
        return form;
    return std::nullopt;
  }

private:
  const Contraction &contraction;
  const SideFactors &x;
  const SideFactors &y;
  ArrayRef<unsigned> legalBlocks;
  Type scaleType;
  std::string &reason;
  bool isAlone = false;

  const SideFactors &get(Side side) const { return side == Side::X ? x : y; }
  int64_t getExtent(unsigned loop) const {
    return contraction.loops.extents[loop];
  }

  //===--------------------------------------------------------------------===//
  // Ways to split K into blocks
  //===--------------------------------------------------------------------===//

  bool isKnownMultiple(unsigned loop, int64_t size) const {
    if (!ShapedType::isDynamic(getExtent(loop)))
      return getExtent(loop) % size == 0;
    return llvm::any_of(contraction.loops.divisors[loop],
                        [&](int64_t divisor) { return divisor % size == 0; });
  }

  SmallVector<Blocking> getBlockings() const {
    MLIRContext *context = contraction.acc.getContext();
    unsigned numLoops = contraction.loops.extents.size();
    Blocking whole;
    whole.extents = contraction.loops.extents;
    for (unsigned loop = 0; loop != numLoops; ++loop)
      whole.loops.push_back(getAffineDimExpr(loop, context));

    SmallVector<Blocking> result;
    unsigned first = contraction.reductions.front();
    unsigned last = contraction.reductions.back();
    if (first != last) {
      for (auto [outer, inner] :
           {std::pair(first, last), std::pair(last, first)}) {
        if (!llvm::is_contained(legalBlocks, getExtent(inner)))
          continue;
        Blocking &next = result.emplace_back(whole);
        next.size = getExtent(inner);
        next.outer = whole.loops[outer];
        next.inner = whole.loops[inner];
      }
      return result;
    }
    // Larger blocks come first, because they have fewer scales.
    for (int64_t size : llvm::reverse(legalBlocks)) {
      if (!isKnownMultiple(first, size))
        continue;
      int64_t k = getExtent(first);
      Blocking &next = result.emplace_back(whole);
      next.size = size;
      next.outer = getAffineDimExpr(numLoops, context);
      next.inner = getAffineDimExpr(numLoops + 1, context);
      next.loops[first] = next.outer * size + next.inner;
      next.extents.push_back(ShapedType::isDynamic(k) ? k : k / size);
      next.extents.push_back(size);
    }
    return result;
  }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  /// Whether `match` succeeds with one of the ways to split K.
  bool tryBlockings(function_ref<bool(const Blocking &)> match) {
    std::string mismatch;
    for (const Blocking &blocking : getBlockings()) {
      reason.clear();
      if (match(blocking))
        return true;
      if (mismatch.empty())
        mismatch = reason;
    }
    // A reason about the block size explains more than one about the first
    // operand that does not fit.
    reason.clear();
    if (checkObservedBlocks() && checkK())
      reason = mismatch;
    return false;
  }

  /// Matches with one of the ways to split K. Prefers operands that exist
  /// already, then those without a batch, unless `needsBatch`.
  bool matchSide(Side side, const Blocking &blocking, bool needsBatch,
                 RaisedSide &result) {
    const SideFactors &factors = get(side);
    FloatAttr splat =
        factors.scale ? factors.scale->splat : FloatAttr::get(scaleType, 1.0);
    bool hasElement = false, hasScale = false, isFound = false;
    bool isElementPartial = false, isScalePartial = false;
    for (bool hasBatch : {false, true}) {
      if (hasBatch ? contraction.getRank() == 2 : needsBatch)
        continue;
      if (isAlone && hasBatch != needsBatch)
        continue;
      AffineExpr batch = hasBatch ? contraction.accIndex[0] : AffineExpr();
      OperandDims dims = {isAlone ? Side::X : side, /*isScale=*/false, batch,
                          contraction.getRow(side)};
      std::optional<OperandForm> element =
          findOperandForm(*factors.element, dims, blocking, isElementPartial);
      std::optional<OperandForm> scale;
      dims.isScale = true;
      if (!splat)
        scale = findOperandForm(*factors.scale, dims, blocking, isScalePartial);
      hasElement |= element.has_value();
      hasScale |= scale || splat;
      if (!element || !(scale || splat))
        continue;
      bool isThere = element->isOperand() && (splat || scale->isOperand());
      if (!isFound || isThere)
        result = {*element, scale, splat};
      isFound = true;
      if (isThere)
        break;
    }
    if (isFound)
      return true;
    if (!hasElement)
      return failToRead(side, "", *factors.element, isElementPartial, "K");
    if (!hasScale)
      return failToRead(side, "_scale", *factors.scale, isScalePartial,
                        "blocks of " + Twine(blocking.size) + " of K");
    return isAlone
               ? fail(reason, "only one of elements and scales has the batch")
               : fail(reason, "only one of ", getName(side), " and ",
                      getName(side), "_scale has the batch");
  }

  bool failToRead(Side side, StringRef suffix, const Factor &factor,
                  bool isPartial, const Twine &expected) {
    const Access &form = factor.forms.back();
    StringRef row = side == Side::X ? "M" : "N";
    std::string name = (getName(side) + suffix).str();
    if (isAlone)
      name = suffix.empty() ? "a tensor of elements" : "a tensor of scales";
    Type type = form.value.getType();
    if (isPartial)
      return fail(reason, name, " of type ", type,
                  " is not known to have just the sizes of ", row, " and ",
                  expected.str());
    if (form.isAbsolute && suffix.empty())
      return fail(reason, name,
                  isAlone ? " has absolute values" : " is an absolute value");
    AffineMap map = AffineMap::get(contraction.loops.extents.size(), 0,
                                   form.index, type.getContext());
    return fail(reason, name, " of type ", type, " is read at ", map,
                ", expected ", row, " and ", expected.str());
  }

  /// One of x and y has the batch of the result.
  bool matchBatch(const Blocking &blocking, RaiseMatch &match) {
    if (contraction.getRank() == 2 || match.x.element.getOperandRank() == 3 ||
        match.y.element.getOperandRank() == 3 ||
        matchSide(Side::X, blocking, /*needsBatch=*/true, match.x))
      return true;
    reason.clear();
    return fail(reason, "neither x nor y has the batch of the result");
  }

  //===--------------------------------------------------------------------===//
  // Reasons
  //===--------------------------------------------------------------------===//

  bool checkObservedBlocks() {
    int64_t xBlock = getObservedBlock(contraction, x.scale);
    int64_t yBlock = getObservedBlock(contraction, y.scale);
    for (int64_t block : {xBlock, yBlock})
      if (block != 0 && !llvm::is_contained(legalBlocks, block))
        return fail(reason, "expected blocks of ",
                    llvm::interleaved(legalBlocks, " or "), " for ",
                    getElementTypes(), " with scales of type ", scaleType,
                    ", got ", block);
    if (xBlock != 0 && yBlock != 0 && xBlock != yBlock)
      return fail(reason, "expected blocks of one size, got ", xBlock,
                  " in x_scale and ", yBlock, " in y_scale");
    return true;
  }

  std::string getElementTypes() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    const Factor *first = x.element ? x.element : y.element;
    stream << first->getElementType();
    if (x.element && y.element)
      stream << " times " << y.element->getElementType();
    return text;
  }

  bool checkK() {
    int64_t observed =
        getObservedBlock(contraction, x.scale ? x.scale : y.scale);
    SmallVector<int64_t> sizes(legalBlocks);
    if (observed != 0)
      sizes = {observed};
    unsigned k = contraction.reductions.front();
    auto text = llvm::interleaved(sizes, " or ");
    if (contraction.reductions.size() == 2) {
      if (!getBlockings().empty())
        return true;
      return fail(reason, "expected one of the two loops along K to have size ",
                  text);
    }
    if (llvm::any_of(sizes,
                     [&](int64_t size) { return isKnownMultiple(k, size); }))
      return true;
    if (ShapedType::isDynamic(getExtent(k)))
      return fail(reason, "K is dynamic and not known to be a multiple of ",
                  text);
    return fail(reason, "expected K to be a multiple of ", text, ", got ",
                getExtent(k));
  }
};

} // namespace

std::optional<RaiseMatch>
blockscale::matchBlocks(const Contraction &contraction, const SideFactors &x,
                        const SideFactors &y, ArrayRef<unsigned> legalBlocks,
                        Type scaleType, std::string &reason) {
  return BlockMatcher(contraction, x, y, legalBlocks, scaleType, reason).run();
}

std::optional<RaisedSide>
blockscale::matchBlocksOfSide(const Contraction &contraction, Side side,
                              const SideFactors &factors, bool hasBatch,
                              ArrayRef<unsigned> legalBlocks, Type scaleType,
                              int64_t &block, std::string &reason) {
  SideFactors none;
  bool isX = side == Side::X;
  return BlockMatcher(contraction, isX ? factors : none, isX ? none : factors,
                      legalBlocks, scaleType, reason)
      .runAlone(side, hasBatch, block);
}

std::optional<OperandForm>
blockscale::matchRowsOfK(const Contraction &contraction, Side side,
                         const Factor &dense, bool hasBatch, int64_t block) {
  SideFactors none;
  std::string reason;
  unsigned legalBlocks[] = {static_cast<unsigned>(block)};
  return BlockMatcher(contraction, none, none, legalBlocks, Type(), reason)
      .runHighPrecision(side, dense, hasBatch);
}

IntegerAttr RaiseMatch::getBlockSize() const {
  return block == 0 ? nullptr
                    : Builder(acc.getContext()).getI64IntegerAttr(block);
}

ScaleBlockAttr RaiseMatch::getScaleBlock(Side side) const {
  const std::optional<ScaleBlock> &scaleBlock =
      side == Side::X ? x.block : y.block;
  return scaleBlock ? ScaleBlockAttr::get(acc.getContext(), *scaleBlock)
                    : nullptr;
}

Value blockscale::createScales(OpBuilder &builder, Location loc,
                               const RaisedSide &operand, Value matrix,
                               Side side, int64_t block) {
  if (operand.scale)
    return createOperand(builder, loc, *operand.scale);
  if (operand.block)
    return createScaleOfAll(builder, loc, operand, matrix);
  return createSplatScales(builder, loc, matrix, side, block,
                           operand.splatScale);
}
