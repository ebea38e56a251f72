//===- SourceLines.h - Lines of the source in messages ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_LAUNCH_SOURCELINES_H
#define BLOCKSCALE_LIB_SIMULATOR_LAUNCH_SOURCELINES_H

#include "Ptx/Ast.h"

namespace mlir::blockscale::sim {

/// Adds the line of the source to each line of the PTX text in a message: `line
/// 12 (gemm.cu:7)`.
std::string addSourceLines(const std::string &message, const Module &module);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_LAUNCH_SOURCELINES_H
