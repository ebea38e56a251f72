//===- KernelWalk.h - The walk that forms kernels ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_KERNELWALK_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_KERNELWALK_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::blockscale {

/// Gives each product with a path, each `quantize`, `dequantize` and
/// `swizzle_scales` on tensors, and each reduction and softmax along rows in
/// functions of `module`, a kernel, or makes it part of another one's.
///
/// The walk is in reverse program order: functions, blocks and ops from the
/// last to the first, an op before what its regions hold. So each op comes
/// after all that uses its results, and:
/// * What its users read through (transposes, `unpack`) and nobody else needs
///   is gone by then: an op without uses is erased.
/// * It is known whether one op alone uses its results, which the kernel takes
///   over if it can. What a kernel may take over was left for it when the walk
///   came there, and gets a kernel of its own if it is not taken.
/// * What its own kernel needs made first (swizzled scales) comes next.
/// Each op is looked at once, but for one that was left.
///
/// Goes on after an error, and fails then.
LogicalResult formKernels(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_KERNELWALK_H
