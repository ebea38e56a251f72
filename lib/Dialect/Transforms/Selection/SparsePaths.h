//===- SparsePaths.h - Paths of sparse products --------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_SPARSEPATHS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_SPARSEPATHS_H

#include "Selection/PathChoice.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blockscale {

/// Prepares ops on sparse operands in functions of `root` for a GPU: checks of
/// dynamic sizes become assertions. A `sparse_mma_scaled` gets the path that
/// has an instruction for it, and its metadata is checked. Without such a path,
/// it gets dequant_mma, whose instruction takes dequantized elements, or it
/// becomes a dense product, each with a remark; with `nativeOnly`, that is an
/// error. Sparse ops in kernels always are errors.
LogicalResult selectSparsePaths(Operation *root, const PathChooser &chooser,
                                bool nativeOnly);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_SPARSEPATHS_H
