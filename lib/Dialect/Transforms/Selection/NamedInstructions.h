//===- NamedInstructions.h - Ops that name their instruction ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_NAMEDINSTRUCTIONS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_NAMEDINSTRUCTIONS_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// Checks that `chip` has the instructions of ops below the tile level in
/// `root`. Unless `nativeOnly`, instructions that can be emulated only get a
/// remark. Emits an error at others.
LogicalResult checkNamedInstructions(Operation *root, const Chip &chip,
                                     bool nativeOnly);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_NAMEDINSTRUCTIONS_H
