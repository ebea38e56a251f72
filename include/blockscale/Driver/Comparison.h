//===- Comparison.h - Results against the reference -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element of a result has an interval of what a device may compute; it is
// derived from the function's ops (docs/Numerics.md, "Comparing with the
// reference"). Where there is none, devices and reference agree bit for bit,
// with -0 equal to +0 and any NaN to any other.
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

/// What the reference says of one result.
struct ReferenceResult {
  NpyArray value;
  /// What the elements are where the dtype does not say it: codes, or bf16.
  std::optional<Format> format;
  /// The ends of each element's interval, both included, as f64 (or i1: whether
  /// it is true for certain, and whether it may be). Both NaN: it is NaN. From
  /// -infinity to infinity: it may be anything. Empty where the result must be
  /// equal.
  std::optional<NpyArray> low, high;
  /// What it is in computations in which inexact values are moved by what f32
  /// may lose; there are some where errors go through a product or codes, and
  /// intervals get so wide that a bug may fit in.
  std::vector<NpyArray> probes;
  /// The op through which no interval is known; else empty.
  std::string unknownThrough;
};

/// What the reference says of a call.
struct Reference {
  std::vector<ReferenceResult> results;
};

/// Runs the reference, and computes the intervals, on the CPU. Fails after an
/// error has been printed.
FailureOr<Reference> computeReference(const Program &program,
                                      StringRef entryName,
                                      const std::vector<NpyArray> &arguments);

/// One line for each result, such as
/// `result #0: largest error 3.2e-05 at [1, 2], bound 0.0012; relative error
/// 4.1e-07`, where the bound is how far the interval reaches to the side of the
/// error. The relative error is that of all elements that are finite and
/// compared, as vectors; with probes it has a bound, too: what they come to
/// together. An error names the first element that is outside of its interval.
Error compareResults(const Reference &reference,
                     const std::vector<NpyArray> &results, std::string &lines);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_COMPARISON_H
