//===- Comparison.h - Results against the reference -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element of a result has an interval of values that a device may compute.
// It is derived from the function's ops (docs/Numerics.md, "Comparing with the
// reference"). Results without intervals must agree bit for bit, with -0 equal
// to +0 and any NaN equal to any other.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_COMPARISON_H
#define BLOCKSCALE_DRIVER_COMPARISON_H

#include "blockscale/Driver/Program.h"
#include "blockscale/Runtime/Npy.h"
#include "blockscale/Support/Formats.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::blockscale {

/// The reference for one result.
struct ReferenceResult {
  NpyArray value;
  /// The format of elements, if the dtype does not determine it: narrow
  /// formats, and bf16.
  std::optional<Format> format;
  /// The ends of each element's interval, both included, as f64 (or i1: whether
  /// it must be true, and whether it may be true). If both are NaN, it must be
  /// NaN. From -infinity to infinity, it may be anything. Nullopt if the result
  /// must be equal.
  std::optional<NpyArray> low, high;
  /// The results of computations in which inexact values are perturbed by
  /// rounding errors of f32. They exist if errors go through a product or a
  /// quantization, and intervals would be too wide to detect bugs.
  std::vector<NpyArray> probes;
  /// The op through which no interval is known; else empty.
  std::string unknownThrough;
};

/// The reference for a call.
struct Reference {
  std::vector<ReferenceResult> results;
};

/// Runs the reference, and computes the intervals, on the CPU. Prints an error
/// on failure.
FailureOr<Reference> computeReference(const Program &program,
                                      StringRef entryName,
                                      const std::vector<NpyArray> &arguments);

/// One line for each result, such as
/// `result #0: largest error 3.2e-05 at [1, 2], bound 0.0012; relative error
/// 4.1e-07`, where the bound is the extent of the interval on the side of the
/// error. The relative error is that of the vector of all elements that are
/// finite and compared; with probes it has a bound, too, which is computed from
/// all of them. An error names the first element that is outside of its
/// interval.
Error compareResults(const Reference &reference,
                     const std::vector<NpyArray> &results, std::string &lines);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_COMPARISON_H
