//===- WarpgroupMultiply.h - wgmma.mma_async --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPMULTIPLY_H
#define BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPMULTIPLY_H

#include "Translation/Code.h"
#include "Wgmma/WarpgroupForm.h"

namespace mlir::blockscale::sim {

class Warp;

/// Operands: registers of D, then the registers or the descriptor of A, the
/// descriptor of B, and the predicate scale-d. The form is a WarpgroupForm.
void executeWarpgroupMultiply(Warp &warp, const Step &step);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPMULTIPLY_H
