//===- RoutingForming.cpp - Launches around grouped products --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Launch/OpForming.h"

#include "Kernels/Launch/LaunchForming.h"
#include "Kernels/Routing/RoutingKernels.h"
#include "Launch/KernelPurpose.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Replaces the results of `op`, all of them tensors, by those of a launch.
template <typename Op>
static FormedResults
replaceResults(RewriterBase &rewriter, SymbolTableCollection &symbols, Op op,
               StringRef purpose, ValueRange inputs, const KernelShape &shape,
               const HostSizes &sizes,
               function_ref<void(gpu::GPUFuncOp)> build) {
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(rewriter, shapes)))
    return failure();
  SmallVector<Value> outputs;
  for (auto [result, shapeOf] : llvm::zip_equal(op->getResults(), shapes))
    outputs.push_back(makeEmpty(rewriter, op.getLoc(),
                                cast<RankedTensorType>(result.getType()),
                                shapeOf));
  FailureOr<LaunchOp> launch = formLaunch(rewriter, symbols, op, purpose,
                                          inputs, outputs, shape, sizes, build);
  if (failed(launch))
    return failure();
  rewriter.replaceAllUsesWith(op->getResults(), (*launch)->getResults());
  return SmallVector<Value>((*launch)->getResults());
}

FormedResults blockscale::formRoute(RewriterBase &rewriter,
                                    SymbolTableCollection &symbols,
                                    RouteOp op) {
  if (!findGpu(op))
    return SmallVector<Value>();
  auto type = cast<RankedTensorType>(op.getLogits().getType());
  // A row is short: a warp has one.
  RowWisePlan plan =
      getRowWisePlan(/*length=*/1, type.getDimSize(0), /*longest=*/1);
  OpFoldResult one = rewriter.getIndexAttr(1);
  HostSizes sizes = {
      tensor::getMixedSize(rewriter, op.getLoc(), op.getLogits(), 0), one, one};
  return replaceResults(
      rewriter, symbols, op, kRoutePurpose, op.getLogits(), plan.getShape(),
      sizes, [&](gpu::GPUFuncOp kernel) { buildRoute(kernel, op, plan); });
}

FormedResults blockscale::formSortRoutes(RewriterBase &rewriter,
                                         SymbolTableCollection &symbols,
                                         SortRoutesOp op) {
  if (!findGpu(op))
    return SmallVector<Value>();
  OpFoldResult one = rewriter.getIndexAttr(1);
  return replaceResults(rewriter, symbols, op, kSortRoutesPurpose, op.getIds(),
                        getSortRoutesShape(), {one, one, one}, buildSortRoutes);
}

FormedResults blockscale::formCombineRows(RewriterBase &rewriter,
                                          SymbolTableCollection &symbols,
                                          CombineRowsOp op) {
  if (!findGpu(op))
    return SmallVector<Value>();
  Location loc = op.getLoc();
  HostSizes sizes = {tensor::getMixedSize(rewriter, loc, op.getPositions(), 0),
                     tensor::getMixedSize(rewriter, loc, op.getSource(), 1),
                     rewriter.getIndexAttr(1)};
  return replaceResults(
      rewriter, symbols, op, kCombineRowsPurpose, op->getOperands(),
      getCombineRowsShape(), sizes,
      [&](gpu::GPUFuncOp kernel) { buildCombineRows(kernel, op); });
}
