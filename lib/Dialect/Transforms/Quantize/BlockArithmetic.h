//===- BlockArithmetic.h - Quantization of values ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of `quantize` and `dequantize` as arithmetic on i32 and f32, which
// every target has. It defines the ops on the CPU, and kernels use it on chips
// without conversion instructions. Multiplications and additions are of f32,
// rounded to nearest even, and keep subnormals.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_BLOCKARITHMETIC_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_BLOCKARITHMETIC_H

#include "Utils/ArithEmitter.h"
#include "blockscale/Dialect/IR/ScaleRules.h"

namespace mlir::blockscale {

/// The formats and rules of quantized blocks.
struct BlockFormat {
  Format element, scale;
  int64_t blockSize;
  /// For scales that are powers of two.
  std::optional<ScaleRule> rule;
  /// The type of elements.
  Type type;
  /// Whether memory has scales of f32. With a rule, they are computed as codes
  /// of `scale`, which is e8m0; without one, the code is the f32 itself.
  bool hasF32Scales = false;

  bool hasF32Codes() const { return hasF32Scales && !rule; }

  static BlockFormat get(QuantizeOp op);
};

/// The factor, or the divisor, of the elements of a block.
struct BlockFactor {
  /// f32: a power of two, or the divisor.
  Value value;
  /// i1: whether all codes are 0; for a divisor, whether all quotients are
  /// zeros with the sign of the element. Null for never.
  Value isNaN, isZero;
  /// For a divisor, its reciprocal, if there is one, and whether it may be used
  /// (null for always).
  Value reciprocal, allowsReciprocal;
  /// How often a quotient by the reciprocal is corrected, and whether values
  /// may be so much larger than the divisor that they are clamped before.
  int corrections = 2;
  bool clamps = true;
};

class BlockArithmetic : public ArithEmitter {
public:
  BlockArithmetic(OpBuilder &builder, Location loc)
      : ArithEmitter(builder, loc) {}

  /// `value`, of type f32, f16 or bf16, as f32.
  Value toF32(Value value);
  /// The bits of the magnitude of an f32. As integers they have the order of
  /// magnitudes, with NaN above infinity.
  Value getMagnitude(Value value);
  Value getLargest(Value magnitude, Value other);
  /// The largest magnitude as an f32; NaN is the quiet one without a payload.
  Value fromMagnitude(Value magnitude);

  /// The code, in an i32, of the scale of a block with this largest magnitude.
  /// `tensorScale` is null for 1.
  Value emitScale(const BlockFormat &format, Value largest, Value tensorScale);
  /// The scale as memory has it, if `code` is what `emitScale` returns: that,
  /// or an f32.
  Value emitStoredScale(const BlockFormat &format, Value largest, Value code);
  /// The scale of f32, and the code of `value`, an f32, with such a scale.
  /// Without a rule, scales are the largest magnitude over the largest element.
  Value emitF32Scale(Format element, std::optional<ScaleRule> rule,
                     Value largest);
  Value emitF32Code(Format element, Value value, Value scale);
  BlockFactor emitFactor(const BlockFormat &format, Value scale,
                         Value tensorScale);
  /// `value`, an f32, over the scale, where the block has no NaN.
  Value emitQuotient(const BlockFormat &format, Value value,
                     const BlockFactor &factor);
  /// The factor from a divisor and a reciprocal that another lane has computed.
  /// Results are the same for tensor scales that are positive and finite.
  BlockFactor fromReciprocal(Value divisor, Value reciprocal,
                             Value tensorScale);
  /// Whether quotients may be computed by a reciprocal with this tensor scale,
  /// or with this scale of f32: not if divisors may be near the ends of the
  /// range of f32. Null for always.
  Value emitAllowsReciprocal(Value scale);
  /// Adds the reciprocal of a divisor to `factor`.
  void emitReciprocal(BlockFactor &factor);
  /// The quotient as a product with the reciprocal and corrections, with the
  /// sign of the element. It equals that of `emitQuotient`, or rounds to the
  /// same element, if a reciprocal may be used.
  Value emitQuotientByReciprocal(Value value, const BlockFactor &factor);
  /// The code, in an i32, of `value`, an f32.
  Value emitCode(const BlockFormat &format, Value value,
                 const BlockFactor &factor);

  /// The code of `format`, in an i32, that is nearest to an f32 that is not
  /// NaN; with a sign of its own only if the format has one.
  Value encode(Format format, Value value);
  /// The value, an f32, of a code in an i32.
  Value decode(Format format, Value code);

private:
  /// The e8m0 code of the scale of a block with this largest magnitude.
  Value emitPowerCode(ScaleRule rule, Format element, Value largest);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_BLOCKARITHMETIC_H
