//===- CheckReshapes.h - Dynamic sizes of reshapes --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_HOSTLOWERING_CHECKRESHAPES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_HOSTLOWERING_CHECKRESHAPES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::blockscale {

/// Asserts in front of `op` that its sizes multiply to those of its source,
/// which are `sourceSizes` if there are some.
void checkExpandedSizes(tensor::ExpandShapeOp op,
                        ArrayRef<OpFoldResult> sourceSizes = {});

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_HOSTLOWERING_CHECKRESHAPES_H
