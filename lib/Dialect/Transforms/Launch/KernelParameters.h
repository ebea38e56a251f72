//===- KernelParameters.h - What kernels are passed -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_KERNELPARAMETERS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_KERNELPARAMETERS_H

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::blockscale {

/// The attribute of a kernel with the numbers of the parameters that are tensor
/// maps.
inline constexpr StringLiteral kTensorMapParamsAttrName =
    "blockscale.tensor_map_params";

/// The copies, beside kernels, of constants of the host.
using GlobalMap = DenseMap<Operation *, memref::GlobalOp>;

/// Which rows of packed arguments a kernel checks: that they end on a byte.
enum class RowChecks {
  None,
  /// Those whose sizes it is passed.
  Passed,
  /// Those of all dynamic sizes, which it is passed for that.
  All
};

/// Gives `kernel`, which `launch` alone launches, parameters that are whole
/// buffers, scalars or dynamic sizes of the arguments of `function`. With
/// `takesAll`, all arguments of `function` come first, then all sizes. Views of
/// buffers, sizes and constants move into the kernel, and with them `checks`,
/// which run before all else, as `rowChecks` do. Fails after an error.
LogicalResult rewriteKernelParameters(func::FuncOp function,
                                      gpu::LaunchFuncOp launch,
                                      gpu::GPUFuncOp kernel, GlobalMap &globals,
                                      bool takesAll,
                                      ArrayRef<cf::AssertOp> checks,
                                      RowChecks rowChecks);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_KERNELPARAMETERS_H
