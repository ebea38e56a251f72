//===- DequantizeEmitter.cpp - Products of dequantized operands -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The product of the path dequant_mma: operands are dequantized to bf16 in
// registers and multiplied by mma.sync. This is exact if all dequantized values
// are normal or zero (a tensor core takes a subnormal for a larger value, and
// drops bits of others), which the scales can prove. Otherwise, or if an
// element is infinite or NaN, elements are multiplied without scales, and the
// sums of each block are scaled in f32.
//
// With mixed input (x has bf16 or f16 values), y has the values of
// `dequantize`. If these are not exact in bf16, each element is rounded on its
// own: always for f16, and with a tensor scale.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/DequantizeEmitter.h"

#include "Fragments/PairMultiply.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// The operand of tile `m`, from the pairs of all groups.
static SmallVector<Value> getFragmentA(ArrayRef<Pairs> pairs, unsigned m) {
  const Pairs &upper = pairs[m * kGroupsOfA],
              &lower = pairs[m * kGroupsOfA + 1];
  return {upper[0], lower[0], upper[1], lower[1]};
}

SmallVector<Value> DequantizeEmitter::multiply(ArrayRef<Value> a,
                                               ArrayRef<Value> b,
                                               ValueRange c) const {
  return multiplyPairs(emit.b, emit.loc, rounding.type, a, b, c);
}

//===----------------------------------------------------------------------===//
// Dequantized operands
//===----------------------------------------------------------------------===//

namespace {
/// Dequantizes one operand, step by step; with `rounding`, it rounds each
/// element on its own.
class DequantizedPairs {
public:
  DequantizedPairs(const DequantizedOperand &operand, const Rounding *rounding)
      : operand(operand), rounding(rounding), elements(operand.makePairs()) {}

  /// The pairs of all groups, for each instruction of a step.
  std::array<SmallVector<Pairs>, kInstructionsPerStep> dequantize(Step step) {
    const std::optional<DequantizeScales> &scales = operand.scales;
    if (scales && !scales->hasWordOfStepBefore(step.number))
      words = scales->getRowWords(step, operand.groups);
    elements->load(step);
    std::array<SmallVector<Pairs>, kInstructionsPerStep> pairs;
    for (unsigned group = 0; group != operand.groups; ++group) {
      Value factor;
      if (scales)
        factor = rounding ? scales->getRealFactor(step, words[group])
                          : scales->getFactor(step, words[group]);
      for (unsigned i = 0; i != kInstructionsPerStep; ++i) {
        Pairs shifted = elements->getPairs(group, i);
        if (scales)
          shifted = rounding ? scales->round(shifted, factor, *rounding)
                             : scales->scale(shifted, factor);
        pairs[i].push_back(shifted);
      }
    }
    return pairs;
  }

private:
  const DequantizedOperand &operand;
  const Rounding *rounding;
  ElementPairsPtr elements;
  SmallVector<Value> words;
};
} // namespace

void DequantizeEmitter::emitExact(Sums &sums) {
  if (granularity)
    return emitSparsePairs(sums);
  emitPairs(sums, /*rounding=*/nullptr);
}

void DequantizeEmitter::emitPairs(Sums &sums, const Rounding *rounding) {
  DequantizedPairs xPairs(x, rounding), yPairs(y, rounding);
  unsigned pieces = scan ? scan->getNumPieces() : 0, scanned = 0;
  for (int64_t number = 0; number != steps; ++number) {
    auto a = xPairs.dequantize({number, {}}),
         b = yPairs.dequantize({number, {}});
    for (unsigned i = 0; i != kInstructionsPerStep; ++i) {
      for (unsigned n = 0; n != y.groups; ++n) {
        for (unsigned m = 0; m != x.groups / kGroupsOfA; ++m)
          addProduct(sums, m, n, getFragmentA(a[i], m), b[i][n]);
        // The scan overlaps with the multiplication.
        if (scanned != pieces)
          scan->emitPiece(scanned++);
      }
    }
  }
  while (scanned != pieces)
    scan->emitPiece(scanned++);
}

