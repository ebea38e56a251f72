//===- ErrorBounds.h - A function that computes error bounds ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_ERRORBOUNDS_ERRORBOUNDS_H
#define BLOCKSCALE_LIB_ERRORBOUNDS_ERRORBOUNDS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace mlir::blockscale {

/// What becomes of one result.
struct BoundedResult {
  /// Whether it is followed by two more results of its shape, the ends of the
  /// interval of what a device may compute, both included. Else a device has
  /// the same.
  bool isInexact = false;
  /// Whether it comes of inexact values through a product or codes, so that
  /// errors are measured, too: then what each of `kNumErrorProbes` probes has
  /// in its place is behind the ends.
  bool isProbed = false;
  /// The op that an inexact value reaches and that no interval is known of, so
  /// that the device must have the same; else empty.
  std::string unknownThrough;
};

/// Makes a function return intervals beside its results (see
/// ElementIntervals.h). Fails after an error has been printed.
FailureOr<std::vector<BoundedResult>> returnErrorBounds(func::FuncOp function);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_ERRORBOUNDS_ERRORBOUNDS_H
