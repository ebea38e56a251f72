//===- FormProduct.cpp - The kernels of one GEMM --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch; or several, where kernels in front dequantize operands, where
// split-K needs a reduction kernel, and where an exact recomputation follows.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Launch/OpForming.h"

#include "Kernels/FormKernels/ExactRecomputation.h"
#include "Kernels/FormKernels/KernelAttributes.h"
#include "Kernels/FormKernels/QuantizerFusion.h"
#include "Kernels/Gemm/Frontend/DequantizedProduct.h"
#include "Kernels/Gemm/Frontend/ProblemOfOp.h"
#include "Kernels/Gemm/Frontend/SplitKProblem.h"
#include "Kernels/Gemm/Paths/GemmPath.h"
#include "Kernels/Gemm/Problem/HostProblem.h"
#include "Kernels/Launch/LaunchForming.h"
#include "Launch/KernelPurpose.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// The results of launches, and the per-block inexact flags, if there are any.
struct Formed {
  SmallVector<Value> results;
  Value inexactFlags = {};
};

/// Makes the launches for one product, in the order in which they run.
struct KernelSequence {
  RewriterBase &rewriter;
  SymbolTableCollection &symbols;
  ProductOpInterface op;
  const GemmKernel &gemm;
  /// The launches are inserted in front of this op.
  Operation *last;
  /// The results in memory if a `quantize` is fused; null for the result of
  /// `op`, or of its consumer.
  QuantizedResults *quantized = nullptr;

  FailureOr<Formed> form(const HostProblem &host) {
    if (!host.problem.isDequantized())
      return formAll(host);
    DequantizedProduct dequantized =
        formDequantizedProduct(rewriter, symbols, op, host,
                               gemm.getTransforms(host.problem.instruction));
    FailureOr<Formed> formed = formAll(dequantized.product);
    if (failed(formed))
      return failure();
    if (formed->inexactFlags)
      dequantized.skipConditions[1] = formed->inexactFlags;
    if (dequantized.isToBeChecked())
      return formExactRecomputation(dequantized, formed->results);
    return formed;
  }

private:
  /// One launch, or two with split-K.
  FailureOr<Formed> formAll(const HostProblem &host) {
    SplitKRule split = gemm.getSplitK(host.problem);
    if (split.ranges == 1)
      return formProducts(host);
    FailureOr<Formed> partials =
        formProducts(getPartialProducts(rewriter, op->getLoc(), host, split));
    if (failed(partials))
      return failure();
    FailureOr<Formed> reduced = formSplitKReduction(
        getSplitKReduction(host, partials->results.front()));
    if (succeeded(reduced))
      reduced->inexactFlags = partials->inexactFlags;
    return reduced;
  }

  /// A launch that recomputes `results` exactly if bf16 did not hold a
  /// dequantized value.
  FailureOr<Formed>
  formExactRecomputation(const DequantizedProduct &dequantized,
                         ValueRange results) {
    FailureOr<TargetAttr> target = getTarget(op);
    if (failed(target))
      return failure();
    ExactRecomputation exact = getExactRecomputation(op, *(*target).getChip());
    HostProblem host = getExactProblem(rewriter, op, dequantized, exact);
    if (quantized)
      addQuantizer(host, *quantized);
    return formLaunch(
        host, kExactRecomputationPurpose, exact.gemm->getShape(host.problem),
        [&](gpu::GPUFuncOp kernel) { exact.gemm->build(kernel, host.problem); },
        results);
  }

  /// A launch of a kernel of the path.
  FailureOr<Formed> formProducts(const HostProblem &host) {
    const KernelProblem &problem = host.problem;
    if (std::string remark = gemm.getRemark(problem); !remark.empty())
      op->emitRemark(remark);
    StringRef purpose =
        isa<MmaScaledOp>(op) ? kMmaScaledPurpose : kMatmulPurpose;
    return formLaunch(
        host, purpose, gemm.getShape(problem),
        [&](gpu::GPUFuncOp kernel) { gemm.build(kernel, problem); });
  }

