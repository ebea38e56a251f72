//===- Transforms.h - Patterns of the passes --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_TRANSFORMS_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_TRANSFORMS_H

#include "blockscale/Support/Formats.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::blockscale {

struct RaiseOptions {
  /// Whether scales of type f8E4M3FN are taken to be positive where that is not
  /// known. `mma_scaled` ignores their sign.
  bool assumePositiveScales = false;
};

/// Contractions of decoded operands, in linalg and vector, to `mma_scaled`, or
/// to `dequantize` and a matmul, if one operand is numbers.
void populateRaisePatterns(RewritePatternSet &patterns,
                           const RaiseOptions &options = {});

/// `mma_scaled` to `linalg.generic` on decoded f64 operands; reads through
/// transposes and `unswizzle_scales`. Apply before the patterns below.
void populateDecomposeMmaScaledPatterns(RewritePatternSet &patterns);

/// `swizzle_scales` and `unswizzle_scales` to `linalg.generic`.
void populateDecomposeSwizzlePatterns(RewritePatternSet &patterns);

/// `quantize` and `dequantize` to `linalg.generic`.
void populateDecomposeQuantizePatterns(RewritePatternSet &patterns);

/// Carries `swizzle_scales` and `unswizzle_scales` through transposes and
/// through slices that keep atoms whole, and cancels `swizzle_scales` of
/// `unswizzle_scales`. A swizzle goes to its source, in front of the loops that
/// do not make that, and an unswizzle to the end.
void populateCarrySwizzlesPatterns(RewritePatternSet &patterns);

/// `pack` and `unpack` to `linalg.generic`.
void populateDecomposePackingPatterns(RewritePatternSet &patterns);

/// `mma_scaled` on vectors with a batch to one op for each matrix.
void populateUnrollBatchPatterns(RewritePatternSet &patterns);

/// `tile_mma`, the accumulator ops, and `mma_scaled` on vectors with what
/// surrounds it, to what the lane `lane` of a warp does. `lane` dominates all
/// of the function.
void populateToFragmentsPatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns, Value lane);

/// How bufferization turns `launch` into `gpu.launch_func`.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

/// What makes `linalg.matmul` and `linalg.batch_matmul` products that
/// blockscale-select-path may give a path.
void registerProductOpInterfaceExternalModels(DialectRegistry &registry);

/// The discardable attributes of products that say how it is computed.
inline constexpr StringLiteral kPathAttrName = "blockscale.path";
inline constexpr StringLiteral kInstructionAttrName = "blockscale.instruction";

/// The argument attribute that asks for a packed buffer of fp6.
inline constexpr StringLiteral kPackedAttrName = "blockscale.packed";

/// The argument attribute that says what divides the dynamic sizes of a tensor:
/// a `DenseI64ArrayAttr` with a number for each dimension, 1 for nothing.
inline constexpr StringLiteral kMultiplesAttrName = "blockscale.multiples";

/// The argument attribute that says that scales are in the 32x4x4 layout: the
/// type of their row-major form, rows first.
inline constexpr StringLiteral kSwizzledAttrName = "blockscale.swizzled";

/// Emits the exact value of `code`: an integer of 8 bits, or a vector or tensor
/// of them, with the code of `format` in its low bits. Its shape must be
/// static: the arithmetic needs constants of it. The value is of `type`, in
/// which all numbers of the format but zero must be normal: f64, which is meant
/// by null, or, for elements and ue4m3, f32.
Value emitDecode(OpBuilder &builder, Location loc, Value code, Format format,
                 FloatType type = {});

/// What stands for numbers beyond the largest of a format.
enum class Overflow {
  /// Infinity; NaN where there is no infinity; the largest where there is no
  /// NaN either.
  Ieee,
  /// The largest, for infinity, too.
  Saturate,
};

/// Emits the code, in the low bits of an integer of 8 bits (of 16 for bf16 and
/// f16), of the number of `format` that is nearest to `value`: f64 or an
/// upstream type that f32 holds, or a vector or tensor of static shape of one.
/// Ties go to the even code (in e8m0, up), subnormal numbers are kept, and so
/// is the sign of zero. NaN stays NaN, or becomes the largest positive number
/// where there is none; in formats without sign (e8m0, ue4m3), numbers below 0
/// are NaN. What is below the smallest number of e8m0 is that, and so is zero.
/// See docs/Numerics.md.
Value emitEncode(OpBuilder &builder, Location loc, Value value, Format format,
                 Overflow overflow);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_TRANSFORMS_H
