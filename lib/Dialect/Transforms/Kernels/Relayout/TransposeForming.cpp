//===- TransposeForming.cpp - Launches of transposes ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only transposes that nobody reads through are still there: those of results,
// and of operands that kernels need in another order.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Launch/LaunchForming.h"
#include "Kernels/Launch/OpForming.h"
#include "Kernels/Relayout/TransposeKernel.h"
#include "Launch/KernelPurpose.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

FormedResults blockscale::formTranspose(RewriterBase &rewriter,
                                        SymbolTableCollection &symbols,
                                        linalg::TransposeOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
  if (!type || type.getRank() != 2 || op.getPermutation()[0] != 1 ||
      !findGpu(op) || op->getNumResults() != 1 ||
      llvm::is_contained(type.getShape(), 0))
    return SmallVector<Value>();
  constexpr unsigned kBits[] = {8, 16, 32};
  Type element = type.getElementType();
  if (!element.isIntOrFloat() ||
      !llvm::is_contained(kBits, element.getIntOrFloatBitWidth()))
    return SmallVector<Value>();
  // Ops that have no kernel become loops, which read through it.
  if (llvm::all_of(op->getUsers(), [](Operation *user) {
        return isa<linalg::LinalgOp>(user) ||
               (isa_and_nonnull<BlockScaleDialect>(user->getDialect()) &&
                !isa<LaunchOp>(user));
      }))
    return SmallVector<Value>();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, op.getLoc(), op.getInput());
  return replaceByLaunch(rewriter, symbols, op, kTransposePurpose,
                         op.getInput(), {sizes[1], sizes[0]},
                         getTransposeKernelShape(),
                         getHostSizes(rewriter, sizes), buildTransposeKernel);
}
