//===- FormProduct.cpp - Kernels for one product --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch, or more where operands are decoded first, where K is divided, and
// where a result may have to be computed anew.
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/FormProduct.h"

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
/// The results of launches, and the words of blocks, where there are such.
struct Formed {
  SmallVector<Value> results;
  Value words = {};
};

/// Makes the launches for one product.
struct Former {
  RewriterBase &rewriter;
  SymbolTableCollection &symbols;
  ProductOpInterface op;
  const GemmKernel &gemm;
  /// They come in front of this.
  Operation *last;
  /// What the kernels leave; null for what `op`, or its consumer, does.
  QuantizedResults *quantized = nullptr;

  FailureOr<Formed> form(const HostProblem &host) {
    if (!host.problem.isDequantized())
      return formAll(host);
    DequantizedProduct decoded =
        formDequantized(rewriter, symbols, op, host,
                        gemm.getTransforms(host.problem.instruction));
    FailureOr<Formed> formed = formAll(decoded.product);
    if (failed(formed))
      return failure();
    if (formed->words)
      decoded.skipConditions[1] = formed->words;
    if (decoded.isToBeChecked())
      return formExact(decoded, formed->results);
    return formed;
  }

private:
  /// One launch, or two where K is divided.
  FailureOr<Formed> formAll(const HostProblem &host) {
    SplitKRule split = gemm.getSplitK(host.problem);
    if (split.parts == 1)
      return formProducts(host);
    FailureOr<Formed> parts =
        formProducts(getPartialProducts(rewriter, op->getLoc(), host, split));
    if (failed(parts))
      return failure();
    FailureOr<Formed> sums =
        formSums(getSumOfParts(host, parts->results.front()));
    if (succeeded(sums))
      sums->words = parts->words;
    return sums;
  }

  /// A launch that computes `results` anew where numbers of bf16 did not hold
  /// what was decoded.
  FailureOr<Formed> formExact(const DequantizedProduct &decoded,
                              ValueRange results) {
    FailureOr<TargetAttr> target = getTarget(op);
    if (failed(target))
      return failure();
    ExactRecomputation exact = getExactRecomputation(op, *(*target).getChip());
    HostProblem host = getExactProblem(rewriter, op, decoded, exact);
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

  /// The same of the kernel that adds what those of parts of K leave.
  FailureOr<Formed> formSums(const HostProblem &host) {
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
    if (shape.words != 0) {
      int64_t words = *getConstantIntValue((*blocks)[0]) * shape.words;
      outputs.push_back(makeEmpty(
          rewriter, loc, RankedTensorType::get({words}, rewriter.getI32Type()),
          OpFoldResult(rewriter.getIndexAttr(words))));
    }
    gpu::GPUFuncOp kernel =
        makeKernel(rewriter, symbols, op, purpose, host.inputs.getArrayRef(),
                   TypeRange(ValueRange(outputs)), shape);
    build(kernel);
    LaunchOp launch =
        createLaunch(rewriter, loc, kernel, host.inputs.getArrayRef(), outputs,
                     shape, *blocks);
    launch.setUpdates(isUpdate);
    // How memory holds operands is in their types up to here: what a kernel
    // takes them for is held against that now, whoever runs the pass.
    if (failed(launch.verify()))
      return failure();
    Formed formed = {
        SmallVector<Value>(launch->getResults().take_front(numResults))};
    if (shape.words != 0)
      formed.words = launch->getResults().back();
    return formed;
  }
};
} // namespace

FailureOr<SmallVector<Value>>
blockscale::formProduct(RewriterBase &rewriter, SymbolTableCollection &symbols,
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
  Former former = {rewriter, symbols, op, gemm, last};
  if (quantized) {
    addQuantizer(host, *quantized);
    former.last = quantized->op;
    former.quantized = &*quantized;
  }
  FailureOr<Formed> formed = former.form(host);
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
