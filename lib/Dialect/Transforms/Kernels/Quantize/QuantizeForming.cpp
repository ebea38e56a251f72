//===- QuantizeForming.cpp - Launches of quantize kernels -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the host knows of a `quantize`. Its kernel also packs fp4 and swizzles
// scales, so that no further kernel has to.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Launch/OpForming.h"

#include "Kernels/Gemm/Frontend/ElementwiseFusion.h"
#include "Kernels/Gemm/Frontend/QuantizedResults.h"
#include "Kernels/Gemm/Problem/KnownMultiples.h"
#include "Kernels/Gemm/Problem/OperandMemory.h"
#include "Kernels/Gemm/Problem/ScalarSlice.h"
#include "Kernels/Launch/LaunchForming.h"
#include "Kernels/Quantize/QuantizeProblem.h"
#include "Launch/KernelPurpose.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/ScaleRules.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Whether rows share scales.
static bool hasBlocksOfRows(QuantizeOp op) {
  return op.getBlockShape().rows != 1;
}

/// Replaces `op` by one on `x`, of another shape. `reshape` gives result number
/// `i` of that the shape of the one of `op`.
static SmallVector<Value>
replaceReshaped(RewriterBase &rewriter, QuantizeOp op, Value x,
                function_ref<Value(Value result, unsigned i)> reshape) {
  auto type = cast<RankedTensorType>(x.getType());
  auto scales = cast<RankedTensorType>(op.getScales().getType());
  SmallVector<int64_t> scalesShape(type.getShape());
  scalesShape.back() = scales.getShape().back();
  if (hasBlocksOfRows(op))
    scalesShape[type.getRank() - 2] = scales.getDimSize(scales.getRank() - 2);
  SmallVector<Type> types = {
      type.clone(getElementTypeOrSelf(op.getElements().getType())),
      RankedTensorType::get(scalesShape, scales.getElementType())};
  SmallVector<Value> operands = {x};
  if (op.getAmax())
    types.push_back(op.getAmax().getType());
  if (op.getTensorScale())
    operands.push_back(op.getTensorScale());
  auto made = QuantizeOp::create(rewriter, op.getLoc(), types, operands,
                                 op->getAttrs());
  SmallVector<Value> results = {reshape(made.getElements(), 0),
                                reshape(made.getScales(), 1)};
  if (op.getAmax())
    results.push_back(made.getAmax());
  rewriter.replaceAllUsesWith(op->getResults(), results);
  return results;
}

/// Replaces `op`, of a rank other than 2 and 3, by one on a matrix; or on a
/// batch of them, if rows share scales.
static FormedResults reshapeToMatrix(RewriterBase &rewriter, QuantizeOp op) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  Location loc = op.getLoc();
  int64_t rank = type.getRank();
  // All rows, and the columns; or one row.
  int64_t kept = hasBlocksOfRows(op) ? 2 : 1;
  SmallVector<ReassociationIndices> groups(1);
  for (int64_t dim = 0; dim + kept < rank; ++dim)
    groups[0].push_back(dim);
  for (int64_t dim = rank - kept; dim < rank; ++dim)
    groups.push_back({dim});
  if (rank == 1)
    groups = {{0, 1}};
  auto toMatrix = [&](Value value) -> Value {
    if (rank != 1)
      return tensor::CollapseShapeOp::create(rewriter, loc, value, groups);
    auto type = cast<RankedTensorType>(value.getType());
    return tensor::ExpandShapeOp::create(
        rewriter, loc,
        RankedTensorType::get({1, type.getDimSize(0)}, type.getElementType()),
        value, groups,
        ArrayRef<OpFoldResult>{rewriter.getIndexAttr(1),
                               tensor::getMixedSize(rewriter, loc, value, 0)});
  };
  ReifiedRankedShapedTypeDims sizes;
  if (failed(op.reifyResultShapes(rewriter, sizes)))
    return failure();
  return replaceReshaped(
      rewriter, op, toMatrix(op.getX()), [&](Value value, unsigned i) -> Value {
        auto type = cast<RankedTensorType>(op->getResult(i).getType());
        if (rank == 1)
          return tensor::CollapseShapeOp::create(rewriter, loc, type, value,
                                                 groups);
        return tensor::ExpandShapeOp::create(rewriter, loc, type, value, groups,
                                             sizes[i]);
      });
}

