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

#include "Kernels/FormKernels/Alternatives.h"
#include "Kernels/FormKernels/ExactRecomputation.h"
#include "Kernels/FormKernels/KernelAttributes.h"
#include "Kernels/FormKernels/PairFusion.h"
#include "Kernels/FormKernels/QuantizerFusion.h"
#include "Kernels/Gemm/Frontend/DequantizedProduct.h"
#include "Kernels/Gemm/Frontend/ElementwiseFusion.h"
#include "Kernels/Gemm/Frontend/HostChecks.h"
#include "Kernels/Gemm/Frontend/ProblemOfOp.h"
#include "Kernels/Gemm/Frontend/SplitKProblem.h"
#include "Kernels/Gemm/Paths/AlternativeList.h"
#include "Kernels/Gemm/Paths/GemmPath.h"
#include "Kernels/Gemm/Problem/HostProblem.h"
#include "Kernels/Gemm/Schedule/KernelChooser.h"
#include "Kernels/Launch/LaunchForming.h"
#include "Launch/KernelPurpose.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
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
  /// The i1 under which all of it is launched; null for always.
  Value condition = {};
  /// The results of launches that run if this one does not; none if there are
  /// none.
  SmallVector<Value> others = {};
  /// The flags of the kernel that dequantizes the operand which the product
  /// does not dequantize.
  Value *inexactFlags = nullptr;

  FailureOr<SmallVector<Value>> form(const HostProblem &host) {
    DequantizedProduct dequantized = dequantize(host);
    inexactFlags = &dequantized.getFlags();
    FailureOr<SmallVector<Value>> results = formAll(dequantized.product);
    if (failed(results))
      return failure();
    return formExactRecomputation(dequantized, *results);
  }

  /// The same for schedules of which the launch chooses one.
  FailureOr<SmallVector<Value>> form(HostProblem host,
                                     const Alternatives &alternatives) {
    condition = alternatives.isAny;
    DequantizedProduct dequantized = dequantize(host);
    inexactFlags = &dequantized.getFlags();
    const HostProblem &product = dequantized.product;
    auto formEach = [&](const HostProblem &any,
                        ArrayRef<ConditionalSchedule> list) -> LogicalResult {
      for (const ConditionalSchedule &each : list) {
        HostProblem problem = any;
        problem.problem.schedule = each.schedule;
        // With groups, that is a number of rows on average.
        if (!op.getRowGroups())
          (getCountedSide(op) == MmaScaledOp::Side::X ? problem.problem.mostM
                                                      : problem.problem.mostN) =
              each.mostRows;
        condition = each.condition;
        FailureOr<SmallVector<Value>> results = formAll(problem);
        if (failed(results))
          return failure();
        others = *results;
      }
      return success();
    };
    if (failed(formEach(product, alternatives.whole)))
      return failure();
    if (!alternatives.divided.empty()) {
      HostProblem partial = getPartialProducts(
          rewriter, op->getLoc(), product, alternatives.ranges,
          getConstantIntValue(alternatives.ranges)
              .value_or(ShapedType::kDynamic));
      SmallVector<Value> results;
      std::swap(results, others);
      if (failed(formEach(partial, alternatives.divided)))
        return failure();
      std::swap(results, others);
      condition = alternatives.isDivided;
      FailureOr<SmallVector<Value>> reduced =
          formSplitKReduction(getSplitKReduction(product, results.front()));
      if (failed(reduced))
        return failure();
      others = *reduced;
    }
    condition = alternatives.isAny;
    return formExactRecomputation(dequantized, others);
  }

