//===- FormKernels.cpp - Kernels for each product -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The step from tensors to launches: the only pass that makes kernels for ops
// of the tile level.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Backend.h"
#include "Kernels/CodesOfY.h"
#include "Kernels/Decode/DecodedProduct.h"
#include "Kernels/HostProblem.h"
#include "Kernels/KnownMultiples.h"
#include "Kernels/LaunchForming.h"
#include "Kernels/ProblemOfOp.h"
#include "Kernels/Quantize/QuantizeForming.h"
#include "Kernels/Quantize/QuantizerFusion.h"
#include "Kernels/Rows/RowForming.h"
#include "Kernels/Rows/RowOps.h"
#include "Kernels/SplitProblem.h"
#include "Launch/KernelPurpose.h"
#include "Launch/LoopSizes.h"
#include "Utils/CheckMessage.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// An attribute that kernels are made of, and the pass that gives it.
struct NeededAttribute {
  StringRef name, pass;
};
} // namespace

/// What `op` lacks for a kernel of `path`; nullopt for nothing.
static std::optional<NeededAttribute> findMissing(ProductOpInterface op,
                                                  Path path) {
  auto instruction = op->getAttrOfType<InstructionAttr>(kInstructionAttrName);
  std::optional<CodesOfY> y = findCodesOfY(op);
  bool isComputed =
      instruction && instruction.getPath() == path &&
      (!takesCodesOfY(instruction) ||
       (y && y->row == getComputedRow(op, instruction))) &&
      getRewrite(getComputedRow(op, instruction), instruction.getInstruction())
          .has_value();
  if (chooseInstruction(op, path) && !isComputed)
    return NeededAttribute{kInstructionAttrName, "blockscale-legalize"};
  auto schedule = op->getAttrOfType<ScheduleInterface>(kScheduleAttrName);
  const KernelBackend &backend = *getKernelBackend(path);
  bool isScheduled =
      schedule && schedule.isFor(path) &&
      (backend.getTakenCodes(instruction, schedule) == TakenCodes::None || y);
  if (backend.getScheduleRules() && !isScheduled)
    return NeededAttribute{kScheduleAttrName, "blockscale-select-schedule"};
  return std::nullopt;
}

namespace {
/// The results of launches, and the words of blocks, where there are such.
struct Formed {
  SmallVector<Value> results;
  Value words = {};
};

/// Makes the launches for one product.
struct Former {
  PatternRewriter &rewriter;
  ProductOpInterface op;
  const KernelBackend &backend;
  /// They come in front of this.
  Operation *last;
  /// What the kernels leave; null for what `op`, or its consumer, does.
  QuantizedResults *quantized = nullptr;

  FailureOr<Formed> form(const HostProblem &host) {
    if (!host.problem.isDecoded())
      return formAll(host);
    DecodedProduct decoded = formDecoded(
        rewriter, op, host,
        backend.getTakenCodes(host.problem.instruction, host.problem.schedule));
    FailureOr<Formed> formed = formAll(decoded.product);
    if (failed(formed))
      return failure();
    if (formed->words)
      decoded.conditions[1] = formed->words;
    if (decoded.isToBeChecked())
      return formExact(decoded, formed->results);
    return formed;
  }

private:
  /// One launch, or two where K is divided.
  FailureOr<Formed> formAll(const HostProblem &host) {
    KernelSplit split = backend.getSplit(host.problem);
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
  FailureOr<Formed> formExact(const DecodedProduct &decoded,
                              ValueRange results) {
    FailureOr<TargetAttr> target = getTarget(op);
    if (failed(target))
      return failure();
    ExactKernel exact = getExactKernel(op, *(*target).getChip());
    HostProblem host = getExactProblem(rewriter, op, decoded, exact);
    if (quantized)
      addQuantizer(host, *quantized);
    return formLaunch(
        host, kExactPurpose, exact.backend->getShape(host.problem),
        [&](gpu::GPUFuncOp kernel) {
          exact.backend->build(kernel, host.problem);
        },
        results);
  }

  /// A launch of a kernel of the path.
  FailureOr<Formed> formProducts(const HostProblem &host) {
    const KernelProblem &problem = host.problem;
    if (std::string remark = backend.getRemark(problem); !remark.empty())
      op->emitRemark(remark);
    StringRef purpose =
        isa<MmaScaledOp>(op) ? kMmaScaledPurpose : kMatmulPurpose;
    return formLaunch(
        host, purpose, backend.getShape(problem),
        [&](gpu::GPUFuncOp kernel) { backend.build(kernel, problem); });
  }

  /// The same of the kernel that adds what those of parts of K leave.
  FailureOr<Formed> formSums(const HostProblem &host) {
    return formLaunch(
        host, kAddSplitsPurpose, getAddSplitsShape(),
        [&](gpu::GPUFuncOp kernel) { buildAddSplits(kernel, host.problem); });
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
        makeKernel(rewriter, op, purpose, host.inputs.getArrayRef(),
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

namespace {

struct FormKernel final : OpInterfaceRewritePattern<ProductOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ProductOpInterface op,
                                PatternRewriter &rewriter) const override {
    auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
    auto function = op->getParentOfType<func::FuncOp>();
    if (!op.hasTensorSemantics() || !path || !function)
      return rewriter.notifyMatchFailure(
          op, "expected tensors, in a function, with a path");
    const KernelBackend *backend = getKernelBackend(path.getValue());
    if (!backend || findMissing(op, path.getValue()))
      return rewriter.notifyMatchFailure(op, "expected a path with kernels, "
                                             "with its attributes");

    HostProblem host = makeHostProblem(
        rewriter, op, *backend,
        op->getAttrOfType<InstructionAttr>(kInstructionAttrName),
        op->getAttrOfType<ScheduleInterface>(kScheduleAttrName));
    Operation *last = op;
    if (host.problem.consumer)
      last = host.problem.consumer->op;
    std::optional<QuantizedResults> quantized =
        findFusedQuantizer(op, last->getResult(0), host.problem, *backend);
    Former former = {rewriter, op, *backend, last};
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
      rewriter.eraseOp(last);
    } else {
      rewriter.replaceOp(last, formed->results);
    }
    if (host.problem.consumer)
      rewriter.eraseOp(op);
    return success();
  }
};

/// A `swizzle_scales` that is a step of its own.
struct FormSwizzleKernel final : OpRewritePattern<SwizzleScalesOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SwizzleScalesOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto resultType = dyn_cast<RankedTensorType>(op.getType());
    if (!type || !resultType || !op->getParentOfType<func::FuncOp>())
      return rewriter.notifyMatchFailure(op, "expected tensors in a function");
    Value source = op.getSource();
    // What makes the scales may make them so.
    if (auto quantize = source.getDefiningOp<QuantizeOp>();
        quantize && source.hasOneUse())
      return rewriter.notifyMatchFailure(op, "expected scales in memory");
    unsigned rank = type.getRank();
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op.getLoc(), op.getSource());
    HostSizes hostSizes = {sizes[rank - 2], sizes[rank - 1],
                           rank == 3 ? sizes[0]
                                     : OpFoldResult(rewriter.getIndexAttr(1))};
    KernelShape shape = getSwizzleKernelShape();
    FailureOr<SmallVector<OpFoldResult>> blocks =
        getBlocks(rewriter, op, shape, hostSizes);
    if (failed(blocks))
      return failure();
    gpu::GPUFuncOp kernel = makeKernel(rewriter, op, kSwizzleScalesPurpose,
                                       source, resultType, shape);
    buildSwizzleKernel(kernel);
    Value empty = makeEmpty(rewriter, op.getLoc(), resultType,
                            getSwizzledSizes(rewriter, op.getLoc(), sizes));
    rewriter.replaceOp(op, createLaunch(rewriter, op.getLoc(), kernel, source,
                                        empty, shape, *blocks));
    return success();
  }
};

