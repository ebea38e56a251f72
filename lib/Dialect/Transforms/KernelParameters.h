//===- KernelParameters.h - What kernels are passed ----------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELPARAMETERS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELPARAMETERS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::blockscale {

/// The copies, beside kernels, of constants of the host.
using GlobalMap = DenseMap<Operation *, memref::GlobalOp>;

/// Gives `kernel`, which `launch` alone launches, parameters that are whole
/// buffers or scalars: `buffers` first, then what else it uses. Views of
/// buffers and constants move into the kernel. Fails after an error.
LogicalResult rewriteKernelParameters(gpu::LaunchFuncOp launch,
                                      gpu::GPUFuncOp kernel, GlobalMap &globals,
                                      ValueRange buffers);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELPARAMETERS_H
