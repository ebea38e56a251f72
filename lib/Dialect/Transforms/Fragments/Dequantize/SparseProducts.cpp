//===- SparseProducts.cpp - Dequantized products of a sparse A ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of kept elements by mma.sp of bf16. A step is 64 logical elements
// along K, in two parts of 32: 16 kept elements of A and 32 of B each. It takes
// two instructions.
//
// Where elements are kept, each instruction multiplies one part. Where pairs
// are kept, the fields are not those of single elements; but if one instruction
// multiplies the even elements of both parts, and the other the odd ones, they
// are those of both.
//
// What is not kept reaches no sum, even if it is NaN or infinite.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/DequantizeEmitter.h"

#include "Fragments/PairMultiply.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Parts of a step, and instructions for it.
static constexpr unsigned kParts = 2;
/// The pairs of B in a part: those of two times 16 elements.
static constexpr unsigned kPairsOfB = 2;

/// The pairs of one operand in a step. For each part and group: one of A, two
/// of B.
struct DequantizeEmitter::SparsePairs {
  std::array<SmallVector<SmallVector<Pairs, kPairsOfB>>, kParts> ofParts;
};

/// One operand, step by step.
class DequantizeEmitter::SparseOperands {
public:
  SparseOperands(const WordEmitter &emit, const DequantizedOperand &operand,
                 bool isA)
      : emit(emit), operand(operand), scales(*operand.scales), isA(isA),
        elements(operand.makePairs()) {}

  bool takesValues() const { return elements->takesValues(); }

  /// `part` of `step`, 32 logical elements.
  Step getPart(const Step &step, unsigned part) const {
    return step.getPart(emit, part, kParts);
  }

  void load(const Step &step) { elements->load(step); }

  /// The words of scales of a part, one for each group.
  ArrayRef<Value> loadWords(const Step &part) {
    if (part.value || words.empty() || !scales.hasWordOfStepBefore(part.number))
      words = scales.getRowWords(part, operand.groups);
    return words;
  }

  /// The elements of part `i`, which is `part`, of the loaded step, times their
  /// scales.
  void dequantize(SparsePairs &pairs, const Step &part, unsigned i) {
    ArrayRef<Value> ofGroups = loadWords(part);
    forEach(pairs, i, [&](unsigned group, unsigned number) {
      std::optional<unsigned> block;
      // 16 elements of B are one block of two; of A, a lane has one block.
      if (!isA && scales.getNumBlocks() != 1)
        block = number;
      return scales.scale(elements->getPairs(group, getNumber(i, number)),
                          scales.getFactor(part, ofGroups[group], block));
    });
  }

  /// The elements of part `i` without scales.
  void unscale(SparsePairs &pairs, unsigned i) {
    forEach(pairs, i, [&](unsigned group, unsigned number) {
      return scales.unscale(elements->getPairs(group, getNumber(i, number)));
    });
  }

private:
  unsigned getNumber(unsigned part, unsigned number) const {
    return isA ? part : kPairsOfB * part + number;
  }
  void forEach(SparsePairs &pairs, unsigned part,
               function_ref<Pairs(unsigned group, unsigned number)> get) const {
    auto &ofGroups = pairs.ofParts[part];
    ofGroups.clear();
    for (unsigned group = 0; group != operand.groups; ++group) {
      ofGroups.emplace_back();
      for (unsigned number = 0; number != (isA ? 1 : kPairsOfB); ++number)
        ofGroups.back().push_back(get(group, number));
    }
  }

  const WordEmitter &emit;
  const DequantizedOperand &operand;
  const DequantizeScales &scales;
  bool isA;
  ElementPairsPtr elements;
  SmallVector<Value> words;
};

/// Adds the product of instruction `number` of a step, of tile `m` of A and `n`
/// of B, to the four `sums`; `word` is the metadata.
void DequantizeEmitter::addSparse(MutableArrayRef<Value> sums,
                                  const SparsePairs &a, const SparsePairs &b,
                                  unsigned m, unsigned n, unsigned number,
                                  Value word) const {
  bool isPairs = granularity == Granularity::Pairs;
  std::array<Value, 4> aRegisters, bRegisters;
  for (unsigned i : {0, 1}) {
    for (unsigned lower : {0, 1}) {
      // The chunks 4 i to 4 i + 3, of row `lower` of two.
      auto get = [&](unsigned part) -> const Pairs & {
        return a.ofParts[part][m * kGroupsOfA + lower].front();
      };
      aRegisters[2 * i + lower] = isPairs ? get(i)[number] : get(number)[i];
    }
    for (unsigned j : {0, 1})
      bRegisters[2 * i + j] =
          isPairs ? b.ofParts[i][n][j][number] : b.ofParts[number][n][j][i];
  }
  unsigned selector = isPairs ? 0 : number;
  llvm::copy(multiplySparsePairs(emit.b, emit.loc, aRegisters, bRegisters,
                                 ValueRange(sums), word, selector),
             sums.begin());
}

