//===- Pipes.h - What carries out instructions ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which part of a SM an instruction of a warp takes. What ptxas
// makes of PTX is more or less: moves between registers vanish, addresses of 64
// bits take two instructions. It is for estimates.
//
// Source: CUDA C++ Programming Guide, "Throughput of Native Arithmetic
// Instructions".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_PIPES_H
#define BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_PIPES_H

#include "Translation/Code.h"

namespace mlir::blockscale::sim {

Pipe getPipe(const PtxInstruction &instruction);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_PIPES_H
