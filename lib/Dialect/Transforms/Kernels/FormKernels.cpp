//===- FormKernels.cpp - A kernel for each mma_scaled ---------------------===//
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
#include "Kernels/HostProblem.h"
#include "Kernels/KernelModule.h"
#include "Kernels/KernelPurpose.h"
#include "Kernels/SplitProblem.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace mlir::blockscale {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

/// What a kernel gets: a scalar, or the memory of a tensor, where narrow floats
/// are bytes.
static Type getMemoryType(Type input) {
  auto type = dyn_cast<RankedTensorType>(input);
  if (!type)
    return input;
  Type element = type.getElementType();
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 8)
    element = IntegerType::get(type.getContext(), 8);
  return MemRefType::get(type.getShape(), element);
}

/// All blocks along x, as many as there are tiles, or multiprocessors.
static FailureOr<SmallVector<OpFoldResult>>
getBlocksInLine(OpBuilder &builder, Operation *op, const KernelShape &shape,
                const HostSizes &sizes, int64_t limit) {
  Location loc = op->getLoc();
  AffineExpr m, n, batch;
  bindDims(builder.getContext(), m, n, batch);
  OpFoldResult tiles = affine::makeComposedFoldedAffineApply(
      builder, loc, m.ceilDiv(shape.tile[0]), ArrayRef<OpFoldResult>{sizes.m});
  auto multiply = [&](OpFoldResult lhs, OpFoldResult rhs) -> OpFoldResult {
    std::optional<int64_t> a = getConstantIntValue(lhs),
                           b = getConstantIntValue(rhs);
    // As many as there are numbers are too many, too.
    int64_t product = std::numeric_limits<int64_t>::max();
    if (int64_t exact; a && b && !llvm::MulOverflow(*a, *b, exact))
      product = exact;
    if (a && b)
      return builder.getIndexAttr(product);
    Value left = getValueOrCreateConstantIndexOp(builder, loc, lhs);
    Value right = getValueOrCreateConstantIndexOp(builder, loc, rhs);
    return builder.createOrFold<arith::MulIOp>(loc, left, right);
  };
  OpFoldResult columns = affine::makeComposedFoldedAffineApply(
      builder, loc, m.ceilDiv(shape.tile[1]), ArrayRef<OpFoldResult>{sizes.n});
  tiles = multiply(multiply(tiles, columns), sizes.batch);
  if (std::optional<int64_t> known = getConstantIntValue(tiles);
      known && (*known < 1 || *known > limit))
    return op->emitOpError("not supported in this version: more than ")
           << limit << " tiles, got " << *known;
  if (shape.order == BlockOrder::Persistent) {
    Value count = getValueOrCreateConstantIndexOp(builder, loc, tiles);
    Value most = MultiprocessorsOp::create(builder, loc);
    tiles = arith::MinUIOp::create(builder, loc, count, most).getResult();
  }
  OpFoldResult one = builder.getIndexAttr(1);
  return SmallVector<OpFoldResult>{tiles, one, one};
}

/// The grid of a kernel; fails after an error if no chip has one as large (PTX
/// ISA, "%nctaid"). Dynamic sizes are left to the launch.
static FailureOr<SmallVector<OpFoldResult>> getBlocks(OpBuilder &builder,
                                                      Operation *op,
                                                      const KernelShape &shape,
                                                      const HostSizes &sizes) {
  constexpr int64_t limits[] = {(int64_t(1) << 31) - 1, 65535, 65535};
  if (shape.order != BlockOrder::Grid)
    return getBlocksInLine(builder, op, shape, sizes, limits[0]);
  SmallVector<OpFoldResult> blocks;
  for (auto [size, tile, limit] : llvm::zip_equal(
           std::array{sizes.m, sizes.n, sizes.batch}, shape.tile, limits)) {
    if (std::optional<int64_t> known = getConstantIntValue(size)) {
      int64_t count = llvm::divideCeilSigned(*known, tile);
      if (count < 1 || count > limit)
        return op->emitOpError("not supported in this version: a grid of more "
                               "than ")
               << limit << " blocks along one dimension, got " << count;
      blocks.push_back(builder.getIndexAttr(count));
      continue;
    }
    Value divisor = arith::ConstantIndexOp::create(builder, op->getLoc(), tile);
    blocks.push_back(builder.createOrFold<arith::CeilDivUIOp>(
        op->getLoc(), cast<Value>(size), divisor));
  }
  return blocks;
}

