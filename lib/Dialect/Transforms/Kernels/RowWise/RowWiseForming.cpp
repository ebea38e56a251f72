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

#include "Kernels/Launch/OpForming.h"

#include "Kernels/Gemm/Frontend/ElementwiseFusion.h"
#include "Kernels/Launch/LaunchForming.h"
#include "Kernels/RowWise/RowOps.h"
#include "Kernels/RowWise/RowWiseProblem.h"
#include "Launch/KernelPurpose.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
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

FormedResults blockscale::formReduce(RewriterBase &rewriter,
                                     SymbolTableCollection &symbols,
                                     linalg::GenericOp op) {
  auto loops = cast<linalg::LinalgOp>(op.getOperation());
  if (!findGpu(op) || !isRowReduction(loops))
    return SmallVector<Value>();
  ReduceProblem problem = {
      op,
      getRowWisePlan(
          multiplySizes(getLoopSizes(loops, IteratorType::reduction)),
          multiplySizes(getLoopSizes(loops, IteratorType::parallel)), kLongest),
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
  OpFoldResult one = rewriter.getIndexAttr(1);
  return replaceByLaunch(
      rewriter, symbols, op, kReducePurpose, problem.inputs.getArrayRef(),
      sizes, problem.plan.getShape(),
      {multiply(rewriter, op.getLoc(), sizes), one, one},
      [&](gpu::GPUFuncOp kernel) { buildReduce(kernel, problem); });
}

FormedResults blockscale::formSoftmax(RewriterBase &rewriter,
                                      SymbolTableCollection &symbols,
                                      linalg::SoftmaxOp op) {
  if (!findGpu(op) || !isRowSoftmax(op))
    return SmallVector<Value>();
  auto type = cast<RankedTensorType>(op.getInput().getType());
  SoftmaxProblem problem = {
      type, getRowWisePlan(type.getShape().back(),
                           multiplySizes(type.getShape().drop_back()),
                           getLongestSoftmaxOfWarp())};
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, op.getLoc(), op.getInput());
  OpFoldResult one = rewriter.getIndexAttr(1);
  return replaceByLaunch(
      rewriter, symbols, op, kSoftmaxPurpose, op.getInput(), sizes,
      problem.plan.getShape(),
      {multiply(rewriter, op.getLoc(), ArrayRef(sizes).drop_back()), one, one},
      [&](gpu::GPUFuncOp kernel) { buildSoftmax(kernel, problem); });
}
