//===- RaiseFactors.h - Factors of a contraction ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The product that a contraction sums up, as factors in narrow types.
// Dequantization may be written on whole tensors or vectors or in the body of a
// structured op, and scales may be broadcast, reshaped and transposed. All of
// these ops only determine which element is read, so they are followed back to
// the source, with one rule for each op. Later, the indices alone decide which
// factor is x, and what is M, N or K.
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
  /// The tensors or vectors of its type, f32 or one of at most 8 bits, that
  /// hold it, from the contraction to the end of tracing. Empty for a scalar or
  /// another type.
  SmallVector<Access> forms;
  /// The end of tracing.
  Access origin;
  FactorRole role = FactorRole::Unknown;
  /// The value if all elements are one constant, else null.
  FloatAttr splat;
  /// No element is negative. Zero may be -0.
  bool isNonNegative = false;
  /// The index of the product, rounded to bf16, that this is a factor of.
  std::optional<unsigned> rounding;

  Type getElementType() const { return getElementTypeOrSelf(origin.value); }
  bool isNarrow() const;
  /// Whether it is the same f32 for all loops, like a scale for a whole tensor.
  bool isTensorScale() const;
  /// The form that is nearest to the contraction.
  const Access &getNearest() const {
    return forms.empty() ? origin : forms.front();
  }
};

/// Whether `type`, or what it holds, is a float of at most 8 bits.
bool isNarrowFloat(Type type);

/// Follows a magnitude to its operand: `math.absf`, or a mask of all bits
/// except the sign. Returns false, and keeps `access`, for other values.
bool stepThroughMagnitude(Access &access);

/// Sets `origin` and the properties of the value there.
void setOrigin(Factor &factor, Access origin);

/// A product of factors.
struct Product {
  std::vector<Factor> factors;
  /// Why the product is not exact: the first reason that was found, or empty.
  std::string problem;
  /// How many products are rounded to bf16.
  unsigned numRoundings = 0;
  /// Whether a `dequantize` op was followed.
  bool isDequantized = false;
};

/// Follows the product of `accesses` to its factors. The work is bounded by a
/// constant. Adds divisors that reshapes on the way imply to `loops.divisors`.
Product traceProduct(ArrayRef<Access> accesses, Loops &loops);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEFACTORS_H
