//===- KnownMultiple.h - Divisors of indices --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether an index is known to be a multiple: of the block size, so that a tile
// along K has whole blocks, or of the extents of an atom, so that a slice of
// scales has whole atoms.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_KNOWNMULTIPLE_H
#define BLOCKSCALE_DIALECT_IR_KNOWNMULTIPLE_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::blockscale {

/// Whether `value` is known to be a multiple of `divisor`, which is at least 1.
/// Follows affine and arith arithmetic, loops (bounds and steps) and constants.
/// `isMultiple`, if given, decides for other values. The work is bounded;
/// beyond the bound, the result is false.
bool isKnownMultiple(OpFoldResult value, int64_t divisor,
                     llvm::function_ref<bool(Value, int64_t)> isMultiple = {});

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_KNOWNMULTIPLE_H