/// A kernel without a body, which takes the memory of `inputs` and then that of
/// the result.
static gpu::GPUFuncOp makeKernel(OpBuilder &builder, Operation *op,
                                 StringRef purpose, ValueRange inputs,
                                 RankedTensorType resultType,
                                 const KernelShape &shape) {
  auto function = op->getParentOfType<func::FuncOp>();
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(getMemoryType(input.getType()));
  types.push_back(getMemoryType(resultType));
  types.append(shape.maps.size(),
               LLVM::LLVMPointerType::get(builder.getContext()));
  gpu::GPUModuleOp kernels = getKernelModule(op->getParentOfType<ModuleOp>());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(kernels.getBody());
  auto kernel = gpu::GPUFuncOp::create(
      builder, op->getLoc(), (function.getSymName() + "__" + purpose).str(),
      builder.getFunctionType(types, {}));
  SymbolTable(kernels).insert(kernel); // Renames it where that is needed.
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel->setAttr(kPurposeAttrName, builder.getStringAttr(purpose));
  SmallVector<int32_t> threads(shape.threads.begin(), shape.threads.end());
  kernel.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(threads));
  return kernel;
}

/// The result, of `sizes`, of a launch of `kernel` for `op`.
static Value createLaunch(OpBuilder &rewriter, Operation *op,
                          gpu::GPUFuncOp kernel, ValueRange inputs,
                          RankedTensorType resultType,
                          ArrayRef<OpFoldResult> sizes,
                          const KernelShape &shape,
                          ArrayRef<OpFoldResult> blocks) {
  SmallVector<Value> dynamic;
  for (auto [size, known] : llvm::zip_equal(sizes, resultType.getShape()))
    if (ShapedType::isDynamic(known))
      dynamic.push_back(
          getValueOrCreateConstantIndexOp(rewriter, op->getLoc(), size));
  Value empty =
      tensor::EmptyOp::create(rewriter, op->getLoc(), resultType, dynamic);
  auto symbol = SymbolRefAttr::get(
      kernel->getParentOfType<gpu::GPUModuleOp>().getSymNameAttr(),
      FlatSymbolRefAttr::get(kernel.getNameAttr()));
  SmallVector<int64_t> staticBlocks;
  SmallVector<Value> dynamicBlocks;
  dispatchIndexOpFoldResults(blocks, dynamicBlocks, staticBlocks);
  auto launch = LaunchOp::create(
      rewriter, op->getLoc(), TypeRange(resultType), symbol, dynamicBlocks,
      staticBlocks, shape.threads, shape.shared, /*cluster=*/nullptr,
      shape.maps.empty() ? ArrayAttr() : rewriter.getArrayAttr(shape.maps),
      shape.maps.empty() ? DenseI64ArrayAttr()
                         : rewriter.getDenseI64ArrayAttr(shape.mapped),
      inputs, empty);
  return launch->getResult(0);
}

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
  bool isComputed =
      instruction && instruction.getPath() == path &&
      getRewrite(op.getRow(), instruction.getInstruction()).has_value();
  if (chooseInstruction(op.getRow(), path) && !isComputed)
    return NeededAttribute{kInstructionAttrName, "blockscale-legalize"};
  auto schedule = op->getAttrOfType<ScheduleInterface>(kScheduleAttrName);
  bool isScheduled = schedule && schedule.isFor(path);
  if (getKernelBackend(path)->getScheduleRules() && !isScheduled)
    return NeededAttribute{kScheduleAttrName, "blockscale-select-schedule"};
  return std::nullopt;
}

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

    HostProblem host = makeHostProblem(rewriter, op, *backend);
    Operation *last = op;
    if (host.problem.consumer)
      last = host.problem.consumer->op;
    KernelSplit split = backend->getSplit(host.problem);
    FailureOr<Value> result;
    if (split.parts == 1) {
      result = formProducts(rewriter, op, last, host, *backend);
    } else {
      result = formProducts(
          rewriter, op, last,
          getPartialProducts(rewriter, op->getLoc(), host, split), *backend);
      if (succeeded(result))
        result = formSums(rewriter, op, last, getSumOfParts(host, *result));
    }
    if (failed(result))
      return failure();
    rewriter.replaceOp(last, *result);
    if (host.problem.consumer)
      rewriter.eraseOp(op);
    return success();
  }

