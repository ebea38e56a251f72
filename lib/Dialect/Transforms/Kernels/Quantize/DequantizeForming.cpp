//===- DequantizeForming.cpp - Launches of dequantising kernels -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantized elements that are not contiguous along K are left to loops.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Decode/DecodeKernel.h"
#include "Kernels/KernelPurpose.h"
#include "Kernels/LaunchForming.h"
#include "Kernels/Quantize/QuantizeForming.h"
#include "Kernels/ScalarSlice.h"
#include "Utils/OperandView.h"
#include "Utils/StoredCodes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
struct FormDequantize final : OpRewritePattern<DequantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DequantizeOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getResult().getType());
    FailureOr<TargetAttr> target = lookupTarget(op);
    if (!type || (type.getRank() != 2 && type.getRank() != 3) ||
        (!type.isDynamicDim(type.getRank() - 1) &&
         !KernelProblem::isMultiple(type.getShape().back(),
                                    kDequantizedAtOnce)) ||
        !op->getParentOfType<func::FuncOp>() || failed(target) || !*target ||
        (*target).getChip()->isCpu())
      return rewriter.notifyMatchFailure(
          op, "expected matrices of whole lines in a function, for a GPU");
    // What is asked for its sizes is asked of its operands instead.
    if (llvm::all_of(op->getUsers(), llvm::IsaPred<tensor::DimOp>))
      return rewriter.notifyMatchFailure(op, "expected users of numbers");
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    unsigned rank = type.getRank();
    AffineMap map =
        getOperandMap(context, rank, rank - 2, ShapedType::kDynamic);
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
    DecodeProblem problem = {};
    problem.policy = ValuePolicy::Rounded;
    problem.codes = getOperand(op.getCodes());
    problem.scales = getOperand(op.getScales());
    problem.format = op.getElementFormat();
    problem.scaleFormat = op.getScaleFormat();
    problem.blockSize = op.getBlock();
    if (!problem.isContiguous())
      return rewriter.notifyMatchFailure(op, "expected elements along K");
    problem.tensorScale = op.getTensorScale();
    if (problem.tensorScale)
      for (Value input : getScalarInputs(problem.tensorScale))
        problem.scaleInputs.emplace_back(input, addInput(input));
    problem.result = inputs.size();

    SmallVector<OpFoldResult> sizes = getOperandSizes(
        rewriter, loc, op.getCodes(), traceOperand(op.getCodes()));
    HostSizes hostSizes = {sizes[rank - 2], sizes.back(),
                           rank == 3 ? sizes[0]
                                     : OpFoldResult(rewriter.getIndexAttr(1))};
    KernelShape shape = getDecodeShape(type);
    FailureOr<SmallVector<OpFoldResult>> blocks =
        getBlocks(rewriter, op, shape, hostSizes);
    if (failed(blocks))
      return failure();
    Value output = makeEmpty(rewriter, loc, type, sizes);
    gpu::GPUFuncOp kernel =
        makeKernel(rewriter, op, kDequantizePurpose, inputs.getArrayRef(),
                   TypeRange(type), shape);
    buildDecode(kernel, problem);
    rewriter.replaceOp(op,
                       createLaunch(rewriter, loc, kernel, inputs.getArrayRef(),
                                    output, shape, *blocks));
    return success();
  }
};
} // namespace

void blockscale::populateFormDequantizePatterns(RewritePatternSet &patterns) {
  patterns.add<FormDequantize>(patterns.getContext());
}
