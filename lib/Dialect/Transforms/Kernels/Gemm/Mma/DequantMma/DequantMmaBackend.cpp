//===- DequantMmaBackend.cpp - Kernels of the path dequant_mma ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While the warps of one block convert codes, those of another one multiply:
// two blocks share a SM where its shared memory allows. What is not
// exact is computed again for a tile along K, which is small for that. Where
// there are few rows, reading the weights is all that takes time: K is divided,
// so that all SMs have loads under way.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/MultistageKernel.h"

using namespace mlir;
using namespace mlir::blockscale;

const KernelBackend &blockscale::getDequantMmaBackend() {
  static const MultistageBackend backend({/*mostStages=*/3, /*wantedBlocks=*/2,
                                          /*mostK=*/128, /*dividesK=*/true});
  return backend;
}
