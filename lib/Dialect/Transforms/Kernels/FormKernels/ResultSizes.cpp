//===- ResultSizes.cpp - Sizes of results that get kernels ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/Steps.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The ops that ask for dimension `dim` of a value, for each dimension.
static SmallVector<SmallVector<tensor::DimOp>> findDims(OpResult result) {
  SmallVector<SmallVector<tensor::DimOp>> dims;
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type)
    return dims;
  for (Operation *user : result.getUsers()) {
    auto dim = dyn_cast<tensor::DimOp>(user);
    std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
    if (!index || *index < 0 || *index >= type.getRank())
      continue;
    dims.resize(type.getRank());
    dims[*index].push_back(dim);
  }
  return dims;
}

void blockscale::resolveResultSizes(RewriterBase &rewriter, Operation *op) {
  auto shaped = dyn_cast<ReifyRankedShapedTypeOpInterface>(op);
  if (!shaped)
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  for (OpResult result : op->getResults()) {
    SmallVector<SmallVector<tensor::DimOp>> dims = findDims(result);
    if (dims.empty())
      continue;
    FailureOr<SmallVector<OpFoldResult>> sizes =
        shaped.reifyShapeOfResult(rewriter, result.getResultNumber());
    if (failed(sizes))
      continue;
    for (auto [size, asking] : llvm::zip_equal(*sizes, dims)) {
      if (asking.empty())
        continue;
      Value value =
          getValueOrCreateConstantIndexOp(rewriter, op->getLoc(), size);
      for (tensor::DimOp dim : asking)
        rewriter.replaceOp(dim, value);
    }
  }
}

LogicalResult blockscale::foldSizes(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  if (succeeded(applyPatternsGreedily(module, std::move(patterns))))
    return success();
  return emitError(module.getLoc(), "sizes did not converge");
}
