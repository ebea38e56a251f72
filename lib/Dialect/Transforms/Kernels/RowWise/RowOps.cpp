//===- RowOps.cpp - Row-wise ops that have kernels ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/RowWise/RowOps.h"

#include "Kernels/Gemm/Frontend/ElementwiseFusion.h"
#include "Kernels/RowWise/RowWiseProblem.h"
#include "Utils/CheckMessage.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;
using utils::IteratorType;

/// The shortest row that is worth a warp.
static constexpr int64_t kShortest = kWarpLanes;

SmallVector<int64_t> blockscale::getLoopSizes(linalg::LinalgOp op,
                                              IteratorType kind) {
  SmallVector<int64_t> sizes;
  for (auto [size, iterator] :
       llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (iterator == kind)
      sizes.push_back(size);
  return sizes;
}

/// Whether neighbors along the last reduction loop are neighbors in memory, in
/// all that reductions read.
static bool isContiguous(linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  AffineExpr last = getAffineDimExpr(loops.back(), op->getContext());
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    bool isReduced = llvm::any_of(
        loops, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
    return !isReduced || map.getResults().back() == last;
  });
}

bool blockscale::isRowReduction(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op->getNumResults() != 1 || op.getNumReductionLoops() == 0 ||
      op.getNumReductionLoops() + op.getNumParallelLoops() !=
          op.getNumLoops() ||
      !isElementwiseOnMemory(op) || !findJoin(op))
    return false;
  // Each result has a position of its own.
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap map = op.getMatchingIndexingMap(init);
  if (!map.isProjectedPermutation() ||
      map.getNumResults() != op.getNumParallelLoops() ||
      llvm::is_contained(op.getDpsInputs(), init->get()))
    return false;
  int64_t length = multiplySizes(getLoopSizes(op, IteratorType::reduction));
  int64_t rows = multiplySizes(getLoopSizes(op, IteratorType::parallel));
  if (rows == 0 || (!ShapedType::isDynamic(length) && length < kShortest))
    return false;
  return isContiguous(op) || rows == 1;
}

bool blockscale::isRowSoftmax(linalg::SoftmaxOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
  return type && op->getNumResults() == 1 &&
         isa<RankedTensorType>(op.getOutput().getType()) &&
         !llvm::is_contained(type.getShape(), 0) &&
         static_cast<int64_t>(op.getDimension()) + 1 == type.getRank() &&
         isa<Float32Type, Float16Type, BFloat16Type>(type.getElementType());
}

void blockscale::checkSoftmaxSizes(linalg::SoftmaxOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto getSize = [&](Value of, int64_t dim) {
    return getValueOrCreateConstantIndexOp(
        builder, loc, tensor::getMixedSize(builder, loc, of, dim));
  };
  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto output = cast<RankedTensorType>(op.getOutput().getType());
  for (int64_t dim = 0; dim != input.getRank(); ++dim) {
    if (!input.isDynamicDim(dim) && !output.isDynamicDim(dim))
      continue;
    Value isSame = isEqual(builder, loc, getSize(op.getInput(), dim),
                           getSize(op.getOutput(), dim));
    cf::AssertOp::create(
        builder, loc, isSame,
        getCheckMessage(op, "expected size " + Twine(dim) +
                                " of the input and of the output to be equal"));
  }
}
