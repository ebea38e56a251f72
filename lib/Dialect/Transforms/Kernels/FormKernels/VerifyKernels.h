//===- VerifyKernels.h - All products have kernels --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The post-condition of form-kernels.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_VERIFYKERNELS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_VERIFYKERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::blockscale {

/// Checks that no product is left in functions of `module` that should have a
/// kernel. Reports an error about the first one, unless the walk has reported
/// one.
LogicalResult verifyAllFormed(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_VERIFYKERNELS_H