struct FormKernelsPass final
    : mlir::blockscale::impl::FormKernelsPassBase<FormKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    WalkResult checked =
        getOperation()->walk([](func::FuncOp function) -> WalkResult {
          return checkMultiples(function);
        });
    if (checked.wasInterrupted())
      return signalPassFailure();
    checkDynamicSizes();
    packQuantizedCodes(getOperation());
    RewritePatternSet patterns(&getContext());
    populateFormKernelsPatterns(patterns);
    // What is asked for the sizes of an op that is gone is asked of its
    // operands instead.
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    tensor::DimOp::getCanonicalizationPatterns(patterns, &getContext());
    // Users come first: what they take of an op is known then.
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(false);
    bool failedToForm = failed(
        applyPatternsGreedily(getOperation(), std::move(patterns), config));
    // What is left is in a form that has no kernel, and may have said so.
    WalkResult left =
        getOperation()->walk([](ProductOpInterface op) -> WalkResult {
          auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
          bool isLoops = !path && !isa<MmaScaledOp>(op);
          if (isLoops || op->getParentOfType<gpu::GPUModuleOp>())
            return WalkResult::advance();
          if (!op.hasTensorSemantics())
            return op->emitOpError(
                "not supported in this version: vectors outside "
                "of a gpu.func on a GPU target");
          if (!path)
            return op->emitOpError("expected the attribute '")
                   << kPathAttrName << "' of blockscale-select-path";
          if (!getKernelBackend(path.getValue()))
            return op->emitOpError("not supported in this version: ")
                   << StringRef(getPathInfo(path.getValue()).name)
                   << " lowering";
          if (auto missing = findMissing(op, path.getValue()))
            return op->emitOpError("expected the attribute '")
                   << missing->name << "' of " << missing->pass;
          return WalkResult::interrupt();
        });
    if (failedToForm && !left.wasInterrupted())
      emitError(getOperation()->getLoc(), "kernels did not converge");
    if (failedToForm || left.wasInterrupted())
      signalPassFailure();
  }

private:
  /// Asserts, in front of our ops and of other products in functions, what
  /// their verifiers cannot know.
  void checkDynamicSizes() {
    getOperation()->walk([](Operation *op) {
      if (hasStaticShapes(op) || !op->getParentOfType<func::FuncOp>())
        return;
      auto loops = dyn_cast<linalg::LinalgOp>(op);
      if (loops && (op->hasAttr(kPathAttrName) || isRowReduction(loops)))
        return checkLoopSizes(loops);
      if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
        return isRowSoftmax(softmax) ? checkSoftmaxSizes(softmax) : void();
      auto checked = dyn_cast<RuntimeVerifiableOpInterface>(op);
      if (!checked || !isa_and_nonnull<BlockScaleDialect>(op->getDialect()))
        return;
      OpBuilder builder(op);
      checked.generateRuntimeVerification(builder, op->getLoc(),
                                          [](Operation *of, StringRef message) {
                                            return getCheckMessage(of, message);
                                          });
    });
  }
};

} // namespace

void blockscale::populateFormKernelsPatterns(RewritePatternSet &patterns) {
  patterns.add<FormKernel, FormSwizzleKernel>(patterns.getContext());
  populateFormQuantizePatterns(patterns);
  populateFormDequantizePatterns(patterns);
  populateFormRowsPatterns(patterns);
}
