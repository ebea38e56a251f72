//===- MmaSyncBackend.cpp - Kernels of the path mma_sync ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its instructions leave little to do between them: one block on a
// multiprocessor, with as many stages as there is room for, keeps them busy.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Warps/WarpsKernel.h"

using namespace mlir;
using namespace mlir::blockscale;

const KernelBackend &blockscale::getMmaSyncBackend() {
  static const WarpsBackend backend({/*mostStages=*/4, /*wantedBlocks=*/1,
                                     /*mostK=*/1024});
  return backend;
}
