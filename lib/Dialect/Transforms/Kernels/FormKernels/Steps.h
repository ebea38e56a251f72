//===- Steps.h - The steps of form-kernels ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before the walk, the pass asserts what kernels rely on and packs quantized
// fp4. Fusion is one explicit walk, not the order of a pattern driver's work
// list.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_STEPS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_STEPS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// Asserts, in functions of `module`, what kernels rely on and verifiers cannot
/// know: the divisors of dynamic sizes, and that the sizes of one op agree.
/// Fails after an error if static sizes do not.
LogicalResult checkSizes(ModuleOp module);

/// Packs the fp4 elements of each `quantize` in functions of `module`, and
/// unpacks them for their users. Kernels look through the unpack.
void packQuantizedElements(ModuleOp module);

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

/// Replaces each `tensor.dim` of a result of `op` by the sizes of operands that
/// it comes from, one value for each size, in front of `op`. A kernel may fuse
/// an op only if nothing else uses the value between the two, and an op that
/// asks for a size of that value must not count as a use.
void resolveResultSizes(RewriterBase &rewriter, Operation *op);

/// Folds `tensor.dim` of launches, and other size arithmetic, in `module`, up
/// to sizes of arguments.
LogicalResult foldSizes(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_STEPS_H
