//===- RowPosition.h - Positions of rows to combine -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_ROWPOSITION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_ROWPOSITION_H

#include "blockscale/Dialect/IR/Grouped.h"

namespace mlir::blockscale {

/// Checks that `position` is from -1 to `last`. The assertion is inside of a
/// branch, because upstream's conversion of parallel loops to kernels takes
/// none in the loop itself.
void checkPosition(OpBuilder &b, CombineRowsOp op, Value position, Value last);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_ROWPOSITION_H
