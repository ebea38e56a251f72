//===- HostSizes.h - Sizes of a GEMM on the host ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// M, N, K and the batch, as constants or values.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_HOSTSIZES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_HOSTSIZES_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::blockscale {

/// The sizes of the problem of one kernel, on the host.
struct HostSizes {
  OpFoldResult m, n, batch;
  OpFoldResult k = {};
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_HOSTSIZES_H
