//===- BufferizeTileOps.h - What to run before bufferization ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_BUFFERIZETILEOPS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_BUFFERIZETILEOPS_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::blockscale {

/// Lets bufferization end at an op of the tile level with an error that names
/// the passes to run before it.
void refuseToBufferizeTileOps(DialectRegistry &registry);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_BUFFERIZETILEOPS_H
