//===- RebaseForming.cpp - Launches of rebase kernels ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the host knows of a `rebase`. The kernel reads packed elements where
// they are. Elements that are not contiguous along K are transposed in front.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Launch/OpForming.h"

#include "Kernels/Gemm/Problem/KnownMultiples.h"
#include "Kernels/Gemm/Problem/OperandMemory.h"
#include "Kernels/Launch/LaunchForming.h"
#include "Kernels/Rebase/RebaseProblem.h"
#include "Launch/KernelPurpose.h"
#include "Utils/PackedElements.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

FormedResults blockscale::formRebase(RewriterBase &rewriter,
                                     SymbolTableCollection &symbols,
                                     RebaseOp op) {
  RebaseProblem problem = {};
  problem.format = op.getElementFormat();
  // The kernel consists of conversions.
  if (!findGpu(op) || !getConversionPtx((*lookupTarget(op)).getFinalChip(),
                                        op.getRebasedFormat()))
    return SmallVector<Value>();
  Location loc = op.getLoc();
  RankedTensorType type = op.getElements().getType();
  problem.rank = type.getRank();
  problem.m = type.getDimSize(problem.rank - 2);
  problem.k = type.getShape().back();
  problem.blockSize = static_cast<int64_t>(op.getBlockSize());
  problem.knownMultiple = getKnownMultiple(op.getElements(), problem.rank - 1);

  AffineMap map = getOperandMap(op.getContext(), problem.rank, problem.rank - 2,
                                ShapedType::kDynamic);
  KernelInputs inputs;
  auto getOperand = [&](const StoredView &view) {
    KernelOperand operand = {};
    operand.map = view.map.compose(map);
    operand.bits = view.bits;
    operand.contiguity = getContiguity(operand.map, problem.rank);
    return operand;
  };
  StoredView elements = getStoredView(rewriter, loc, op.getElements());
  problem.elements = getOperand(elements);
  if (problem.elements.contiguity != Contiguity::Columns) {
    elements = {op.getElements(), rewriter.getMultiDimIdentityMap(problem.rank),
                /*bits=*/8};
    problem.elements = getOperand(elements);
  }
  problem.elements.argument = inputs.add(elements.tensor);
  StoredView scales = getStoredView(rewriter, loc, op.getScales());
  problem.scales = getOperand(scales);
  problem.scales.argument = inputs.add(scales.tensor);
  problem.rebased = inputs.size();
  problem.rowScales = problem.rebased + 1;

  ReifiedRankedShapedTypeDims sizes;
  if (failed(op.reifyResultShapes(rewriter, sizes)))
    return failure();
  HostSizes hostSizes = getHostSizes(rewriter, sizes[0]);
  hostSizes.n = rewriter.getIndexAttr(1);
  SmallVector<Value> outputs;
  for (auto [result, of] : llvm::zip_equal(op->getResults(), sizes))
    outputs.push_back(
        makeEmpty(rewriter, loc, cast<RankedTensorType>(result.getType()), of));
  FailureOr<LaunchOp> launch =
      formLaunch(rewriter, symbols, op, kRebasePurpose, inputs.getArrayRef(),
                 outputs, getRebaseShape(problem), hostSizes,
                 [&](gpu::GPUFuncOp kernel) { buildRebase(kernel, problem); });
  if (failed(launch))
    return failure();
  SmallVector<Value> results((*launch)->getResults());
  rewriter.replaceAllUsesWith(op->getResults(), results);
  return results;
}
