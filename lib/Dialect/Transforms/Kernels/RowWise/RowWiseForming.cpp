//===- RowWiseForming.cpp - Launches of row-wise kernels ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops would give each result to one thread, and neighbouring threads would
// read different cache lines. In these kernels neighbouring threads read
// neighbouring elements.
//
//===----------------------------------------------------------------------===//

#include "Kernels/RowWise/RowWiseForming.h"

#include "Kernels/Gemm/Frontend/ElementwiseFusion.h"
#include "Kernels/Launch/LaunchForming.h"
#include "Kernels/RowWise/RowOps.h"
#include "Kernels/RowWise/RowWiseProblem.h"
#include "Launch/KernelPurpose.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;
using utils::IteratorType;

/// A row of more elements is shared by the warps of a block.
static constexpr int64_t kLongest = 1024;

/// The product of sizes, on the host.
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

/// Replaces the result of `op` by that of a launch of a kernel that takes
/// `inputs` and whose rows are `rows`.
static FailureOr<SmallVector<Value>>
replaceByLaunch(RewriterBase &rewriter, SymbolTableCollection &symbols,
                Operation *op, StringRef purpose, const GemvPlan &plan,
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
      makeKernel(rewriter, symbols, op, purpose, inputs, type, shape);
  build(kernel);
  Value empty = makeEmpty(rewriter, loc, type, sizes);
  LaunchOp launch =
      createLaunch(rewriter, loc, kernel, inputs, empty, shape, *blocks);
  rewriter.replaceAllUsesWith(op->getResults(), launch->getResults());
  return SmallVector<Value>(launch->getResults());
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

FailureOr<SmallVector<Value>>
blockscale::formReduce(RewriterBase &rewriter, SymbolTableCollection &symbols,
                       linalg::GenericOp op) {
  auto loops = cast<linalg::LinalgOp>(op.getOperation());
  if (!isForGpu(op) || !isRowReduction(loops))
    return SmallVector<Value>();
  ReduceProblem problem = {
      op,
      getGemvPlan(multiplySizes(getLoopSizes(loops, IteratorType::reduction)),
                  multiplySizes(getLoopSizes(loops, IteratorType::parallel)),
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
    return SmallVector<Value>(); // No operand tells how long loops are.

  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, op.getLoc(), init);
  return replaceByLaunch(
      rewriter, symbols, op, kReducePurpose, problem.plan,
      problem.inputs.getArrayRef(), multiply(rewriter, op.getLoc(), sizes),
      sizes, [&](gpu::GPUFuncOp kernel) { buildReduce(kernel, problem); });
}

FailureOr<SmallVector<Value>>
blockscale::formSoftmax(RewriterBase &rewriter, SymbolTableCollection &symbols,
                        linalg::SoftmaxOp op) {
  if (!isForGpu(op) || !isRowSoftmax(op))
    return SmallVector<Value>();
  auto type = cast<RankedTensorType>(op.getInput().getType());
  SoftmaxProblem problem = {
      type, getGemvPlan(type.getShape().back(),
                        multiplySizes(type.getShape().drop_back()),
                        getLongestSoftmaxOfWarp())};
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, op.getLoc(), op.getInput());
  return replaceByLaunch(
      rewriter, symbols, op, kSoftmaxPurpose, problem.plan, op.getInput(),
      multiply(rewriter, op.getLoc(), ArrayRef(sizes).drop_back()), sizes,
      [&](gpu::GPUFuncOp kernel) { buildSoftmax(kernel, problem); });
}
