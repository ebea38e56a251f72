//===- KnownAlignment.h - Where memory is known to start --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_KNOWNALIGNMENT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_KNOWNALIGNMENT_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::blockscale {

/// A callback of `isKnownMultiple` for other values.
using IsMultipleFn = llvm::function_ref<bool(Value, int64_t)>;

/// Whether the address of the first element of `memory`, a memref of bytes, is
/// known to be a multiple of `bytes`, a power of two. Parameters and
/// attributions of gpu.func have `llvm.align`, and allocations and globals have
/// an alignment; subviews, casts and similar ops keep it if they add a
/// multiple.
bool isKnownAligned(Value memory, int64_t bytes, IsMultipleFn isMultiple = {});

/// The same for all elements of `memory` whose indices are those of `indices`,
/// except in dimensions that are `isFree`, where they are arbitrary.
bool areKnownAligned(Value memory, ArrayRef<Value> indices,
                     ArrayRef<bool> isFree, int64_t bytes,
                     IsMultipleFn isMultiple = {});

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_KNOWNALIGNMENT_H
