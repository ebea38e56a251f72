//===- PrepareKernels.h - What comes before kernels -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two steps before the walk: assert what kernels rely on, and pack quantized
// fp4.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_PREPAREKERNELS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_PREPAREKERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::blockscale {

/// Asserts, in functions of `module`, what kernels rely on and verifiers cannot
/// know: the divisors of dynamic sizes, and that the sizes of one op agree.
/// Fails after an error if static sizes do not.
LogicalResult checkSizes(ModuleOp module);

/// Packs the fp4 elements of each `quantize` in functions of `module`, and
/// unpacks them for their users. Kernels look through the unpack.
void packQuantizedElements(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_PREPAREKERNELS_H
