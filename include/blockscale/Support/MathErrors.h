//===- MathErrors.h - Errors of approximated functions ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How far functions of f32 on a GPU are from the exact value: what the
// comparison with the CPU allows, and what docs/Numerics.md states.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_MATHERRORS_H
#define BLOCKSCALE_SUPPORT_MATHERRORS_H

#include <optional>
#include <string_view>

namespace mlir::blockscale {

/// The largest error of `name`, an op such as "math.exp", in units of the last
/// place of an f32 (below 2^-126, in units of 2^-149): measured by
/// benchmarks/math_errors.py over all numbers of f32, and rounded up. 0.5 where
/// the result is the exact one, rounded. nullopt for other ops.
std::optional<double> getMathError(std::string_view name);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_MATHERRORS_H
