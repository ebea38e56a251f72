//===- MathErrors.cpp - Errors of approximated functions ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one table of errors.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/MathErrors.h"

namespace {
struct MathError {
  std::string_view name;
  double ulp;
};
} // namespace

static constexpr MathError kErrors[] = {
    // Exact, or the exact result rounded.
    {"math.absf", 0},
    {"math.ceil", 0},
    {"math.copysign", 0},
    {"math.floor", 0},
    {"math.fma", 0.5},
    {"math.round", 0},
    {"math.roundeven", 0},
    {"math.sqrt", 0.5},
    {"math.trunc", 0},
    // Measured.
    {"math.cos", 4},
    {"math.cosh", 4},
    {"math.erf", 4},
    {"math.exp", 4},
    {"math.exp2", 4},
    {"math.expm1", 4},
    {"math.log", 4},
    {"math.log10", 4},
    {"math.log1p", 4},
    {"math.log2", 4},
    {"math.powf", 4},
    {"math.rsqrt", 4},
    {"math.sin", 4},
    {"math.sinh", 4},
    {"math.tan", 4},
    {"math.tanh", 4},
};

std::optional<double> mlir::blockscale::getMathError(std::string_view name) {
  for (const MathError &error : kErrors)
    if (error.name == name)
      return error.ulp;
  return std::nullopt;
}
