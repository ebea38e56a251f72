//===- Comparison.h - Results against the reference -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How far the results of a device may be from those of the reference. For
// `mma_scaled` that is
//
//   |error| <= K * 2^-22 * (|acc| + sum |terms|) + 2^-122
//
// and nothing is said of a cell whose |acc| + sum |terms| exceeds 2^126, but
// that a NaN operand must show. Elsewhere devices and reference agree bit for
// bit, with -0 equal to +0 and any NaN to any other.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_COMPARISON_H
#define BLOCKSCALE_DRIVER_COMPARISON_H

#include "blockscale/Driver/Program.h"
#include "blockscale/Runtime/Npy.h"

#include <string>
#include <vector>

namespace mlir::blockscale {

/// What the reference says of a call.
struct Reference {
  std::vector<NpyArray> results;
  /// For each result: how far each cell may be away, as f32; infinity where it
  /// may be anything. Empty where the result must be equal.
  std::vector<NpyArray> bounds;
  /// For each result: the op through which no bound is known; else empty.
  std::vector<std::string> unknownThrough;
};

/// Runs the reference, and computes the bounds, on the CPU. Fails after an
/// error has been printed.
FailureOr<Reference> computeReference(const Program &program,
                                      StringRef entryName,
                                      const std::vector<NpyArray> &arguments);

/// One line for each result, such as
/// `result #0: largest error 3.2e-05, bound there 0.0012`. An error names the
/// first cell that is over its bound.
Error compareResults(const Reference &reference,
                     const std::vector<NpyArray> &results, std::string &lines);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_COMPARISON_H
