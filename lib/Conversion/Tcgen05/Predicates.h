//===- Predicates.h - Instructions of one thread ---------------- -*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor core and bulk copies are started by one thread of a warp. Where
// that is a branch on elect.sync around several instructions, ptxas 13.0 keeps
// the branch, and brings each address from that thread's registers to uniform
// ones. With elect.sync as their predicate it drops both (they are issued once
// for a warp anyway), and the warp computes in uniform registers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_TCGEN05_PREDICATES_H
#define BLOCKSCALE_LIB_CONVERSION_TCGEN05_PREDICATES_H

#include "mlir/IR/Operation.h"

namespace mlir::blockscale {

/// Marks each scf.if on elect.sync with nothing in it but such instructions and
/// arithmetic. Without a tensor core, what is for it stays under its branch.
void markPredicated(Operation *root, bool hasTensorCore);

/// The condition of the marked scf.if that `op` is in, or null.
Value getPredicate(Operation *op);

/// Takes the contents of marked ops out of them: by now all instructions that
/// do anything have the predicate.
void flattenPredicated(Operation *root);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_TCGEN05_PREDICATES_H