void DequantizeEmitter::addProduct(Sums &sums, unsigned m, unsigned n,
                                   ArrayRef<Value> a, ArrayRef<Value> b) {
  SmallVector<int64_t, 4> at = getTileElements(tile, m, n);
  SmallVector<Value> c;
  for (int64_t element : at)
    c.push_back(sums[element]);
  for (auto [element, sum] : llvm::zip_equal(at, multiply(a, b, c)))
    sums[element] = sum;
}

//===----------------------------------------------------------------------===//
// Scaled sums of blocks
//===----------------------------------------------------------------------===//

void DequantizeEmitter::forEachStep(SmallVector<Value> &values,
                                    bool takesValues,
                                    function_ref<void(const Step &)> body) {
  int64_t count = steps / getPartsOfStep();
  if (!takesValues) {
    for (int64_t number = 0; number != count; ++number)
      body({number, {}});
    return;
  }
  OpBuilder &b = emit.b;
  Value first = emit.index(0), last = emit.index(count), one = emit.index(1);
  auto loop = scf::ForOp::create(b, emit.loc, first, last, one, values);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  values.assign(loop.getRegionIterArgs().begin(),
                loop.getRegionIterArgs().end());
  body({0, loop.getInductionVar()});
  scf::YieldOp::create(b, emit.loc, values);
  values.assign(loop.getResults().begin(), loop.getResults().end());
}

void DequantizeEmitter::emitScaledSums(Sums &sums) {
  if (granularity)
    return emitSparseScaledSums(sums);
  auto emitStep = x.scales ? &DequantizeEmitter::emitScaledStep
                           : &DequantizeEmitter::emitRoundedStep;
  ElementPairsPtr xElements = x.makePairs(), yElements = y.makePairs();
  forEachStep(sums, xElements->takesValues() && yElements->takesValues(),
              [&](const Step &step) {
                xElements->load(step);
                yElements->load(step);
                (this->*emitStep)(sums, step, *xElements, *yElements);
              });
}

/// Adds the products of high-precision x and of elements of y that are rounded
/// on their own.
void DequantizeEmitter::emitRoundedStep(Sums &sums, const Step &step,
                                        ElementPairs &xElements,
                                        ElementPairs &yElements) {
  std::array<SmallVector<Pairs>, kInstructionsPerStep> a;
  for (unsigned group = 0; group != x.groups; ++group)
    for (unsigned i = 0; i != kInstructionsPerStep; ++i)
      a[i].push_back(xElements.getPairs(group, i));
  Value zero = emit.number(0);
  SmallVector<Value> words = y.scales->getRowWords(step, y.groups);
  for (unsigned n = 0; n != y.groups; ++n) {
    Value factor = y.scales->getRealFactor(step, words[n]);
    SmallVector<Pairs> b;
    for (unsigned i = 0; i != kInstructionsPerStep; ++i)
      b.push_back(y.scales->round(yElements.getPairs(n, i), factor, rounding));
    for (unsigned m = 0; m != x.groups / kGroupsOfA; ++m) {
      SmallVector<Value> products(4, zero);
      for (unsigned i = 0; i != kInstructionsPerStep; ++i)
        products = multiply(getFragmentA(a[i], m), b[i], products);
      for (auto [product, element] :
           llvm::zip_equal(products, getTileElements(tile, m, n)))
        addValue(sums, element, product);
    }
  }
}

