//===- ElementwiseFusion.h - Elementwise ops around a GEMM ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion of elementwise ops: the one that makes C (prologue of the
// accumulator), and the one behind the GEMM (epilogue).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_ELEMENTWISEFUSION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_ELEMENTWISEFUSION_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::blockscale {

/// Whether a kernel can compute the elements of `op`, on tensors, one at a
/// time: it reads and writes whole elements of memory at indices that are loops
/// or constants, and its body is arithmetic.
bool isElementwiseOnMemory(linalg::LinalgOp op);

/// The elementwise op that makes the accumulator of `op` and has no other use;
/// null if there is none that a kernel can fuse.
linalg::GenericOp findElementwiseProducer(ProductOpInterface op);

/// The elementwise op that is the only user of the result of `op`; null if
/// there is none that a kernel can fuse.
linalg::GenericOp findElementwiseConsumer(ProductOpInterface op);

/// The elementwise op that is the only user of the result of `op`, T x N, and
/// combines each column of it with the one kPairDistance behind it, as gated
/// activations do: its operands are two uses of the result, expanded to
/// T x N / 16 x 2 x 8, of which it reads element (t, b, 0, c) and (t, b, 1, c)
/// for element (t, b, c) of its own result. Others are scalars. Null if there
/// is none that a kernel can fuse.
linalg::GenericOp findPairConsumer(ProductOpInterface op);

/// The result of `consumer`, a findPairConsumer, as a matrix: its columns in
/// one dimension. Null if it has another use.
Value findJoinedPairs(linalg::GenericOp consumer);

/// The `quantize` of `result` in whole blocks, if other ops ask only for sizes
/// of `result`; null if there is none that a kernel can fuse.
QuantizeOp findQuantizer(Value result);

/// The product whose kernel may fuse `op`, directly or behind an elementwise
/// op, which may combine pairs of columns; null if there is none.
ProductOpInterface findProductOf(QuantizeOp op);

/// The operands of such an op whose elements its body reads.
SmallVector<OpOperand *> getUsedOperands(linalg::GenericOp op);

/// The scalars, other than constants, that its body captures.
SetVector<Value> getCapturedScalars(linalg::GenericOp op);

/// Emits the body of `op` for the element at `position`, one index for each
/// loop. `getInput` loads its inputs: the element of a tensor at `indices`, or
/// a scalar, without indices.
Value emitElement(
    OpBuilder &builder, linalg::GenericOp op, ArrayRef<Value> position,
    function_ref<Value(OpBuilder &, Value, ArrayRef<Value> indices)> getInput);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_ELEMENTWISEFUSION_H
