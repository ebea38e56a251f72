//===- DequantizeScales.h - Scales of rows ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scales of A or B, of which lanes hold words in the order of mma.sync:
// each lane gets those of its own row, as factors of bf16 for codes, or of f32
// for sums.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_DEQUANTIZESCALES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_DEQUANTIZESCALES_H

#include "Fragments/Dequantize/CodePairs.h"
#include "Fragments/WarpMultiply.h"

namespace mlir::blockscale {

/// Numbers that codes times scales are rounded to, as `dequantize` does.
struct Rounding {
  /// bf16 or f16.
  Type number;
  /// What they are multiplied by in f32 before; null for nothing.
  Value tensorScale;
};

class DequantizeScales {
public:
  /// `words` are those of groups of 32 rows, for each word along K;
  /// `interleave` says which rows groups of 8 have. `isUniform`: all scales are
  /// one.
  DequantizeScales(OpBuilder &b, Location loc, const WarpProduct &product,
                   Operand operand, unsigned interleave, int64_t k,
                   SmallVector<SmallVector<Value>> words, bool isUniform);

  /// The words with the scales of `step`, for the lane's row of each group
  /// of 8.
  SmallVector<Value> getRowWords(const Step &step, unsigned groups) const;
  /// Whether those of the step before are the same.
  bool hasWordOfStepBefore(int64_t step) const {
    return step % getStepsPerWord() != 0;
  }

  /// The scales of `step` from `rowWord`, as a pair of bf16 factors for placed
  /// codes; see `scale`.
  Value getFactor(const Step &step, Value rowWord) const;
  /// `pairs` times their scales, `factor` being theirs.
  Pairs scale(const Pairs &pairs, Value factor) const;
  /// `pairs` as they are without scales, with infinities and NaN.
  Pairs unscale(const Pairs &pairs) const;

  /// The scales of `step` from `rowWord`, as f32: for `round`.
  Value getRealFactor(const Step &step, Value rowWord) const;
  /// `pairs` times their scales, `factor` being theirs, rounded.
  Pairs round(const Pairs &pairs, Value factor, const Rounding &to) const;

  /// The code of the scale of block `block` of `step` (there are one or two),
  /// from `rowWord`; or for the column of C number 2 t + i, if `column` is i.
  Value getCode(const Step &step, unsigned block, Value rowWord,
                std::optional<unsigned> column) const;
  /// What getFactors takes of a scale: its code, or what it is as f32.
  Value prepare(Value code) const;
  /// Two factors of f32 whose product is that of a scale of each operand: what
  /// is multiplied with both, one after the other, overflows or underflows in
  /// between only if it does so in the end.
  std::array<Value, 2> getFactors(Value x, Value y) const;

  /// Whether the lane's words have scales only with which codes are exact.
  Value areExact() const;
  /// Whether a scale that is 0 is one of those.
  bool isZeroExact() const { return window.lowest == 0; }
  /// The same, where a scale that is 0 counts as one.
  Value areExactOrZero() const;
  /// Whether the scale that factors of `step` come from is 0, and any of
  /// `pairs` is not.
  Value isInexact(const Step &step, Value rowWord, const Pairs &pairs) const;

  /// Blocks in a step.
  unsigned getNumBlocks() const { return kStepElements / types.blockSize; }

private:
  /// Whether one multiplication makes numbers: with scales that have a mantissa
  /// those of B, which are then too small by what those of A are too large,
  /// unless these are numbers.
  bool isFolded() const {
    if (getFormatInfo(types.scale).mantissaBits == 0)
      return format.isFolded;
    return operand == Operand::B && !isMixedInput();
  }
  /// Whether those of A are numbers.
  bool isMixedInput() const {
    return getFormatInfo(types.lhs).use == FormatUse::HighPrecision;
  }
  unsigned getStepsPerWord() const { return kScalesPerWord / getNumBlocks(); }
  SmallVector<Value> getWords(const Step &step) const;
  Value getByteNumber(const Step &step) const;
  Value getByteNumberOfLane(const Step &step) const;
  Value extractByte(Value word, Value number, uint32_t places) const;
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
