//===- DequantizeForming.cpp - Launches of dequantising kernels -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codes that do not follow each other along K are left to loops.
//
//===----------------------------------------------------------------------===//

#include "Kernels/LaunchForming.h"
#include "Kernels/OperandMap.h"
#include "Kernels/Quantize/DequantizeProblem.h"
#include "Kernels/Quantize/QuantizeForming.h"
#include "Kernels/ScalarSlice.h"
#include "Launch/KernelPurpose.h"
#include "Utils/OperandView.h"
#include "Utils/StoredCodes.h"
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
  MLIRContext *context = op.getContext();
  DequantizeProblem problem;
  problem.op = op;
  problem.rank = type.getRank();
  problem.k = type.getShape().back();
  AffineMap map = getOperandMap(context, problem.rank, problem.rank - 2,
                                ShapedType::kDynamic);
  StoredView codes = getStoredView(rewriter, loc, op.getCodes());
  StoredView scales = getStoredView(rewriter, loc, op.getScales());
  problem.codesMap = codes.map.compose(map);
  problem.scalesMap = scales.map.compose(map);
  problem.codeBits = codes.bits;
  constexpr unsigned kByte = 8;
  if (getContiguity(problem.codesMap, problem.rank) != Contiguity::Columns ||
      kByte % codes.bits != 0)
    return SmallVector<Value>();

  SetVector<Value> inputs;
  auto addInput = [&](Value value) {
    inputs.insert(value);
    return static_cast<unsigned>(llvm::find(inputs, value) - inputs.begin());
  };
  problem.codes = addInput(codes.tensor);
  problem.scales = addInput(scales.tensor);
  if (Value scale = op.getTensorScale())
    for (Value input : getScalarInputs(scale))
      problem.scaleInputs.emplace_back(input, addInput(input));
  problem.result = inputs.size();

  SmallVector<OpFoldResult> sizes = getOperandSizes(
      rewriter, loc, op.getCodes(), traceOperand(op.getCodes()));
  HostSizes hostSizes = {
      sizes[problem.rank - 2], sizes.back(),
      problem.rank == 3 ? sizes[0] : OpFoldResult(rewriter.getIndexAttr(1))};
  KernelShape shape = getDequantizeShape(problem);
  FailureOr<SmallVector<OpFoldResult>> blocks =
      getBlocks(rewriter, op, shape, hostSizes);
  if (failed(blocks))
    return failure();
  Value output = makeEmpty(rewriter, loc, type, sizes);
  gpu::GPUFuncOp kernel =
      makeKernel(rewriter, symbols, op, kDequantizePurpose,
                 inputs.getArrayRef(), TypeRange(type), shape);
  buildDequantize(kernel, problem);
  LaunchOp launch = createLaunch(rewriter, loc, kernel, inputs.getArrayRef(),
                                 output, shape, *blocks);
  rewriter.replaceAllUsesWith(op->getResults(), launch->getResults());
  return SmallVector<Value>(launch->getResults());
}
