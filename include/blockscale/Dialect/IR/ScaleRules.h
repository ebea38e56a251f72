//===- ScaleRules.h - Scales of blocks ---------------------------*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of `quantize` on the bits of an f32: constants that the folds and
// all lowerings share.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_SCALERULES_H
#define BLOCKSCALE_DIALECT_IR_SCALERULES_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// The bits of f32.
inline constexpr unsigned kF32MantissaBits = 23;
inline constexpr uint32_t kF32Magnitude = 0x7FFFFFFF;
inline constexpr uint32_t kF32Infinity = 0x7F800000;
inline constexpr uint32_t kF32NaN = 0x7FC00000;

/// The largest value of an element format, and its exponent.
double getLargestNumber(Format element);
int getLargestExponent(Format element);

/// The largest code of e8m0 that is not NaN: codes 0 to 254 are the powers -127
/// to 127.
inline constexpr uint32_t kLastPowerCode = 254;

/// The constant to add to the bits of the largest magnitude of a block. Then
/// their exponent field, minus `getLargestExponent`, is the code of the scale
/// (which is clamped to 0 and `kLastPowerCode`). A subnormal magnitude gives 0
/// by all rules.
uint32_t getScaleAddend(ScaleRule rule, Format element);

/// The divisor of the largest magnitude for a scale of ue4m3: the largest value
/// of e2m1.
inline constexpr float kLargestE2M1 = 6;

/// The code of the scale of a block with NaN or infinity.
uint32_t getScaleNaN(Format scale);

/// The sizes of the scales of a tensor of `sizes`.
SmallVector<OpFoldResult> getScaleSizes(OpBuilder &builder, Location loc,
                                        ArrayRef<OpFoldResult> sizes,
                                        int64_t blockSize);

/// The same for coarse scales: rows and columns are the last two dimensions.
SmallVector<OpFoldResult> getCoarseScaleSizes(OpBuilder &builder, Location loc,
                                              ArrayRef<OpFoldResult> sizes,
                                              const ScaleBlock &block);

/// `x` quantized by the rules of `op`: elements, scales and, if the op has it,
/// the largest magnitude. Null for more elements than a constant should have,
/// and for a tensor scale that is not positive and finite.
struct QuantizedConstant {
  DenseElementsAttr elements, scales;
  Attribute amax;
};
std::optional<QuantizedConstant>
quantizeConstant(DenseElementsAttr x, std::optional<float> tensorScale,
                 QuantizeOp op);

/// The dequantized operands of `op`; null for too many elements.
DenseElementsAttr dequantizeConstant(DenseElementsAttr elements,
                                     DenseElementsAttr scales,
                                     std::optional<float> tensorScale,
                                     DequantizeOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_SCALERULES_H