void DequantizeEmitter::emitScaledStep(Sums &sums, const Step &step,
                                       ElementPairs &xElements,
                                       ElementPairs &yElements) {
  using Both = std::array<SmallVector<Pairs>, kInstructionsPerStep>;
  auto unscale = [](const DequantizedOperand &operand, ElementPairs &elements) {
    Both pairs;
    for (unsigned group = 0; group != operand.groups; ++group)
      for (unsigned i = 0; i != kInstructionsPerStep; ++i)
        pairs[i].push_back(
            operand.scales->unscale(elements.getPairs(group, i)));
    return pairs;
  };
  Both a = unscale(x, xElements), b = unscale(y, yElements);
  Value zero = emit.number(0);
  SmallVector<Value> xWords = x.scales->getRowWords(step, x.groups);
  SmallVector<Value> yWords = y.scales->getRowWords(step, y.groups);
  unsigned blocks = x.scales->getNumBlocks();
  for (unsigned block = 0; block != blocks; ++block) {
    Both ofBlock = a;
    if (blocks != 1)
      for (SmallVector<Pairs> &ofInstruction : ofBlock)
        for (Pairs &pairs : ofInstruction)
          pairs = keepBlock(pairs, block);
    SmallVector<Value> xScales;
    for (unsigned group = 0; group != x.groups; ++group)
      xScales.push_back(x.scales->prepare(
          x.scales->getCode(step, block, xWords[group], std::nullopt)));
    for (unsigned n = 0; n != y.groups; ++n) {
      SmallVector<Value> yScales;
      for (unsigned column : {0, 1})
        yScales.push_back(y.scales->prepare(
            y.scales->getCode(step, block, yWords[n], column)));
      for (unsigned m = 0; m != x.groups / kGroupsOfA; ++m) {
        SmallVector<Value> products(4, zero);
        for (unsigned i = 0; i != kInstructionsPerStep; ++i)
          products = multiply(getFragmentA(ofBlock[i], m), b[i][n], products);
        addScaled(sums, m, n, products,
                  ArrayRef(xScales).slice(m * kGroupsOfA, kGroupsOfA), yScales);
      }
    }
  }
}

/// The pairs of packed elements, if the lane has those of `block`; else zeros.
Pairs DequantizeEmitter::keepBlock(const Pairs &pairs, unsigned block) const {
  Value half = emit.bitAnd(emit.shiftRight(emit.toWord(lane), 1), 1);
  Value isKept = emit.isEqual(half, block);
  Pairs kept;
  for (auto [from, to] : llvm::zip_equal(pairs, kept))
    to = emit.select(isKept, from, emit.integer(0));
  return kept;
}

/// Adds `products` times the scales of the lane's rows and columns of tile
/// (`m`, `n`).
void DequantizeEmitter::addScaled(Sums &sums, unsigned m, unsigned n,
                                  ValueRange products, ArrayRef<Value> xScales,
                                  ArrayRef<Value> yScales) {
  for (auto [i, element] : llvm::enumerate(getTileElements(tile, m, n))) {
    Value value = products[i];
    for (Value factor : x.scales->getFactors(xScales[i / 2], yScales[i % 2]))
      value = emit.mul(value, factor);
    addValue(sums, element, value);
  }
}

void DequantizeEmitter::addValue(Sums &sums, int64_t element, Value value) {
  if (leftOut)
    value = dropFinite(value);
  sums[element] = emit.add(sums[element], value);
}

/// `value` minus its part in [-leftOut, leftOut]: with the largest f32, only
/// infinities and NaN remain.
Value DequantizeEmitter::dropFinite(Value value) {
  OpBuilder &b = emit.b;
  Value least = emit.neg(leftOut);
  // Not arith.maxnumf and arith.minnumf, which are lowered to comparisons.
  Value part = LLVM::MaxNumOp::create(b, emit.loc, value, least);
  part = LLVM::MinNumOp::create(b, emit.loc, part, leftOut);
  return emit.sub(value, part);
}

//===----------------------------------------------------------------------===//
// Choice of the exact or the scaled product
//===----------------------------------------------------------------------===//

/// Whether any element of `operand` with a scale of 0 is inexact. Blocks of
/// zeros, such as those beyond the ends of operands, are exact.
Value DequantizeEmitter::emitIsInexact(const DequantizedOperand &operand) {
  ElementPairsPtr elements = operand.makePairs();
  SmallVector<Value> found = {emit.flag(false)};
  // A step of a sparse A has the elements of one of 16 along K in each part.
  unsigned parts = getPartsOfStep();
  unsigned instructions =
      granularity && &operand == &x ? 1 : kInstructionsPerStep;
  forEachStep(found, elements->takesValues(), [&](const Step &step) {
    elements->load(step);
    for (unsigned part = 0; part != parts; ++part) {
      Step ofPart = parts == 1 ? step : step.getPart(emit, part, parts);
      SmallVector<Value> words =
          operand.scales->getRowWords(ofPart, operand.groups);
      for (auto [group, word] : llvm::enumerate(words))
        for (unsigned i = 0; i != instructions; ++i)
          found[0] = emit.bitOr(
              found[0],
              operand.scales->isInexact(
                  ofPart, word,
                  elements->getPairs(group, part * instructions + i)));
    }
  });
  return emit.vote(NVVM::VoteSyncKind::any, found[0]);
}