private:
  DequantizedProduct dequantize(const HostProblem &host) {
    if (!host.problem.isDequantized())
      return {host};
    return formDequantizedProduct(rewriter, symbols, op, host,
                                  gemm.getTransforms(host.problem.instruction),
                                  condition);
  }

  /// One launch, or two with split-K.
  FailureOr<SmallVector<Value>> formAll(const HostProblem &host) {
    SplitKRule split = gemm.getSplitK(host.problem);
    if (split.ranges == 1)
      return formProducts(host);
    OpFoldResult ranges =
        getRanges(rewriter, op->getLoc(), host.sizes.k, split);
    SmallVector<Value> results;
    std::swap(results, others);
    FailureOr<SmallVector<Value>> partials = formProducts(
        getPartialProducts(rewriter, op->getLoc(), host, ranges,
                           getConstantIntValue(ranges).value_or(split.ranges)));
    std::swap(results, others);
    if (failed(partials))
      return failure();
    return formSplitKReduction(getSplitKReduction(host, partials->front()));
  }

  /// A launch that recomputes `results` exactly if bf16 did not hold a
  /// dequantized value.
  FailureOr<SmallVector<Value>>
  formExactRecomputation(const DequantizedProduct &dequantized,
                         ArrayRef<Value> results) {
    if (!dequantized.isToBeChecked())
      return SmallVector<Value>(results);
    FailureOr<TargetAttr> target = getTarget(op);
    if (failed(target))
      return failure();
    ExactRecomputation exact = getExactRecomputation(op, *(*target).getChip());
    HostProblem host = getExactProblem(rewriter, op, dequantized, exact);
    if (quantized)
      addQuantizer(host, *quantized);
    others.assign(results.begin(), results.end());
    return formLaunch(host, kExactRecomputationPurpose,
                      exact.gemm->getShape(host.problem),
                      [&](gpu::GPUFuncOp kernel) {
                        exact.gemm->build(kernel, host.problem);
                      });
  }

  /// A launch of a kernel of the path.
  FailureOr<SmallVector<Value>> formProducts(const HostProblem &host) {
    const KernelProblem &problem = host.problem;
    if (std::string remark = gemm.getRemark(problem); !remark.empty())
      op->emitRemark(remark);
    bool hasScales = bool(op.getXScale());
    StringRef purpose =
        op.getRowGroups()
            ? (hasScales ? kGroupedMmaScaledPurpose : kGroupedMatmulPurpose)
        : op.getMetadata() ? kSparseMmaScaledPurpose
        : hasScales        ? kMmaScaledPurpose
                           : kMatmulPurpose;
    return formLaunch(
        host, purpose, gemm.getShape(problem),
        [&](gpu::GPUFuncOp kernel) { gemm.build(kernel, problem); });
  }

  /// The same for the reduction kernel of split-K.
  FailureOr<SmallVector<Value>> formSplitKReduction(const HostProblem &host) {
    return formLaunch(host, kSplitKReductionPurpose,
                      getSplitKReductionShape(host.problem),
                      [&](gpu::GPUFuncOp kernel) {
                        buildSplitKReduction(kernel, host.problem);
                      });
  }

  /// Memory for the results.
  SmallVector<Value> makeOutputs(const HostProblem &host) {
    SmallVector<OpFoldResult> sizes =
        host.getResultSizes(rewriter, op->getLoc());
    if (quantized)
      return quantized->makeOutputs(rewriter, sizes);
    return {makeEmpty(rewriter, op->getLoc(), host.problem.resultType, sizes)};
  }

  FailureOr<SmallVector<Value>>
  formLaunch(const HostProblem &host, StringRef purpose,
             const KernelShape &shape,
             function_ref<void(gpu::GPUFuncOp)> build) {
    OpBuilder::InsertionGuard guard(rewriter);
    FailureOr<SmallVector<OpFoldResult>> blocks =
        getBlocks(rewriter, op, shape, host.sizes);
    if (failed(blocks))
      return failure();
    rewriter.setInsertionPoint(last);
    Location loc = op->getLoc();
    SmallVector<Value> outputs(others);
    if (outputs.empty())
      outputs = makeOutputs(host);
    bool isUpdate =
        condition || !others.empty() || (quantized && quantized->op.getAmax());
    size_t numResults = outputs.size();
    if (shape.setsInexactFlags)
      outputs.push_back(*inexactFlags);
    gpu::GPUFuncOp kernel =
        makeKernel(rewriter, symbols, op, purpose, host.inputs.getArrayRef(),
                   TypeRange(ValueRange(outputs)), shape);
    build(kernel);
    LaunchOp launch =
        createLaunch(rewriter, loc, kernel, host.inputs.getArrayRef(), outputs,
                     shape, *blocks, condition);
    launch.setUpdates(isUpdate);
    // Up to here, types say how memory holds operands. The problem of the
    // kernel is checked against them now, whoever runs the pass.
    if (failed(launch.verify()))
      return failure();
    if (shape.setsInexactFlags)
      *inexactFlags = launch->getResults().back();
    return SmallVector<Value>(launch->getResults().take_front(numResults));
  }
};
} // namespace

