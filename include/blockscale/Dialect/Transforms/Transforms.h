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
  /// Whether to assume that scales of type f8E4M3FN are positive where that is
  /// not known. `mma_scaled` ignores their sign.
  bool assumePositiveScales = false;
};

/// Contractions of dequantized operands, in linalg and vector, to `mma_scaled`,
/// or to `dequantize` and a matmul if one operand is not quantized.
void populateRaisePatterns(RewritePatternSet &patterns,
                           const RaiseOptions &options = {});

/// `mma_scaled` to `linalg.generic` on operands dequantized to f64; folds
/// transposes and `unswizzle_scales` into indexing maps. Apply before the
/// patterns below.
void populateDecomposeMmaScaledPatterns(RewritePatternSet &patterns);

/// `swizzle_scales` and `unswizzle_scales` to `linalg.generic`.
void populateDecomposeSwizzlePatterns(RewritePatternSet &patterns);

/// `quantize` and `dequantize` to `linalg.generic`.
void populateDecomposeQuantizePatterns(RewritePatternSet &patterns);

/// `rebase` to `linalg.generic`.
void populateDecomposeRebasePatterns(RewritePatternSet &patterns);

/// Moves `swizzle_scales` and `unswizzle_scales` through transposes and through
/// slices that keep atoms whole, and cancels `swizzle_scales` of
/// `unswizzle_scales`. A swizzle moves up to its source, out of loops that do
/// not define it, and an unswizzle moves down to its users.
void populateCarrySwizzlesPatterns(RewritePatternSet &patterns);

/// `pack` and `unpack` to `linalg.generic`.
void populateDecomposePackingPatterns(RewritePatternSet &patterns);

/// `mma_scaled` on vectors with a batch to one op for each matrix.
void populateUnrollBatchPatterns(RewritePatternSet &patterns);

/// `tile_mma`, the accumulator ops, and `mma_scaled` on vectors with the ops on
/// its operands and results, to code of the lane `lane` of a warp. `lane`
/// dominates all of the function, and so does `warpgroup`, the number of the
/// warpgroup of the thread, an index. Without it, there is no pattern of
/// `warpgroup_mma`.
void populateToFragmentsPatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns, Value lane,
                                 Value warpgroup = {});

/// How bufferization turns `launch` into `gpu.launch_func`.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

/// Attaches the interface to `linalg.matmul` and `linalg.batch_matmul`, so that
/// blockscale-select-path may give them a path.
void registerProductOpInterfaceExternalModels(DialectRegistry &registry);

/// The discardable attributes of a matmul that say how it is computed.
inline constexpr StringLiteral kPathAttrName = "blockscale.path";
inline constexpr StringLiteral kInstructionAttrName = "blockscale.instruction";

/// The argument attribute that asks for a packed buffer of fp6.
inline constexpr StringLiteral kPackedAttrName = "blockscale.packed";

/// The argument attribute with known divisors of the dynamic sizes of a tensor:
/// a `DenseI64ArrayAttr` with a divisor for each dimension, 1 if none is known.
inline constexpr StringLiteral kMultiplesAttrName = "blockscale.multiples";

/// The argument attribute of scales in the 32x4x4 layout: the type of their
/// row-major form, rows first.
inline constexpr StringLiteral kSwizzledAttrName = "blockscale.swizzled";

/// Emits the exact value of `code`: an integer of 8 bits, or a vector or tensor
/// of them, with the code of `format` in its low bits. The shape must be
/// static, because the arithmetic needs constants of that shape. The value has
/// the type `type`, in which all values of the format except zero must be
/// normal: f64 (the default) or, for elements and ue4m3, f32.
Value emitDecode(OpBuilder &builder, Location loc, Value code, Format format,
                 FloatType type = {});

/// The result for values beyond the largest of a format.
enum class Overflow {
  /// Infinity; NaN if the format has no infinity; the largest value if it has
  /// no NaN either.
  Ieee,
  /// The largest value, also for infinity.
  Saturate,
};

/// Emits the code, in the low bits of an integer of 8 bits (of 16 for bf16 and
/// f16), of the value of `format` that is nearest to `value`: f64 or an
/// upstream type that f32 holds, or a vector or tensor of static shape of one.
/// Ties go to the even code (in e8m0, up), subnormals are kept, and so is the
/// sign of zero. NaN stays NaN, or becomes the largest positive value if the
/// format has no NaN. In formats without sign (e8m0, ue4m3), values below 0
/// become NaN. In e8m0, zero and values below the smallest become the smallest.
/// See docs/Numerics.md.
Value emitEncode(OpBuilder &builder, Location loc, Value value, Format format,
                 Overflow overflow);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_TRANSFORMS_H
