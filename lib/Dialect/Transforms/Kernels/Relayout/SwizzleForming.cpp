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

#include "Kernels/Launch/OpForming.h"

#include "Kernels/Launch/LaunchForming.h"
#include "Launch/KernelPurpose.h"
#include "blockscale/Support/ScaleLayout.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

FormedResults blockscale::formSwizzle(RewriterBase &rewriter,
                                      SymbolTableCollection &symbols,
                                      SwizzleScalesOp op) {
  if (!isa<RankedTensorType>(op.getSource().getType()) ||
      !isa<RankedTensorType>(op.getType()) ||
      !op->getParentOfType<func::FuncOp>())
    return SmallVector<Value>();
  Value source = op.getSource();
  // The kernel that makes the scales may fuse it: that is decided there.
  if (auto quantize = source.getDefiningOp<QuantizeOp>();
      quantize && source.hasOneUse())
    return SmallVector<Value>();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, op.getLoc(), source);
  return replaceByLaunch(rewriter, symbols, op, kSwizzleScalesPurpose, source,
                         getSwizzledSizes(rewriter, op.getLoc(), sizes),
                         getSwizzleKernelShape(), getHostSizes(rewriter, sizes),
                         buildSwizzleKernel);
}

FormedResults blockscale::formSwizzleGroups(RewriterBase &rewriter,
                                            SymbolTableCollection &symbols,
                                            SwizzleGroupScalesOp op) {
  if (!findGpu(op))
    return SmallVector<Value>();
  Location loc = op.getLoc();
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(rewriter, shapes)))
    return failure();
  AffineExpr d0 = rewriter.getAffineDimExpr(0);
  HostSizes sizes = {
      affine::makeComposedFoldedAffineApply(rewriter, loc, d0 * kScaleAtomRows,
                                            shapes.front().front()),
      tensor::getMixedSize(rewriter, loc, op.getSource(), 1),
      rewriter.getIndexAttr(1)};
  return replaceByLaunch(
      rewriter, symbols, op, kSwizzleScalesPurpose, op->getOperands(),
      shapes.front(), getSwizzleKernelShape(), sizes, buildSwizzleGroupsKernel);
}