/// The tensor that x of `op` is expanded from, with the same rows; null if x is
/// not expanded, or rows share scales.
static tensor::ExpandShapeOp findExpandedRows(QuantizeOp op) {
  if (hasBlocksOfRows(op))
    return {};
  auto expand = op.getX().getDefiningOp<tensor::ExpandShapeOp>();
  bool hasRows = expand && !expand.getReassociationIndices().empty() &&
                 expand.getReassociationIndices().back().size() == 1;
  return hasRows ? expand : tensor::ExpandShapeOp();
}

/// Replaces `op` by one on the source of `expand`, whose kernel may fuse it.
static FormedResults quantizeBeforeExpand(RewriterBase &rewriter, QuantizeOp op,
                                          tensor::ExpandShapeOp expand) {
  ReifiedRankedShapedTypeDims sizes;
  if (failed(op.reifyResultShapes(rewriter, sizes)))
    return failure();
  return replaceReshaped(
      rewriter, op, expand.getSrc(), [&](Value value, unsigned i) -> Value {
        return tensor::ExpandShapeOp::create(
            rewriter, op.getLoc(), op->getResult(i).getType(), value,
            expand.getReassociationIndices(), sizes[i]);
      });
}

/// How many values a thread has at once in coarse blocks, if elements have
/// `elementBits` in memory: those of a byte at least.
static int64_t getWidth(QuantizeOp op, unsigned elementBits) {
  constexpr int64_t kMost = 8, kByteBits = 8;
  unsigned dim = cast<RankedTensorType>(op.getX().getType()).getRank() - 1;
  auto k = static_cast<uint64_t>(getKnownMultiple(op.getX(), dim));
  return std::clamp<int64_t>(int64_t(1) << llvm::countr_zero(k),
                             kByteBits / elementBits, kMost);
}

/// Whether blocks are of a row, and of whole vectors in memory, like those of
/// instructions. The last one may be partial.
static bool hasWholeVectors(const QuantizeProblem &problem) {
  constexpr int64_t kVector = 8;
  return problem.block.rows == 1 && problem.block.k != ScaleBlock::kAll &&
         problem.contiguity == Contiguity::Columns && problem.width == kVector;
}

/// The largest magnitudes of the blocks, by a kernel of their own. The
/// parameters of `problem` are only `inputs` yet.
static FailureOr<Value> formMagnitudes(RewriterBase &rewriter,
                                       SymbolTableCollection &symbols,
                                       QuantizeOp op, QuantizeProblem problem,
                                       const KernelInputs &inputs,
                                       ArrayRef<OpFoldResult> sizes,
                                       const HostSizes &hostSizes) {
  Location loc = op.getLoc();
  auto scales = cast<RankedTensorType>(op.getScales().getType());
  Value empty =
      makeEmpty(rewriter, loc,
                RankedTensorType::get(scales.getShape(), rewriter.getF32Type()),
                getCoarseScaleSizes(rewriter, loc, sizes, op.getBlockShape()));
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(0));
  Value start = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  problem.magnitudes = inputs.size();
  FailureOr<LaunchOp> launch = formLaunch(
      rewriter, symbols, op, kQuantizePurpose, inputs.getArrayRef(), start,
      getCoarseQuantizeShape(problem), hostSizes,
      [&](gpu::GPUFuncOp kernel) { buildMagnitudes(kernel, problem); });
  if (failed(launch))
    return failure();
  launch->setUpdates(true);
  return launch->getResults().front();
}

