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

/// Makes tensors of the memrefs that a function takes: of one that is read, by
/// `bufferization.to_tensor`, an argument; of one that is written, by
/// `bufferization.materialize_in_destination`, the last result. What is written
/// must stand behind what is read, so that kernels have the same parameters.
/// Fails after an error about other memory. What calls the function must go.
LogicalResult returnDestinations(func::FuncOp function);

/// The same for all public functions.
LogicalResult returnDestinations(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_DESTINATIONS_H
