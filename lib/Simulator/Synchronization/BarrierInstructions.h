//===- BarrierInstructions.h - Families of barrier --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_BARRIERINSTRUCTIONS_H
#define BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_BARRIERINSTRUCTIONS_H

#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

/// Checks that all lanes that have not exited arrive together; a warp counts as
/// a whole. False after a failure, and if other lanes have to run first.
bool requireConverged(Warp &warp, bool isAligned);

/// barrier.cluster: ClusterInstructions.cpp.
void translateClusterBarrier(Translator &t, Modifiers &modifiers);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_BARRIERINSTRUCTIONS_H