/// Whether the warp's dequantized elements of `operand` are exact in bf16.
/// Usually the scales are enough to decide.
Value DequantizeEmitter::emitIsExact(const DequantizedOperand &operand) {
  OpBuilder &b = emit.b;
  Value areInside =
      emit.vote(NVVM::VoteSyncKind::all, operand.scales->areExact());
  if (operand.scales->isZeroExact())
    return areInside;
  auto ifInside = scf::IfOp::create(b, emit.loc, b.getI1Type(), areInside,
                                    /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifInside.thenBlock());
  scf::YieldOp::create(b, emit.loc, emit.flag(true));
  b.setInsertionPointToStart(ifInside.elseBlock());
  Value areAtMostZero =
      emit.vote(NVVM::VoteSyncKind::all, operand.scales->areExactOrZero());
  Value isKept = emit.negate(emitIsInexact(operand));
  scf::YieldOp::create(b, emit.loc, emit.bitAnd(areAtMostZero, isKept));
  return ifInside.getResult(0);
}

/// Returns `elements` plus the product: of the dequantized elements if they are
/// exact; if they are not, or if some are infinite or NaN, of the elements
/// without scales.
SmallVector<Value> DequantizeEmitter::emitProduct(ValueRange elements) {
  OpBuilder &b = emit.b;
  OpBuilder::InsertionGuard guard(b);
  bool isMixedInput = !x.scales;
  if (isMixedInput && (rounding.tensorScale || !rounding.type.isBF16())) {
    // Rounding keeps infinities and NaN, so no scan is needed.
    scan = nullptr;
    Sums results(elements);
    emitPairs(results, &rounding);
    return results;
  }
  Value isExactX = isMixedInput ? Value() : emitIsExact(x);
  Value isExact = emitIsExact(y);
  if (isExactX)
    isExact = emit.bitAnd(isExactX, isExact);
  SmallVector<Type> types(elements.getTypes());
  if (scan)
    types.push_back(b.getI1Type());
  auto ifExact = scf::IfOp::create(b, emit.loc, types, isExact,
                                   /*withElseRegion=*/true);
  for (Block *block : {ifExact.thenBlock(), ifExact.elseBlock()}) {
    b.setInsertionPointToStart(block);
    Sums results(elements);
    if (scan)
      scan->begin();
    if (block == ifExact.thenBlock())
      emitExact(results);
    else if (scan)
      for (unsigned i = 0; i != scan->getNumPieces(); ++i)
        scan->emitPiece(i);
    if (scan)
      results.push_back(scan->isFound());
    scf::YieldOp::create(b, emit.loc, results);
  }
  b.setInsertionPointAfter(ifExact);
  Sums sums(ifExact.getResults().take_front(elements.size()));
  Value isScaled = emit.negate(isExact);
  if (scan) {
    Value isAny = scan->isFoundByAny(ifExact.getResults().back());
    isScaled = emit.bitOr(isScaled, isAny);
    Value all = emit.number(std::numeric_limits<float>::max());
    Value none = emit.number(0);
    leftOut = emit.select(isExact, all, none);
  }
  auto ifScaled = scf::IfOp::create(b, emit.loc, elements.getTypes(), isScaled,
                                    /*withElseRegion=*/true);
  b.setInsertionPointToStart(ifScaled.elseBlock());
  scf::YieldOp::create(b, emit.loc, sums);
  b.setInsertionPointToStart(ifScaled.thenBlock());
  emitScaledSums(sums);
  scf::YieldOp::create(b, emit.loc, sums);
  return ifScaled.getResults();
}
