//===- RowForming.h - Ops along rows that have kernels ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWS_ROWFORMING_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWS_ROWFORMING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::blockscale {

/// Row-wise ops that have kernels, in functions for a GPU, to `launch`.
void populateFormRowsPatterns(RewritePatternSet &patterns);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWS_ROWFORMING_H