  /// The same for the reduction kernel of split-K.
  FailureOr<Formed> formSplitKReduction(const HostProblem &host) {
    return formLaunch(host, kSplitKReductionPurpose, getSplitKReductionShape(),
                      [&](gpu::GPUFuncOp kernel) {
                        buildSplitKReduction(kernel, host.problem);
                      });
  }

  /// Memory for the results.
  SmallVector<Value> makeOutputs(const HostProblem &host) {
    SmallVector<OpFoldResult> sizes = host.getResultSizes();
    if (quantized)
      return quantized->makeOutputs(rewriter, sizes);
    return {makeEmpty(rewriter, op->getLoc(), host.problem.resultType, sizes)};
  }

  FailureOr<Formed> formLaunch(const HostProblem &host, StringRef purpose,
                               const KernelShape &shape,
                               function_ref<void(gpu::GPUFuncOp)> build,
                               ValueRange updated = {}) {
    OpBuilder::InsertionGuard guard(rewriter);
    FailureOr<SmallVector<OpFoldResult>> blocks =
        getBlocks(rewriter, op, shape, host.sizes);
    if (failed(blocks))
      return failure();
    rewriter.setInsertionPoint(last);
    Location loc = op->getLoc();
    SmallVector<Value> outputs(updated);
    if (outputs.empty())
      outputs = makeOutputs(host);
    bool isUpdate = !updated.empty() || (quantized && quantized->op.getAmax());
    size_t numResults = outputs.size();
    if (shape.inexactFlags != 0) {
      int64_t inexactFlags =
          *getConstantIntValue((*blocks)[0]) * shape.inexactFlags;
      outputs.push_back(makeEmpty(
          rewriter, loc,
          RankedTensorType::get({inexactFlags}, rewriter.getI32Type()),
          OpFoldResult(rewriter.getIndexAttr(inexactFlags))));
    }
    gpu::GPUFuncOp kernel =
        makeKernel(rewriter, symbols, op, purpose, host.inputs.getArrayRef(),
                   TypeRange(ValueRange(outputs)), shape);
    build(kernel);
    LaunchOp launch =
        createLaunch(rewriter, loc, kernel, host.inputs.getArrayRef(), outputs,
                     shape, *blocks);
    launch.setUpdates(isUpdate);
    // Up to here, types say how memory holds operands. The problem of the
    // kernel is checked against them now, whoever runs the pass.
    if (failed(launch.verify()))
      return failure();
    Formed formed = {
        SmallVector<Value>(launch->getResults().take_front(numResults))};
    if (shape.inexactFlags != 0)
      formed.inexactFlags = launch->getResults().back();
    return formed;
  }
};
} // namespace

FormedResults blockscale::formProduct(RewriterBase &rewriter,
                                      SymbolTableCollection &symbols,
                                      ProductOpInterface op) {
  auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
  if (!op.hasTensorSemantics() || !path || !op->getParentOfType<func::FuncOp>())
    return SmallVector<Value>();
  const GemmPath *kernels = getGemmPath(path.getValue());
  if (!kernels || findMissingAttribute(op, path.getValue()))
    return SmallVector<Value>();
  auto schedule = op->getAttrOfType<ScheduleInterface>(kScheduleAttrName);
  const GemmKernel &gemm = *kernels->findKernel(schedule);

  HostProblem host = makeHostProblem(
      rewriter, op, gemm,
      op->getAttrOfType<InstructionAttr>(kInstructionAttrName), schedule);
  Operation *last = op;
  if (host.problem.consumer)
    last = host.problem.consumer->op;
  std::optional<QuantizedResults> quantized =
      findFusedQuantizer(op, last->getResult(0), host.problem, gemm);
  KernelSequence sequence = {rewriter, symbols, op, gemm, last};
  if (quantized) {
    addQuantizer(host, *quantized);
    sequence.last = quantized->op;
    sequence.quantized = &*quantized;
  }
  FailureOr<Formed> formed = sequence.form(host);
  if (failed(formed))
    return failure();
  if (quantized) {
    quantized->replace(rewriter, formed->results);
    rewriter.eraseOp(quantized->op);
  } else {
    rewriter.replaceAllUsesWith(last->getResults(), formed->results);
  }
  if (host.problem.consumer)
    rewriter.eraseOp(last);
  return formed->results;
}