void DequantizeEmitter::emitSparsePairs(Sums &sums) {
  SparseOperands xOperand(emit, x, /*isA=*/true),
      yOperand(emit, y, /*isA=*/false);
  SparseWordsPtr metadata = makeWords();
  bool isPairs = granularity == Granularity::Pairs;
  unsigned pieces = scan ? scan->getNumPieces() : 0, scanned = 0;
  SparsePairs a, b;
  for (int64_t number = 0; number != steps / kParts; ++number) {
    Step step = {number, {}};
    xOperand.load(step);
    yOperand.load(step);
    SmallVector<Value> words = metadata->loadStep(step);
    for (unsigned i = 0; i != kParts; ++i) {
      // Only what the next instructions need is in registers.
      for (unsigned part = 0; part != kParts; ++part) {
        if (isPairs ? i != 0 : part != i)
          continue;
        xOperand.dequantize(a, xOperand.getPart(step, part), part);
        yOperand.dequantize(b, yOperand.getPart(step, part), part);
      }
      for (unsigned n = 0; n != y.groups; ++n) {
        for (unsigned m = 0; m != x.groups / kGroupsOfA; ++m) {
          SmallVector<int64_t, 4> at = getTileElements(tile, m, n);
          SmallVector<Value> c =
              llvm::map_to_vector(at, [&](int64_t j) { return sums[j]; });
          addSparse(c, a, b, m, n, i, words[m]);
          for (auto [j, sum] : llvm::zip_equal(at, c))
            sums[j] = sum;
        }
        // The scan overlaps with the multiplication.
        if (scanned != pieces)
          scan->emitPiece(scanned++);
      }
    }
  }
  while (scanned != pieces)
    scan->emitPiece(scanned++);
}

void DequantizeEmitter::emitSparseScaledSums(Sums &sums) {
  SparseOperands xOperand(emit, x, /*isA=*/true),
      yOperand(emit, y, /*isA=*/false);
  SparseWordsPtr metadata = makeWords();
  forEachStep(sums, xOperand.takesValues() && yOperand.takesValues(),
              [&](const Step &step) {
                emitSparseScaledStep(sums, step, xOperand, yOperand, *metadata);
              });
}

void DequantizeEmitter::emitSparseScaledStep(Sums &sums, const Step &step,
                                             SparseOperands &xOperand,
                                             SparseOperands &yOperand,
                                             SparseWords &metadata) {
  bool isPairs = granularity == Granularity::Pairs;
  Value zero = emit.number(0), none = emit.integer(0);
  xOperand.load(step);
  yOperand.load(step);
  SparsePairs a, b;
  for (unsigned part = 0; part != kParts; ++part) {
    xOperand.unscale(a, part);
    yOperand.unscale(b, part);
  }
  SmallVector<Value> words = metadata.loadStep(step);
  for (unsigned part = 0; part != kParts; ++part) {
    Step ofPart = xOperand.getPart(step, part);
    SmallVector<Value> xWords(xOperand.loadWords(ofPart)),
        yWords(yOperand.loadWords(ofPart));
    // An instruction for kept pairs has both parts. What is zero in both
    // operands adds nothing, even where it was not finite.
    SparsePairs aPart = a, bPart = b;
    if (isPairs)
      for (SparsePairs *pairs : {&aPart, &bPart})
        for (auto &ofGroup : pairs->ofParts[1 - part])
          for (Pairs &each : ofGroup)
            each.fill(none);
    unsigned blocks = x.scales->getNumBlocks();
    for (unsigned block = 0; block != blocks; ++block) {
      SparsePairs aBlock = aPart;
      if (blocks != 1)
        for (auto &ofGroup : aBlock.ofParts[part])
          ofGroup.front() = keepBlock(ofGroup.front(), block);
      SmallVector<Value> xScales;
      for (unsigned group = 0; group != x.groups; ++group)
        xScales.push_back(x.scales->prepare(
            x.scales->getCode(ofPart, block, xWords[group], std::nullopt)));
      for (unsigned n = 0; n != y.groups; ++n) {
        SmallVector<Value> yScales;
        for (unsigned column : {0, 1})
          yScales.push_back(y.scales->prepare(
              y.scales->getCode(ofPart, block, yWords[n], column)));
        for (unsigned m = 0; m != x.groups / kGroupsOfA; ++m) {
          SmallVector<Value> products(4, zero);
          for (unsigned number = 0; number != kParts; ++number)
            if (isPairs || number == part)
              addSparse(products, aBlock, bPart, m, n, number, words[m]);
          addScaled(sums, m, n, products,
                    ArrayRef(xScales).slice(m * kGroupsOfA, kGroupsOfA),
                    yScales);
        }
      }
    }
  }
}
