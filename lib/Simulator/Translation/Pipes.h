//===- Pipes.h - Pipes of instructions --------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipe of an SM that an instruction uses, for time estimates. The
// instructions that ptxas generates differ: moves between registers vanish, and
// 64-bit addresses take two instructions.
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
