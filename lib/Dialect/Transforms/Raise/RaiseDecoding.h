//===- RaiseDecoding.h - How an operand becomes numbers ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `mma_scaled` multiplies codes, so that for it the order of factors does not
// matter. Beside numbers an operand is made of codes as the program says: what
// is multiplied with what, and what is rounded in between, has to be what
// `dequantize` does.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEDECODING_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEDECODING_H

#include "Raise/RaiseFactors.h"

namespace mlir::blockscale {

/// An operand that is one narrow factor times the other, [times a scale for the
/// whole tensor,] with roundings in between.
struct Decoding {
  Factor factors[2];
  std::optional<Factor> tensorScale;
  /// The types of f16 and bf16 that the product of `factors` passes, from the
  /// contraction inwards: after `tensorScale` is multiplied, and before.
  SmallVector<FloatType> outer, inner;
};

/// How `access` is decoded; nullopt, with a reason, if it is in a way that
/// `dequantize` does not have.
std::optional<Decoding> traceDecoding(Access access, Loops &loops,
                                      std::string &reason);

/// `access` as far as it is the same numbers: `forms` has all tensors of bf16
/// or f16 on the way.
Factor traceNumbers(Access access, Loops &loops);

/// Whether `type` holds each code of a type of at most 8 bits, and the product
/// of each code and each scale. Beyond f32, that is infinity.
bool holdsCodes(FloatType type, Format format);
bool holdsProducts(FloatType type, Format element, Format scale);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEDECODING_H
