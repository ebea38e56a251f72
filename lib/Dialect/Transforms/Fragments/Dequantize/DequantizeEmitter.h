//===- DequantizeEmitter.h - Dequantized products ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_DEQUANTIZEEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_DEQUANTIZEEMITTER_H

#include "Fragments/Dequantize/DequantizeScales.h"
#include "Fragments/Dequantize/SparseWords.h"
#include "Fragments/Dequantize/SpecialScan.h"

#include <functional>

namespace mlir::blockscale {

/// Groups of 8 rows in a tile of A of an instruction.
inline constexpr unsigned kGroupsOfA = 2;

/// One operand of a product.
struct DequantizedOperand {
  /// Makes the loader of its elements, at the insertion point of the builder.
  std::function<ElementPairsPtr()> makePairs;
  /// None for a high-precision operand.
  std::optional<DequantizeScales> scales;
  /// Groups of 8 rows.
  unsigned groups;
};

class DequantizeEmitter {
public:
  /// `scan` is null if no element can be infinite or NaN. With mixed input, y
  /// is rounded as in `rounding`.
  DequantizeEmitter(OpBuilder &b, const WarpProduct &product,
                    const WarpTile &tile, int64_t k, DequantizedOperand x,
                    DequantizedOperand y, SpecialScanPtr scan,
                    Rounding rounding)
      : emit{b, product.loc}, tile(tile), steps(k / kStepElements),
        lane(product.lane), x(std::move(x)), y(std::move(y)),
        scan(std::move(scan)), rounding(rounding) {}

  /// From now on, A has the kept elements of a sparse one, whose metadata
  /// `makeMetadata` loads at the insertion point of the builder.
  void setMetadata(Granularity kept,
                   std::function<SparseWordsPtr()> makeMetadata) {
    granularity = kept;
    makeWords = std::move(makeMetadata);
  }

  SmallVector<Value> emitProduct(ValueRange elements);

private:
  using Sums = SmallVector<Value>;

  /// Products of a sparse A, in SparseProducts.cpp.
  struct SparsePairs;
  class SparseOperands;
  void emitSparsePairs(Sums &sums);
  void emitSparseScaledSums(Sums &sums);
  void emitSparseScaledStep(Sums &sums, const Step &step, SparseOperands &a,
                            SparseOperands &b, SparseWords &words);
  void addSparse(MutableArrayRef<Value> sums, const SparsePairs &a,
                 const SparsePairs &b, unsigned m, unsigned n, unsigned number,
                 Value word) const;

  Value emitIsExact(const DequantizedOperand &operand);
  Value emitIsInexact(const DequantizedOperand &operand);
  void emitExact(Sums &sums);
  void emitPairs(Sums &sums, const Rounding *rounding);
  void addProduct(Sums &sums, unsigned m, unsigned n, ArrayRef<Value> a,
                  ArrayRef<Value> b);
  void emitRoundedStep(Sums &sums, const Step &step, ElementPairs &xElements,
                       ElementPairs &yElements);
  void emitScaledSums(Sums &sums);
  void emitScaledStep(Sums &sums, const Step &step, ElementPairs &xElements,
                      ElementPairs &yElements);
  Pairs keepBlock(const Pairs &pairs, unsigned block) const;
  Value dropFinite(Value value);
  void addValue(Sums &sums, int64_t element, Value value);
  void addScaled(Sums &sums, unsigned m, unsigned n, ValueRange products,
                 ArrayRef<Value> xScales, ArrayRef<Value> yScales);
  /// Calls `body` for each step, in a loop if `takesValues` (steps may be
  /// values). `values` are the values that it updates.
  void forEachStep(SmallVector<Value> &values, bool takesValues,
                   function_ref<void(const Step &)> body);
  /// The elements along K that a step of A stands for, in steps of 32.
  unsigned getPartsOfStep() const { return granularity ? 2 : 1; }

  SmallVector<Value> multiply(ArrayRef<Value> a, ArrayRef<Value> b,
                              ValueRange c) const;

  WordEmitter emit;
  WarpTile tile;
  int64_t steps;
  Value lane;
  DequantizedOperand x, y;
  SpecialScanPtr scan;
  /// The type that instructions multiply.
  Rounding rounding;
  /// Of a sparse A.
  std::optional<Granularity> granularity;
  std::function<SparseWordsPtr()> makeWords;
  /// Values up to this magnitude are not added, see dropFinite.
  Value leftOut;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_DEQUANTIZEEMITTER_H
