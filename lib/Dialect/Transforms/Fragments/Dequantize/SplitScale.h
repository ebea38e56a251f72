//===- SplitScale.h - Tensor scales as sums of two bf16 ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor scale has 24 bits, and its product with an element is rounded once
// to f32 and once to bf16. Elements of one mantissa bit have only two
// significands, 1 and 1.5. So there is a sum of two bf16 values, high + low, of
// which each element times it is rounded to the same bf16; and that is one
// multiplication and one fma of bf16.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPLITSCALE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPLITSCALE_H

#include "Fragments/Dequantize/WordEmitter.h"

namespace mlir::blockscale {

/// A bf16 factor of pairs: `high`, or the sum of both if there is a `low`.
struct PairFactor {
  Value high, low;
};

/// Tensor scale times block scales, split.
class SplitScale {
public:
  /// With scales of blocks of `scale`. If these have a mantissa, their factors
  /// are larger by 2^`plus`, which shifted elements lack.
  SplitScale(const WordEmitter &emit, Value tensorScale, Format scale, int plus,
             Value lane);

  /// For scales that are powers of two: what is added to the code of one.
  Value getExponent() const { return exponent; }
  /// The tensor scale without its exponent times `power`, a pair of equal
  /// powers of two.
  PairFactor scale(Value power) const;
  /// The tensor scale times the scale with a mantissa of `code`, without sign.
  PairFactor scaleByCode(Value code) const;

  /// Whether the tensor scale is so large or small, infinite or NaN, that
  /// factors are not exact.
  Value isOutOfRange() const { return outOfRange; }

private:
  Value split(Value one, Value oneAndHalf) const;
  PairFactor multiply(Value both, Value power) const;

  WordEmitter emit;
  /// That of the tensor scale; for scales with a mantissa, in the exponent
  /// fields of a pair, with all that factors need besides a code.
  Value exponent;
  /// The split tensor scale; or in lane i, times the mantissa of code i, for
  /// i < 16.
  Value both;
  Value outOfRange;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPLITSCALE_H
