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
