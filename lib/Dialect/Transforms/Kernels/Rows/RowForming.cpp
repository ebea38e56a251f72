//===- RowForming.cpp - Ops along rows that have kernels ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread for each result, which loops are, reads rows one element at a time,
// each from another line of memory than its neighbors. Here neighbors read
// neighbors.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Rows/RowForming.h"

#include "Kernels/ElementwiseFusion.h"
#include "Kernels/LaunchForming.h"
#include "Kernels/Rows/RowProblem.h"
#include "Launch/KernelPurpose.h"
#include "Utils/CheckMessage.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;
using utils::IteratorType;

/// Numbers of a row that a warp is worth, and those that are no longer few for
/// a warp.
static constexpr int64_t kShortest = kWarpLanes, kLongest = 1024;

//===----------------------------------------------------------------------===//
// What has a kernel
//===----------------------------------------------------------------------===//

/// The static sizes of the loops of a kind.
static SmallVector<int64_t> getSizes(linalg::LinalgOp op, IteratorType kind) {
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
      !isPlainOnMemory(op) || !findJoin(op))
    return false;
  // Each result is at a place of its own.
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap map = op.getMatchingIndexingMap(init);
  if (!map.isProjectedPermutation() ||
      map.getNumResults() != op.getNumParallelLoops() ||
      llvm::is_contained(op.getDpsInputs(), init->get()))
    return false;
  int64_t length = multiplySizes(getSizes(op, IteratorType::reduction));
  int64_t rows = multiplySizes(getSizes(op, IteratorType::parallel));
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
    Value isSame = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         getSize(op.getInput(), dim),
                                         getSize(op.getOutput(), dim));
    cf::AssertOp::create(
        builder, loc, isSame,
        getCheckMessage(op, "expected size " + Twine(dim) +
                                " of the input and of the output to be equal"));
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The product of sizes, of the host.
static OpFoldResult multiply(OpBuilder &b, Location loc,
                             ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> known;
  for (OpFoldResult size : sizes)
    known.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  int64_t product = multiplySizes(known);
  if (!ShapedType::isDynamic(product))
    return b.getIndexAttr(product);
  SmallVector<Value> values;
  for (OpFoldResult size : sizes)
    values.push_back(getValueOrCreateConstantIndexOp(b, loc, size));
  return emitProduct(b, loc, values);
}

static bool isForGpu(Operation *op) {
  if (!op->getParentOfType<func::FuncOp>())
    return false;
  FailureOr<TargetAttr> target = lookupTarget(op);
  return succeeded(target) && *target && !(*target).getChip()->isCpu();
}

/// Replaces `op` by a launch of a kernel that takes `inputs` and whose rows
/// are `rows`.
static LogicalResult replaceByLaunch(PatternRewriter &rewriter, Operation *op,
                                     StringRef purpose, const RowPlan &plan,
                                     ValueRange inputs, OpFoldResult rows,
                                     ArrayRef<OpFoldResult> sizes,
                                     function_ref<void(gpu::GPUFuncOp)> build) {
  Location loc = op->getLoc();
  OpFoldResult one = rewriter.getIndexAttr(1);
  KernelShape shape = plan.getShape();
  FailureOr<SmallVector<OpFoldResult>> blocks =
      getBlocks(rewriter, op, shape, {rows, one, one});
  if (failed(blocks))
    return failure();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  gpu::GPUFuncOp kernel =
      makeKernel(rewriter, op, purpose, inputs, type, shape);
  build(kernel);
  Value empty = makeEmpty(rewriter, loc, type, sizes);
  rewriter.replaceOp(
      op, createLaunch(rewriter, loc, kernel, inputs, empty, shape, *blocks));
  return success();
}

/// The constant that fills `value`; null if there is none.
static Operation *getFilling(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return nullptr;
  Value scalar = fill.getDpsInputs().front();
  bool isElement = scalar.getType() == getElementTypeOrSelf(value.getType());
  return isElement && matchPattern(scalar, m_Constant())
             ? scalar.getDefiningOp()
             : nullptr;
}

namespace {

struct FormReduce final : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    auto loops = cast<linalg::LinalgOp>(op.getOperation());
    if (!isForGpu(op) || !isRowReduction(loops))
      return rewriter.notifyMatchFailure(op, "expected a reduction along rows, "
                                             "in a function for a GPU");
    ReduceProblem problem = {
        op,
        getRowPlan(multiplySizes(getSizes(loops, IteratorType::reduction)),
                   multiplySizes(getSizes(loops, IteratorType::parallel)),
                   kLongest),
        {}};
    Value init = op.getDpsInits().front();
    problem.start = getFilling(init);
    for (OpOperand *operand : getUsedOperands(op))
      if (operand->get() != init || !problem.start)
        problem.inputs.insert(operand->get());
    for (Value scalar : getCapturedScalars(op))
      problem.inputs.insert(scalar);
    if (!problem.hasSizes())
      return rewriter.notifyMatchFailure(op, "expected operands that tell how "
                                             "long the loops are");

    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op.getLoc(), init);
    return replaceByLaunch(
        rewriter, op, kReducePurpose, problem.plan,
        problem.inputs.getArrayRef(), multiply(rewriter, op.getLoc(), sizes),
        sizes, [&](gpu::GPUFuncOp kernel) { buildReduce(kernel, problem); });
  }
};

struct FormSoftmax final : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    if (!isForGpu(op) || !isRowSoftmax(op))
      return rewriter.notifyMatchFailure(op, "expected one along the last "
                                             "dimension, in a function for a "
                                             "GPU");
    auto type = cast<RankedTensorType>(op.getInput().getType());
    SoftmaxProblem problem = {
        type, getRowPlan(type.getShape().back(),
                         multiplySizes(type.getShape().drop_back()),
                         getLongestSoftmaxOfWarp())};
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op.getLoc(), op.getInput());
    return replaceByLaunch(
        rewriter, op, kSoftmaxPurpose, problem.plan, op.getInput(),
        multiply(rewriter, op.getLoc(), ArrayRef(sizes).drop_back()), sizes,
        [&](gpu::GPUFuncOp kernel) { buildSoftmax(kernel, problem); });
  }
};

} // namespace

void blockscale::populateFormRowsPatterns(RewritePatternSet &patterns) {
  patterns.add<FormReduce, FormSoftmax>(patterns.getContext());
}
