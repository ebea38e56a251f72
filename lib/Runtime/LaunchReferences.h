//===- LaunchReferences.h - Arguments that name others ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_LAUNCHREFERENCES_H
#define BLOCKSCALE_LIB_RUNTIME_LAUNCHREFERENCES_H

#include "blockscale/Runtime/LaunchArguments.h"

namespace mlir::blockscale {

/// Checks that tensors and addresses are within their buffers, which are
/// loaded. An address may be one past the last byte.
Error checkBufferPositions(const std::vector<LaunchArgument> &arguments);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_LAUNCHREFERENCES_H
