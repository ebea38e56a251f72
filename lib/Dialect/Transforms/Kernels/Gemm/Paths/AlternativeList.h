//===- AlternativeList.h - Alternatives of a product ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PATHS_ALTERNATIVELIST_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PATHS_ALTERNATIVELIST_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// The alternatives in the attribute of `op`, none without it. Fails after an
/// error if they are not in order, are not all of one kernel, or if that kernel
/// cannot compute `op` on `chip`.
FailureOr<SmallVector<AlternativeAttr>> readAlternatives(ProductOpInterface op,
                                                         const Chip &chip);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PATHS_ALTERNATIVELIST_H
