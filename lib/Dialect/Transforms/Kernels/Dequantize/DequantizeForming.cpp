//===- DequantizeForming.cpp - Launches of dequantize kernels -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantized elements that are not contiguous along K get no kernel here: loops
// compute them.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Dequantize/DequantizeForming.h"

#include "Kernels/Dequantize/DequantizeOperand.h"
#include "Kernels/Gemm/Problem/OperandMap.h"
#include "Kernels/Gemm/Problem/ScalarSlice.h"
#include "Kernels/Launch/LaunchForming.h"
#include "Launch/KernelPurpose.h"
#include "Utils/OperandView.h"
#include "Utils/PackedElements.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

FailureOr<SmallVector<Value>>
blockscale::formDequantize(RewriterBase &rewriter,
                           SymbolTableCollection &symbols, DequantizeOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getResult().getType());
  FailureOr<TargetAttr> target = lookupTarget(op);
  if (!type || (type.getRank() != 2 && type.getRank() != 3) ||
      (!type.isDynamicDim(type.getRank() - 1) &&
       !KernelProblem::isMultiple(type.getShape().back(),
                                  kDequantizedAtOnce)) ||
      !op->getParentOfType<func::FuncOp>() || failed(target) || !*target ||
      (*target).getChip()->isCpu())
    return SmallVector<Value>();
  Location loc = op.getLoc();
  unsigned rank = type.getRank();
  AffineMap map =
      getOperandMap(op.getContext(), rank, rank - 2, ShapedType::kDynamic);
  SetVector<Value> inputs;
  auto addInput = [&](Value value) {
    inputs.insert(value);
    return static_cast<unsigned>(llvm::find(inputs, value) - inputs.begin());
  };
  auto getOperand = [&](Value value) {
    StoredView view = getStoredView(rewriter, loc, value);
    KernelOperand operand = {};
    operand.map = view.map.compose(map);
    operand.bits = view.bits;
    operand.contiguity = getContiguity(operand.map, rank);
    operand.argument = addInput(view.tensor);
    return operand;
  };
  DequantizedOperandProblem problem = {};
  problem.policy = ValuePolicy::Rounded;
  problem.elements = getOperand(op.getElements());
  problem.scales = getOperand(op.getScales());
  problem.format = op.getElementFormat();
  problem.scaleFormat = op.getScaleFormat();
  problem.blockSize = op.getBlock();
  if (!problem.isContiguous())
    return SmallVector<Value>();
  problem.tensorScale = op.getTensorScale();
  if (problem.tensorScale)
    for (Value input : getScalarInputs(problem.tensorScale))
      problem.scaleInputs.emplace_back(input, addInput(input));
  problem.result = inputs.size();

  SmallVector<OpFoldResult> sizes = getOperandSizes(
      rewriter, loc, op.getElements(), traceOperand(op.getElements()));
  HostSizes hostSizes = {sizes[rank - 2], sizes.back(),
                         rank == 3 ? sizes[0]
                                   : OpFoldResult(rewriter.getIndexAttr(1))};
  KernelShape shape = getDequantizeOperandShape(type);
  FailureOr<SmallVector<OpFoldResult>> blocks =
      getBlocks(rewriter, op, shape, hostSizes);
  if (failed(blocks))
    return failure();
  Value output = makeEmpty(rewriter, loc, type, sizes);
  gpu::GPUFuncOp kernel =
      makeKernel(rewriter, symbols, op, kDequantizePurpose,
                 inputs.getArrayRef(), TypeRange(type), shape);
  buildDequantizeOperand(kernel, problem);
  LaunchOp launch = createLaunch(rewriter, loc, kernel, inputs.getArrayRef(),
                                 output, shape, *blocks);
  rewriter.replaceAllUsesWith(op->getResults(), launch->getResults());
  return SmallVector<Value>(launch->getResults());
}
