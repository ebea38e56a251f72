//===- KernelParameters.h - Parameters of kernels ---------------*- C++ -*-===//
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

/// The attribute of a kernel with the positions of the parameters that are
/// tensor maps.
inline constexpr StringLiteral kTensorMapParamsAttrName =
    "blockscale.tensor_map_params";

/// The copies, beside kernels, of constants of the host.
using GlobalMap = DenseMap<Operation *, memref::GlobalOp>;

/// The packed arguments whose rows a kernel checks: a row must end with a whole
/// byte.
enum class RowChecks {
  None,
  /// Those whose sizes are passed to it anyway.
  Passed,
  /// Those with a dynamic size, which is passed to it for that.
  All
};

/// Gives `kernel`, which only `launch` launches, parameters that are whole
/// buffers, scalars or dynamic sizes of the arguments of `function`. With
/// `takesAll`, all arguments of `function` come first, then all sizes. Views of
/// buffers, sizes and constants move into the kernel. So do `checks`, to its
/// start, together with `rowChecks`. Emits an error on failure.
LogicalResult rewriteKernelParameters(func::FuncOp function,
                                      gpu::LaunchFuncOp launch,
                                      gpu::GPUFuncOp kernel, GlobalMap &globals,
                                      bool takesAll,
                                      ArrayRef<cf::AssertOp> checks,
                                      RowChecks rowChecks);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_KERNELPARAMETERS_H