private:
  /// The result of a launch, in front of `last`, of a kernel of the path.
  static FailureOr<Value> formProducts(PatternRewriter &rewriter,
                                       ProductOpInterface op, Operation *last,
                                       const HostProblem &host,
                                       const KernelBackend &backend) {
    const KernelProblem &problem = host.problem;
    if (std::string remark = backend.getRemark(problem); !remark.empty())
      op->emitRemark(remark);
    return form(rewriter, op, last, host, kMmaScaledPurpose,
                backend.getShape(problem),
                [&](gpu::GPUFuncOp kernel) { backend.build(kernel, problem); });
  }

  /// The same of the kernel that adds what those of parts of K leave.
  static FailureOr<Value> formSums(PatternRewriter &rewriter,
                                   ProductOpInterface op, Operation *last,
                                   const HostProblem &host) {
    return form(
        rewriter, op, last, host, kAddSplitsPurpose, getAddSplitsShape(),
        [&](gpu::GPUFuncOp kernel) { buildAddSplits(kernel, host.problem); });
  }

  static FailureOr<Value> form(PatternRewriter &rewriter, ProductOpInterface op,
                               Operation *last, const HostProblem &host,
                               StringRef purpose, const KernelShape &shape,
                               function_ref<void(gpu::GPUFuncOp)> build) {
    FailureOr<SmallVector<OpFoldResult>> blocks =
        getBlocks(rewriter, op, shape, host.sizes);
    if (failed(blocks))
      return failure();
    RankedTensorType type = host.problem.resultType;
    gpu::GPUFuncOp kernel = makeKernel(rewriter, op, purpose,
                                       host.inputs.getArrayRef(), type, shape);
    build(kernel);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(last);
    return createLaunch(rewriter, op, kernel, host.inputs.getArrayRef(), type,
                        host.getResultSizes(), shape, *blocks);
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
    Value source = op.getSource();
    gpu::GPUFuncOp kernel = makeKernel(rewriter, op, kSwizzleScalesPurpose,
                                       source, resultType, shape);
    buildSwizzleKernel(kernel);
    rewriter.replaceOp(
        op, createLaunch(rewriter, op, kernel, source, resultType,
                         getSwizzledSizes(rewriter, op.getLoc(), sizes), shape,
                         *blocks));
    return success();
  }
};

struct FormKernelsPass final
    : mlir::blockscale::impl::FormKernelsPassBase<FormKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    checkDynamicSizes();
    RewritePatternSet patterns(&getContext());
    populateFormKernelsPatterns(patterns);
    // What is asked for the sizes of an op that is gone is asked of its
    // operands instead.
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    tensor::DimOp::getCanonicalizationPatterns(patterns, &getContext());
    bool failedToForm =
        failed(applyPatternsGreedily(getOperation(), std::move(patterns)));
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
    getOperation()->walk([](RuntimeVerifiableOpInterface op) {
      bool isChecked = isa_and_nonnull<BlockScaleDialect>(op->getDialect()) ||
                       op->hasAttr(kPathAttrName);
      if (!isChecked || hasStaticShapes(op) ||
          !op->getParentOfType<func::FuncOp>())
        return;
      OpBuilder builder(op);
      op.generateRuntimeVerification(builder, op.getLoc(),
                                     [](Operation *checked, StringRef message) {
                                       return getCheckMessage(checked, message);
                                     });
    });
  }
};

} // namespace

void blockscale::populateFormKernelsPatterns(RewritePatternSet &patterns) {
  patterns.add<FormKernel, FormSwizzleKernel>(patterns.getContext());
}
