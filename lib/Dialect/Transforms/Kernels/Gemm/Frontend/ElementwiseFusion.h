//===- ElementwiseFusion.h - Around an mma_scaled ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_ELEMENTWISEFUSION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_ELEMENTWISEFUSION_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::blockscale {

/// Whether elements of `op`, on tensors, can be computed one at a time in a
/// kernel: what it reads and writes is as memory holds it, at indices that are
/// loops or constants, and its body is arithmetic.
bool isPlainOnMemory(linalg::LinalgOp op);

/// The op that makes the accumulator of `op` for nothing else, one element at a
/// time; null if there is none that a kernel can take over.
linalg::GenericOp findElementwiseProducer(ProductOpInterface op);

/// The only user of the result of `op`, which makes one element of its result
/// from each; null if there is none that a kernel can take over.
linalg::GenericOp findElementwiseConsumer(ProductOpInterface op);

/// What quantises whole blocks of `result`, of which others ask for sizes at
/// most; null if there is none that a kernel can take over.
QuantizeOp findQuantizer(Value result);

/// The product the kernel of which may take over `op`, behind an elementwise op
/// or not; null if there is none.
ProductOpInterface findProductOf(QuantizeOp op);

/// The operands of such an op that its body takes an element of.
SmallVector<OpOperand *> getUsedOperands(linalg::GenericOp op);

/// The scalars, other than constants, that its body takes from around it.
SetVector<Value> getCapturedScalars(linalg::GenericOp op);

/// Emits the body of `op` for the element at `position`, one index for each
/// loop. `getInput` gives what it takes: the element of a tensor at `indices`,
/// or a scalar, without indices.
Value emitElement(
    OpBuilder &builder, linalg::GenericOp op, ArrayRef<Value> position,
    function_ref<Value(OpBuilder &, Value, ArrayRef<Value> indices)> getInput);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_ELEMENTWISEFUSION_H