/// Replaces the results of `last`, the last op that the kernels of `op`
/// compute, and erases it.
static void replaceLast(RewriterBase &rewriter, ProductOpInterface op,
                        Operation *last, const KernelProblem &problem,
                        ArrayRef<Value> results) {
  if (problem.hasPairs())
    return replacePairs(rewriter, op, problem.consumer->op, results.front());
  rewriter.replaceAllUsesWith(last->getResults(), results);
  if (problem.consumer)
    rewriter.eraseOp(last);
}

/// The kernels of its alternatives, and those of `otherwise` for the sizes that
/// these are not for. A `quantize` of the result has a kernel of its own, since
/// it would need one epilogue in all of them.
static FormedResults formAlternatives(KernelSequence &otherwise,
                                      const HostProblem &host) {
  ProductOpInterface op = otherwise.op;
  RewriterBase &rewriter = otherwise.rewriter;
  FailureOr<TargetAttr> target = getTarget(op);
  if (failed(target))
    return failure();
  const Chip &chip = *(*target).getChip();
  FailureOr<SmallVector<AlternativeAttr>> list = readAlternatives(op, chip);
  if (failed(list))
    return failure();
  ScheduleInterface schedule = list->front().getSchedule();
  InstructionAttr instruction = list->front().getInstruction();
  const GemmKernel &gemm =
      *getGemmPath(instruction.getPath())->findKernel(schedule);
  HostProblem product =
      makeHostProblem(rewriter, op, gemm, instruction, schedule,
                      host.problem.hasPairs() ? host.problem.consumer->op
                                              : linalg::GenericOp());
  int64_t unitOfK = gemm.getUnitOfK(product.problem);
  assumeUnitOfK(product.problem, unitOfK);
  Alternatives alternatives =
      makeAlternatives(rewriter, op->getLoc(), *list, product.sizes,
                       getCountedSide(op), unitOfK, getSms(chip));
  KernelSequence first = {rewriter, otherwise.symbols, op, gemm,
                          otherwise.last};
  FailureOr<SmallVector<Value>> results =
      first.form(std::move(product), alternatives);
  if (succeeded(results) && !matchPattern(alternatives.isAny, m_One())) {
    otherwise.condition = alternatives.isNone;
    otherwise.others = *results;
    results = otherwise.form(host);
  }
  if (failed(results))
    return failure();
  replaceLast(rewriter, op, otherwise.last, host.problem, *results);
  return *results;
}

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

  FailureOr<linalg::GenericOp> pairs = findFusedPairs(op);
  if (failed(pairs))
    return failure();
  HostProblem host =
      makeHostProblem(rewriter, op, gemm,
                      op->getAttrOfType<InstructionAttr>(kInstructionAttrName),
                      schedule, *pairs);
  Operation *last = op;
  if (host.problem.consumer)
    last = host.problem.consumer->op;
  if (host.problem.hasPairs())
    checkPairs(rewriter, op, host);
  std::optional<QuantizedResults> quantized;
  bool hasAlternatives =
      op->hasAttr(kAlternativesAttrName) && areNotNegative(host.sizes);
  Value result = host.problem.hasPairs() ? findJoinedPairs(*pairs)
                                         : Value(last->getResult(0));
  if (!hasAlternatives && result)
    quantized = findFusedQuantizer(op, result, host.problem, gemm);
  KernelSequence sequence = {rewriter, symbols, op, gemm, last};
  if (int64_t unitOfK = gemm.getUnitOfK(host.problem);
      unitOfK != 1 && ShapedType::isDynamic(host.problem.k)) {
    assumeUnitOfK(host.problem, unitOfK);
    checkWholeBlocks(rewriter, op, host.sizes.k, unitOfK);
  }
  if (hasAlternatives)
    return formAlternatives(sequence, host);
  if (quantized) {
    addQuantizer(host, *quantized);
    sequence.last = quantized->op;
    sequence.quantized = &*quantized;
  }
  FailureOr<SmallVector<Value>> results = sequence.form(host);
  if (failed(results))
    return failure();
  if (quantized) {
    quantized->replace(rewriter, *results);
    rewriter.eraseOp(quantized->op);
    if (host.problem.hasPairs())
      erasePairs(rewriter, op, *pairs);
    else if (host.problem.consumer)
      rewriter.eraseOp(last);
    return *results;
  }
  replaceLast(rewriter, op, last, host.problem, *results);
  return *results;
}
