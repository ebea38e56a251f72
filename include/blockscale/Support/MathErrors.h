//===- MathErrors.h - Errors of functions on GPUs ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host's library and a GPU's code for functions such as exp give different
// bits. How far results may be apart is promised here, for everything that
// compares them. Functions that have no row agree bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_MATHERRORS_H
#define BLOCKSCALE_SUPPORT_MATHERRORS_H

#include <optional>
#include <string_view>

namespace mlir::blockscale {

/// How far an op's result may be from the exact one, in units of the last place
/// of f32. Results of narrower types are those of f32, rounded once more;
/// results of f64 have these errors in units of its own last place.
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
