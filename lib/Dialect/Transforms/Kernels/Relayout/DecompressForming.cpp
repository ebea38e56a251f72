//===- DecompressForming.cpp - Launches of decompress ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Launch/LaunchForming.h"
#include "Kernels/Launch/OpForming.h"
#include "Kernels/Relayout/DecompressKernel.h"
#include "Launch/KernelPurpose.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

FormedResults blockscale::formDecompress(RewriterBase &rewriter,
                                         SymbolTableCollection &symbols,
                                         DecompressOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (!type || !findGpu(op) || !op->getParentOfType<func::FuncOp>())
    return SmallVector<Value>();
  constexpr unsigned kByte = 8;
  unsigned bits = getFormatInfo(*getElementFormat(type.getElementType())).bits;
  bool isPair = op.getUnits().unit == 2;
  auto unpack = op.getElements().getDefiningOp<UnpackOp>();
  if (isPair ? 2 * bits != kByte || !unpack : bits == kByte / 2)
    return SmallVector<Value>();

  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getMetadata());
  SmallVector<OpFoldResult> resultSizes = sizes;
  constexpr int64_t kBytesOfMetadata = 8;
  AffineExpr d0 = rewriter.getAffineDimExpr(0);
  resultSizes.back() = affine::makeComposedFoldedAffineApply(
      rewriter, loc, d0 * kBytesOfMetadata, {sizes.back()});
  // Packed pairs stay packed: who does not pack the result reads it through an
  // `unpack`.
  Value elements = op.getElements();
  RankedTensorType resultType = type;
  if (isPair) {
    elements = unpack.getSource();
    SmallVector<int64_t> shape(type.getShape());
    if (!ShapedType::isDynamic(shape.back()))
      shape.back() /= 2;
    resultType = RankedTensorType::get(shape, rewriter.getI8Type());
  }
  FailureOr<LaunchOp> launch = formLaunch(
      rewriter, symbols, op, kDecompressPurpose, {elements, op.getMetadata()},
      makeEmpty(rewriter, loc, resultType, resultSizes),
      getDecompressKernelShape(), getHostSizes(rewriter, sizes),
      [&](gpu::GPUFuncOp kernel) { buildDecompressKernel(kernel, op); });
  if (failed(launch))
    return failure();
  Value result = launch->getResult(0);
  if (isPair) {
    for (Operation *user : op.getResult().getUsers())
      if (auto pack = dyn_cast<PackOp>(user);
          pack && pack.getType() == resultType)
        rewriter.replaceAllUsesWith(pack.getResult(), result);
    result = UnpackOp::create(rewriter, loc, type, result);
  }
  rewriter.replaceAllUsesWith(op.getResult(), result);
  return SmallVector<Value>{result};
}
