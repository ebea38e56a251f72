//===- PrepareKernels.h - What comes before kernels -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_PREPAREKERNELS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_PREPAREKERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::blockscale {

/// Asserts, in functions of `module`, what kernels rely on and verifiers cannot
/// know: what divides dynamic sizes, and that those of one op fit each other.
/// Fails after an error where sizes are known and do not.
LogicalResult checkSizes(ModuleOp module);

/// Has codes of fp4 that functions of `module` quantise packed, and unpacked
/// for their users, whose kernels read through that.
void packQuantizedCodes(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_PREPAREKERNELS_H
