//===- RaiseDecoding.h - Match dequantization -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `mma_scaled` multiplies exactly, so for it the order of factors does not
// matter. With mixed input, the program defines how the quantized operand is
// dequantized: the order of its multiplications, and roundings in between, must
// be those of `dequantize`.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEDECODING_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEDECODING_H

#include "Raise/RaiseFactors.h"

namespace mlir::blockscale {

/// An operand that is an element times its scale [times a scale for the whole
/// tensor], with roundings in between.
struct Decoding {
  Factor factors[2];
  std::optional<Factor> tensorScale;
  /// The types f16 and bf16 to which the product of `factors` is rounded, from
  /// the contraction inwards: after the multiplication by `tensorScale`, and
  /// before.
  SmallVector<FloatType> outer, inner;
};

/// How `access` is dequantized; nullopt, with a reason, if `dequantize` cannot
/// express it.
std::optional<Decoding> traceDecoding(Access access, Loops &loops,
                                      std::string &reason);

/// Follows a high-precision operand as far as its values do not change: `forms`
/// has all bf16 or f16 tensors on the way.
Factor traceHighPrecision(Access access, Loops &loops);

/// Whether `type` represents all values of `format`, and all products of these
/// and scales. Beyond f32, that is infinity.
bool holdsElements(FloatType type, Format format);
bool holdsProducts(FloatType type, Format element, Format scale);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEDECODING_H
