//===- Predicates.h - Instructions of one thread ---------------- -*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread of a warp starts the tensor core and bulk copies. If several of
// these instructions are in a branch on elect.sync, ptxas 13.0 keeps the
// branch, and copies each address from that thread's registers to uniform
// registers. With elect.sync as their predicate, ptxas removes both (the
// instructions are issued once for a warp anyway), and the warp computes in
// uniform registers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_TCGEN05_PREDICATES_H
#define BLOCKSCALE_LIB_CONVERSION_TCGEN05_PREDICATES_H

#include "mlir/IR/Operation.h"

namespace mlir::blockscale {

/// Marks each scf.if on elect.sync that has only such instructions and
/// arithmetic. Without a tensor core, its instructions stay in their branch.
void markPredicated(Operation *root, bool hasTensorCore);

/// The condition of the marked scf.if that `op` is in, or null.
Value getPredicate(Operation *op);

/// Moves the contents of marked ops out of them. By then all instructions with
/// effects have the predicate.
void flattenPredicated(Operation *root);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_TCGEN05_PREDICATES_H
