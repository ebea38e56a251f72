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

#include "Kernels/Launch/OpForming.h"

#include "Kernels/Dequantize/DequantizeOperand.h"
#include "Kernels/Gemm/Problem/OperandMemory.h"
#include "Kernels/Gemm/Problem/ScalarSlice.h"
#include "Kernels/Launch/LaunchForming.h"
#include "Launch/KernelPurpose.h"
#include "Utils/BlockMap.h"
#include "Utils/OperandView.h"
#include "Utils/PackedElements.h"

using namespace mlir;
using namespace mlir::blockscale;

FormedResults blockscale::formDequantize(RewriterBase &rewriter,
                                         SymbolTableCollection &symbols,
                                         DequantizeOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (!type || (type.getRank() != 2 && type.getRank() != 3) ||
      (!type.isDynamicDim(type.getRank() - 1) &&
       !KernelProblem::isMultiple(type.getShape().back(),
                                  kDequantizedAtOnce)) ||
      !findGpu(op))
    return SmallVector<Value>();
  Location loc = op.getLoc();
  unsigned rank = type.getRank();
  AffineMap map =
      getOperandMap(op.getContext(), rank, rank - 2, ShapedType::kDynamic);
  KernelInputs inputs;
  auto getOperand = [&](Value value, AffineMap index, bool isScale = false) {
    StoredView view = getStoredView(rewriter, loc, value);
    KernelOperand operand = {};
    operand.map = view.map.compose(index);
    operand.bits = view.bits;
    operand.contiguity = getContiguity(operand.map, rank);
    if (isScale)
      operand.splat = getSplatByte(view.tensor);
    if (!operand.splat)
      operand.argument = inputs.add(view.tensor);
    return operand;
  };
  DequantizedOperandProblem problem = {};
  problem.policy = ValuePolicy::Rounded;
  problem.elements = getOperand(op.getElements(), map);
  problem.format = op.getElementFormat();
  // Coarse scales are read as if each element had one.
  AffineMap blocks =
      getScaleBlockMap(op.getContext(), rank, op.getBlockShape());
  bool isCoarse = op.hasCoarseScales();
  problem.scales =
      getOperand(op.getScales(), isCoarse ? blocks.compose(map) : map,
                 /*isScale=*/true);
  problem.blockSize = isCoarse ? 1 : op.getBlock();
  problem.hasF32Scales = getElementTypeOrSelf(op.getScales().getType()).isF32();
  if (!problem.hasF32Scales)
    problem.scaleFormat = op.getScaleFormat();
  if (!problem.isContiguous())
    return SmallVector<Value>();
  problem.rows = type.getDimSize(type.getRank() - 2);
  problem.tensorScale = fuseScalar(inputs, op.getTensorScale());
  problem.result = inputs.size();

  SmallVector<OpFoldResult> sizes = getOperandSizes(
      rewriter, loc, op.getElements(), traceOperand(op.getElements()));
  return replaceByLaunch(
      rewriter, symbols, op, kDequantizePurpose, inputs.getArrayRef(), sizes,
      getDequantizeOperandShape(type), getHostSizes(rewriter, sizes),
      [&](gpu::GPUFuncOp kernel) { buildDequantizeOperand(kernel, problem); });
}
