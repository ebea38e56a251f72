//===- RaiseFactors.h - What a contraction multiplies -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The product that a contraction adds up, as factors in narrow types. Decoding
// may be written on whole tensors or vectors or in the body of a structured op,
// and scales may be broadcast, reshaped and transposed on the way: all of these
// only say which element is read, so they are followed back to what is read, by
// one rule for each op. Which of them is x, and what is M, N or K, is decided
// afterwards, from the indices alone.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEFACTORS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEFACTORS_H

#include "Raise/RaiseAccess.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::blockscale {

enum class FactorRole { Unknown, Element, Scale };

/// One factor of the product.
struct Factor {
  /// The tensors or vectors of a type of at most 8 bits that hold it, from the
  /// contraction to where tracing ended. Empty for a scalar or a wider type.
  SmallVector<Access> forms;
  /// Where tracing ended.
  Access origin;
  FactorRole role = FactorRole::Unknown;
  /// The value if all elements are one constant, else null.
  FloatAttr splat;
  /// No element is negative. Zero may be -0.
  bool isNonNegative = false;
  /// The number of the product that is rounded to bf16 and that this is a
  /// factor of; all of one number are in that product.
  std::optional<unsigned> rounding;

  Type getElementType() const { return getElementTypeOrSelf(origin.value); }
  bool isNarrow() const;
  /// Whether it is one f32 for all loops, as a scale for a whole tensor is.
  bool isTensorScale() const;
  /// What is nearest to the contraction.
  const Access &getNearest() const {
    return forms.empty() ? origin : forms.front();
  }
};

/// Whether `type`, or what it holds, is a float of at most 8 bits.
bool isNarrowFloat(Type type);

/// From a value to the one that it is the magnitude of: `math.absf`, or all
/// bits but the sign. Else returns false, and `access` stays.
bool stepThroughMagnitude(Access &access);

/// Sets `origin`, and what is known of the value there.
void setOrigin(Factor &factor, Access origin);

/// A product of factors.
struct Product {
  std::vector<Factor> factors;
  /// What is not exact about it: the first thing that was found, or empty.
  std::string problem;
  /// How many products are rounded to bf16.
  unsigned numRoundings = 0;
  /// Whether a `dequantize` is among what decodes.
  bool isDequantized = false;
};

/// Follows the product of `accesses` to its factors. The work is bounded by a
/// constant. Adds to `loops.divisors` what reshapes on the way show.
Product traceProduct(ArrayRef<Access> accesses, Loops &loops);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEFACTORS_H
