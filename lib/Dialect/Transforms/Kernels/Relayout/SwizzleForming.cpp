//===- SwizzleForming.cpp - Launches of scale swizzle kernels -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Swizzles that a quantize kernel does itself are left to it.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Relayout/SwizzleForming.h"

#include "Kernels/Launch/LaunchForming.h"
#include "Launch/KernelPurpose.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

FailureOr<SmallVector<Value>>
blockscale::formSwizzle(RewriterBase &rewriter, SymbolTableCollection &symbols,
                        SwizzleScalesOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto resultType = dyn_cast<RankedTensorType>(op.getType());
  if (!type || !resultType || !op->getParentOfType<func::FuncOp>())
    return SmallVector<Value>();
  Value source = op.getSource();
  // The kernel that makes the scales may fuse it: that is decided there.
  if (auto quantize = source.getDefiningOp<QuantizeOp>();
      quantize && source.hasOneUse())
    return SmallVector<Value>();
  unsigned rank = type.getRank();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, op.getLoc(), op.getSource());
  HostSizes hostSizes = {sizes[rank - 2], sizes[rank - 1],
                         rank == 3 ? sizes[0]
                                   : OpFoldResult(rewriter.getIndexAttr(1))};
  KernelShape shape = getSwizzleKernelShape();
  FailureOr<SmallVector<OpFoldResult>> blocks =
      getBlocks(rewriter, op, shape, hostSizes);
  if (failed(blocks))
    return failure();
  gpu::GPUFuncOp kernel = makeKernel(
      rewriter, symbols, op, kSwizzleScalesPurpose, source, resultType, shape);
  buildSwizzleKernel(kernel);
  Value empty = makeEmpty(rewriter, op.getLoc(), resultType,
                          getSwizzledSizes(rewriter, op.getLoc(), sizes));
  LaunchOp launch = createLaunch(rewriter, op.getLoc(), kernel, source, empty,
                                 shape, *blocks);
  rewriter.replaceAllUsesWith(op->getResults(), launch->getResults());
  return SmallVector<Value>(launch->getResults());
}
