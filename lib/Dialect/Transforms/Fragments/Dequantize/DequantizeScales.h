//===- DequantizeScales.h - Scales of rows ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scales of A or B. Lanes hold 32-bit words of them in the order of
// mma.sync. Each lane gets the scales of its own row: as bf16 factors for
// elements, or as f32 factors for sums.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_DEQUANTIZESCALES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_DEQUANTIZESCALES_H

#include "Fragments/Dequantize/ElementPairs.h"
#include "Fragments/WarpMultiply.h"

namespace mlir::blockscale {

/// How dequantized values are rounded, as by `dequantize`.
struct Rounding {
  /// bf16 or f16.
  Type type;
  /// A factor in f32 before rounding; null for none.
  Value tensorScale;
};

class DequantizeScales {
public:
  /// `words` has 32-bit registers of four scales: by step of four along K, then
  /// by group of 32 rows. `interleave` says which rows groups of 8 have.
  /// `isUniform`: all scales are equal.
  DequantizeScales(OpBuilder &b, Location loc, const WarpProduct &product,
                   Operand operand, unsigned interleave, int64_t k,
                   SmallVector<SmallVector<Value>> words, bool isUniform);

  /// The words with the scales of `step`, for the lane's row of each group
  /// of 8.
  SmallVector<Value> getRowWords(const Step &step, unsigned groups) const;
  /// Whether the previous step has the same words.
  bool hasWordOfStepBefore(int64_t step) const {
    return step % getStepsPerWord() != 0;
  }

  /// The scales of `step` from `rowWord`, as a pair of bf16 factors for shifted
  /// elements; see `scale`. If the step has two blocks, they are that of the
  /// lane's packed elements, or those of `block`.
  Value getFactor(const Step &step, Value rowWord,
                  std::optional<unsigned> block = std::nullopt) const;
  /// `pairs` times their scales, whose factor is `factor`.
  Pairs scale(const Pairs &pairs, Value factor) const;
  /// The values of `pairs` without scales, with infinities and NaN.
  Pairs unscale(const Pairs &pairs) const;

  /// The scales of `step` from `rowWord`, as f32: for `round`.
  Value getRealFactor(const Step &step, Value rowWord) const;
  /// `pairs` times their scales, whose factor is `factor`, rounded.
  Pairs round(const Pairs &pairs, Value factor, const Rounding &to) const;

  /// The code of the scale of block `block` of `step` (there are one or two),
  /// from `rowWord`; or for column 2 t + i of C, if `column` is i.
  Value getCode(const Step &step, unsigned block, Value rowWord,
                std::optional<unsigned> column) const;
  /// The form of a scale that getFactors takes: its code, or its value as f32.
  Value prepare(Value code) const;
  /// Two f32 factors whose product is that of a scale of each operand. The
  /// product of a value with the first one overflows or underflows only if the
  /// final result does.
  std::array<Value, 2> getFactors(Value x, Value y) const;

  /// Whether elements are exact with all scales of the lane.
  Value areExact() const;
  /// Whether elements are exact with a scale of 0.
  bool isZeroExact() const { return window.lowest == 0; }
  /// As areExact, but scales of 0 count as exact.
  Value areExactOrZero() const;
  /// Whether a scale of `step` is 0, and any of `pairs` is not.
  Value isInexact(const Step &step, Value rowWord, const Pairs &pairs) const;

  /// Blocks in a step, or 1 if a block has more than one step.
  unsigned getNumBlocks() const {
    return std::max(kStepElements / types.blockSize, 1u);
  }

private:
  /// Whether one multiplication dequantizes elements. With scales that have a
  /// mantissa this holds for B: its values are then too small by a power of
  /// two, and those of A are too large by it. Mixed input has no such A, so
  /// this does not hold for it.
  bool isFolded() const {
    if (getFormatInfo(types.scale).mantissaBits == 0)
      return format.isFolded;
    return operand == Operand::B && !isMixedInput();
  }
  /// Whether A has bf16 or f16 values.
  bool isMixedInput() const {
    return getFormatInfo(types.lhs).use == FormatUse::HighPrecision;
  }
  unsigned getStepsPerWord() const {
    return kScalesPerWord * types.blockSize / kStepElements;
  }
  SmallVector<Value> getWords(const Step &step) const;
  Value getByteNumber(const Step &step) const;
  Value getByteNumberOfLane(const Step &step) const;
  Value extractByte(Value word, Value number, uint32_t targets) const;
  Value accumulate(function_ref<Value(Value half)> test) const;

  WordEmitter emit;
  TypeCombination types;
  Value lane;
  Operand operand;
  unsigned interleave;
  CodeFormat format;
  ScaleWindow window;
  SmallVector<SmallVector<Value>> words;
  bool isUniform;
  /// 2^exponent of the format.
  Value power;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_DEQUANTIZESCALES_H
