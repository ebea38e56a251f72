//===- BlockArithmetic.h - Quantisation of single numbers -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of `quantize` and `dequantize` as arithmetic on i32 and f32 that
// every target has: the meaning on the CPU, and what kernels fall back to where
// a chip has no conversion. Multiplications and additions are of f32, rounded
// to nearest even, and keep subnormals.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_BLOCKARITHMETIC_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_BLOCKARITHMETIC_H

#include "Utils/ArithEmitter.h"
#include "blockscale/Dialect/IR/ScaleRules.h"

namespace mlir::blockscale {

/// What a block is quantised to.
struct BlockFormat {
  Format element, scale;
  int64_t blockSize;
  /// For scales of e8m0.
  std::optional<ScaleRule> rule;
  /// The type of elements.
  Type type;

  static BlockFormat get(QuantizeOp op);
};

/// What the numbers of a block are multiplied by, or divided by.
struct BlockFactor {
  /// f32: a power of two, or the divisor.
  Value number;
  /// i1: whether all codes are 0; whether those of a divisor are zeros with
  /// the sign of the number. Null for never.
  Value isNaN, isZero;
  /// Of a divisor, its reciprocal, where that may be used, and whether it may:
  /// null for always. Whether the divisor is the scale itself.
  Value reciprocal, isPlain;
  bool isScale = false;
};

class BlockArithmetic : public ArithEmitter {
public:
  BlockArithmetic(OpBuilder &builder, Location loc)
      : ArithEmitter(builder, loc) {}

  /// An f32 of a number of type f32, f16 or bf16.
  Value toF32(Value number);
  /// The bits of the magnitude of an f32. Their order is that of magnitudes,
  /// and NaN is above infinity.
  Value getMagnitude(Value number);
  Value getLargest(Value magnitude, Value other);
  /// The largest magnitude as an f32; NaN is the quiet one without a payload.
  Value fromMagnitude(Value magnitude);

  /// The code, in an i32, of the scale of a block with this largest magnitude.
  /// `tensorScale` is null for 1.
  Value emitScale(const BlockFormat &format, Value largest, Value tensorScale);
  BlockFactor emitFactor(const BlockFormat &format, Value scale,
                         Value tensorScale);
  /// `number`, an f32, over the scale, where the block has no NaN.
  Value emitQuotient(const BlockFormat &format, Value number,
                     const BlockFactor &factor);
  /// The factor whose divisor and reciprocal another lane has made: the same
  /// codes for tensor scales that are positive and finite.
  BlockFactor fromNumbers(Value divisor, Value reciprocal, Value tensorScale);
  /// Whether quotients may come from a reciprocal beside such a tensor scale:
  /// not if divisors may be near the ends of f32's range. Null for always.
  Value emitIsPlain(Value tensorScale);
  /// Adds the reciprocal of a divisor to `factor`.
  void emitReciprocal(BlockFactor &factor);
  /// What `emitQuotient` gives where a reciprocal may be used, or what becomes
  /// the same code of e2m1: a product with the reciprocal and corrections, with
  /// the sign of the number.
  Value emitPlainQuotient(Value number, const BlockFactor &factor);
  /// The code, in an i32, of `number`, an f32.
  Value emitCode(const BlockFormat &format, Value number,
                 const BlockFactor &factor);

  /// The code of `format`, in an i32, that is nearest to an f32 that is not
  /// NaN; with a sign of its own only if the format has one.
  Value encode(Format format, Value number);
  /// The f32 that a code, in an i32, stands for.
  Value decode(Format format, Value code);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_BLOCKARITHMETIC_H
