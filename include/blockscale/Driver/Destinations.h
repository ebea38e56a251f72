//===- Destinations.h - Functions that write into arguments --- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_DESTINATIONS_H
#define BLOCKSCALE_DRIVER_DESTINATIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blockscale {

/// Changes memref arguments of a function to tensors: a memref that
/// `bufferization.to_tensor` reads becomes an argument, and one that
/// `bufferization.materialize_in_destination` writes becomes a result, after
/// the other results. Memrefs that are written must come after those that are
/// read, so that kernels have the same parameters. Emits an error for other
/// memory. The function must not have callers.
LogicalResult returnDestinations(func::FuncOp function);

/// The same for all public functions.
LogicalResult returnDestinations(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_DESTINATIONS_H
