//===- KernelWalk.h - The walk that forms kernels ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion as one explicit walk, not as the order of a pattern driver's work
// list.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_KERNELWALK_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_KERNELWALK_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::blockscale {

/// Gives each product with a path, each `quantize`, `dequantize` and
/// `swizzle_scales` on tensors, and each reduction and softmax along rows in
/// functions of `module`, a kernel, or fuses it into the kernel of another op.
/// The walk is in reverse program order: functions, blocks and ops from the
/// last to the first, an op before the ops in its regions. So it reaches each
/// op after all users of its results, and:
/// * Ops that its users have looked through (transposes, `unpack`) and that
///   nothing else needs are gone by then: an op without uses is erased.
/// * It is known whether its results have one user only, which the kernel fuses
///   if it can. The walk left that user without a kernel when it came there; it
///   gets a kernel of its own if it is not fused.
/// * Ops that its own kernel needs in front (swizzled scales) come next. Each
///   op is visited once, but for one that was left for fusion. After an error
///   the walk goes on, and fails at the end.
LogicalResult formKernels(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_KERNELWALK_H