FormedResults blockscale::formQuantize(RewriterBase &rewriter,
                                       SymbolTableCollection &symbols,
                                       QuantizeOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getX().getType());
  if (!type)
    return SmallVector<Value>();
  if (tensor::ExpandShapeOp expand = findExpandedRows(op))
    return quantizeBeforeExpand(rewriter, op, expand);
  if (type.getRank() != 2 && type.getRank() != 3)
    return reshapeToMatrix(rewriter, op);
  // The epilogue of a product may fuse it: that is decided when the product
  // gets its kernel.
  if (!findGpu(op) || findProductOf(op))
    return SmallVector<Value>();

  Location loc = op.getLoc();
  QuantizeProblem problem;
  problem.format = BlockFormat::get(op);
  problem.chip = &(*lookupTarget(op)).getFinalChip();
  problem.rank = type.getRank();
  problem.m = type.getShape()[problem.rank - 2];
  problem.k = type.getShape().back();
  problem.block = op.getBlockShape();
  problem.mayEnd = op.getPad() && !KernelProblem::isMultiple(
                                      problem.k, problem.format.blockSize);

  OperandView view = traceOperand(op.getX());
  problem.map = view.map.compose(getOperandMap(
      op->getContext(), problem.rank, problem.rank - 2, ShapedType::kDynamic));
  problem.contiguity = getContiguity(problem.map, problem.rank);
  KernelInputs inputs;
  problem.x = inputs.add(view.tensor);
  problem.tensorScale = fuseScalar(inputs, op.getTensorScale());

  QuantizedResults results(op);
  problem.elementBits = results.getElementBits();
  problem.hasAtoms = results.swizzle != nullptr;
  problem.width = getWidth(op, problem.elementBits);

  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getX());
  HostSizes hostSizes = getHostSizes(rewriter, sizes);
  if (results.swizzle) {
    AffineExpr d0 = rewriter.getAffineDimExpr(0);
    auto compute = [&](AffineExpr expr, OpFoldResult of) {
      return affine::makeComposedFoldedAffineApply(rewriter, loc, expr, {of});
    };
    hostSizes.m =
        compute(d0.ceilDiv(kScaleAtomRows) * kScaleAtomRows, hostSizes.m);
    int64_t columns = problem.format.blockSize * kScaleAtomBlocks;
    hostSizes.n = compute(d0.ceilDiv(columns) * columns, hostSizes.n);
  }
  if (op.hasCoarseScales() && hasPartsOfBlocks(problem)) {
    FailureOr<Value> magnitudes = formMagnitudes(rewriter, symbols, op, problem,
                                                 inputs, sizes, hostSizes);
    if (failed(magnitudes))
      return failure();
    problem.magnitudes = inputs.add(*magnitudes);
  }
  problem.elements = inputs.size();
  problem.scales = problem.elements + 1;
  if (op.getAmax())
    problem.amax = problem.elements + 2;
  bool hasLanes = !op.hasCoarseScales() || hasWholeVectors(problem);
  KernelShape shape =
      hasLanes ? getQuantizeShape(problem) : getCoarseQuantizeShape(problem);
  if (problem.block.k == ScaleBlock::kAll && problem.block.rows == 1)
    hostSizes.n = rewriter.getIndexAttr(1);
  FailureOr<LaunchOp> launch =
      formLaunch(rewriter, symbols, op, kQuantizePurpose, inputs.getArrayRef(),
                 results.makeOutputs(rewriter, sizes), shape, hostSizes,
                 [&](gpu::GPUFuncOp kernel) {
                   return hasLanes ? buildQuantize(kernel, problem)
                                   : buildCoarseQuantize(kernel, problem);
                 });
  if (failed(launch))
    return failure();
  launch->setUpdates(op.getAmax() != nullptr);
  results.replace(rewriter, (*launch)->getResults());
  return SmallVector<Value>((*launch)->getResults());
}
