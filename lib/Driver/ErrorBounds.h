//===- ErrorBounds.h - A function that computes error bounds ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_ERRORBOUNDS_H
#define BLOCKSCALE_LIB_DRIVER_ERRORBOUNDS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace mlir::blockscale {

/// Makes a function return, in place of each result of type f32, how far that
/// may be from what a device computes (see Comparison.h). Bounds go through
/// `mma_scaled`, through additions, and through ops that move elements; behind
/// any other op that an inexact value reaches, the bound is 0. Returns for each
/// result the name of that op, or nothing.
std::vector<std::string> returnErrorBounds(func::FuncOp function);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DRIVER_ERRORBOUNDS_H
