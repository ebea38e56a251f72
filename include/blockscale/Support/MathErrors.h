//===- MathErrors.h - Errors of functions on GPUs ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The math library of a host and GPU code for functions such as exp give
// different bits. This table bounds the difference, for everything that
// compares results. Functions without a row agree bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_MATHERRORS_H
#define BLOCKSCALE_SUPPORT_MATHERRORS_H

#include <optional>
#include <string_view>

namespace mlir::blockscale {

/// The largest error of an op's result, in units in the last place of f32.
/// Narrower types have the f32 result, rounded once more; f64 has these errors
/// in units of its own last place.
struct MathError {
  std::string_view op;
  double maxUlp;
};

inline constexpr MathError kMathErrors[] = {
    {"math.acos", 4},  {"math.acosh", 4}, {"math.asin", 4},  {"math.asinh", 4},
    {"math.atan", 4},  {"math.atan2", 4}, {"math.atanh", 4}, {"math.cbrt", 4},
    {"math.cos", 4},   {"math.cosh", 4},  {"math.erf", 4},   {"math.erfc", 4},
    {"math.exp", 4},   {"math.exp2", 4},  {"math.expm1", 4}, {"math.fpowi", 4},
    {"math.log", 4},   {"math.log10", 4}, {"math.log1p", 4}, {"math.log2", 4},
    {"math.powf", 16}, {"math.rsqrt", 4}, {"math.sin", 4},   {"math.sinh", 4},
    {"math.sqrt", 4},  {"math.tan", 4},   {"math.tanh", 4},
};

/// The error of the op of this name; nullopt if it has none.
constexpr std::optional<double> lookupMathError(std::string_view op) {
  for (const MathError &row : kMathErrors)
    if (row.op == op)
      return row.maxUlp;
  return std::nullopt;
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_MATHERRORS_H
