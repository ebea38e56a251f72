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

/// The companions of one result.
struct BoundedResult {
  /// Whether two more results of its shape follow: the inclusive ends of the
  /// intervals of possible device results. Otherwise a device must have the
  /// same result.
  bool isInexact = false;
  /// Whether it depends on inexact values through a product or quantization, so
  /// that errors are measured, too: then the results of `kNumErrorProbes`
  /// probes follow the ends.
  bool isProbed = false;
  /// The op without interval rule that an inexact value reaches, so that the
  /// device must have the same result; else empty.
  std::string unknownThrough;
};

/// Makes a function also return intervals of its results (see
/// ElementIntervals.h). Fails after an error has been printed.
FailureOr<std::vector<BoundedResult>> returnErrorBounds(func::FuncOp function);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_ERRORBOUNDS_ERRORBOUNDS_H
