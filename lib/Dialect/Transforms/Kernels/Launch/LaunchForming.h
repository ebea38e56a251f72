//===- LaunchForming.h - From problems to launches --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels without bodies, their grids, and the ops that launch them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_LAUNCH_LAUNCHFORMING_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_LAUNCH_LAUNCHFORMING_H

#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

/// The grid of a kernel; fails after an error if no chip has one as large (PTX
/// ISA, "%nctaid"). Dynamic sizes are left to the launch.
FailureOr<SmallVector<OpFoldResult>> getBlocks(OpBuilder &builder,
                                               Operation *op,
                                               const KernelShape &shape,
                                               const HostSizes &sizes);

/// A kernel without a body, for `op` in a function. Its parameters are the
/// memory of `inputs`, then that of results of these types. `symbols` gives it
/// a unique name.
gpu::GPUFuncOp makeKernel(OpBuilder &builder, SymbolTableCollection &symbols,
                          Operation *op, StringRef purpose, ValueRange inputs,
                          TypeRange results, const KernelShape &shape);

/// An empty tensor of `type`, the sizes of which are `sizes`.
Value makeEmpty(OpBuilder &builder, Location loc, RankedTensorType type,
                ArrayRef<OpFoldResult> sizes);

/// A launch of `kernel` that writes `outputs`. With an i1 `condition`, it has
/// no blocks, and leaves `outputs` as they are, if that is false.
LaunchOp createLaunch(OpBuilder &builder, Location loc, gpu::GPUFuncOp kernel,
                      ValueRange inputs, ValueRange outputs,
                      const KernelShape &shape, ArrayRef<OpFoldResult> blocks,
                      Value condition = {});

/// The chip of `op`, in a function for a GPU; else null.
const Chip *findGpu(Operation *op);

/// A launch, for `op` in a function, of a kernel that `build` fills in. `sizes`
/// are those of its problem. Fails after an error.
FailureOr<LaunchOp> formLaunch(RewriterBase &rewriter,
                               SymbolTableCollection &symbols, Operation *op,
                               StringRef purpose, ValueRange inputs,
                               ValueRange outputs, const KernelShape &shape,
                               const HostSizes &sizes,
                               function_ref<void(gpu::GPUFuncOp)> build);

/// Replaces the result of `op` by that of such a launch; returns what replaces
/// it.
FailureOr<SmallVector<Value>>
replaceByLaunch(RewriterBase &rewriter, SymbolTableCollection &symbols,
                Operation *op, StringRef purpose, ValueRange inputs,
                ArrayRef<OpFoldResult> resultSizes, const KernelShape &shape,
                const HostSizes &sizes,
                function_ref<void(gpu::GPUFuncOp)> build);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_LAUNCH_LAUNCHFORMING_H
