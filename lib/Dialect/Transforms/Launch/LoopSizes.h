//===- LoopSizes.h - Sizes that loops agree on ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_LOOPSIZES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_LOOPSIZES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::blockscale {

/// Asserts, in front of `op` on tensors, that their dynamic sizes are those of
/// the loops over them.
void checkLoopSizes(linalg::LinalgOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_LOOPSIZES_H
