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

/// What `isKnownMultiple` asks for values that it cannot explain.
using IsMultipleFn = llvm::function_ref<bool(Value, int64_t)>;

/// Whether the first element of `memory`, a memref of bytes, is known to be at
/// an address that is a multiple of `bytes`, a power of two. Parameters and
/// attributions of gpu.func say so by `llvm.align`, allocations and globals by
/// their alignment; subviews, casts and the like keep what they add a multiple
/// to.
bool isKnownAligned(Value memory, int64_t bytes, IsMultipleFn isMultiple = {});

/// The same for each element of `memory` whose index along a dimension is any
/// number where `isFree`, else that of `indices`.
bool areKnownAligned(Value memory, ArrayRef<Value> indices,
                     ArrayRef<bool> isFree, int64_t bytes,
                     IsMultipleFn isMultiple = {});

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_KNOWNALIGNMENT_H
