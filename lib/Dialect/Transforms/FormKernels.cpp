//===- FormKernels.cpp - A kernel for each mma_scaled ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeAccess.h"
#include "ElementwiseFusion.h"
#include "KernelBodies.h"
#include "KernelModule.h"
#include "OperandView.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

/// The memory of a tensor that a kernel gets: narrow floats are bytes.
static MemRefType getMemoryType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  Type element = type.getElementType();
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 8)
    element = IntegerType::get(type.getContext(), 8);
  return MemRefType::get(type.getShape(), element);
}

/// The limits of a grid (PTX ISA, "%nctaid").
static LogicalResult verifyShape(Operation *op, const KernelShape &shape) {
  constexpr int64_t limits[] = {(int64_t(1) << 31) - 1, 65535, 65535};
  for (auto [blocks, limit] : llvm::zip_equal(shape.blocks, limits))
    if (blocks < 1 || blocks > limit)
      return op->emitOpError("not supported in this version: a grid of more "
                             "than ")
             << limit << " blocks along one dimension, got " << blocks;
  return success();
}

/// A kernel without a body, which takes the memory of `inputs` and then that of
/// the result.
static gpu::GPUFuncOp makeKernel(OpBuilder &builder, Operation *op,
                                 StringRef what, ValueRange inputs,
                                 RankedTensorType resultType,
                                 const KernelShape &shape) {
  auto function = op->getParentOfType<func::FuncOp>();
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(getMemoryType(input.getType()));
  types.push_back(getMemoryType(resultType));
  gpu::GPUModuleOp kernels = getKernelModule(op->getParentOfType<ModuleOp>());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(kernels.getBody());
  auto kernel = gpu::GPUFuncOp::create(
      builder, op->getLoc(), (function.getSymName() + "__" + what).str(),
      builder.getFunctionType(types, {}));
  SymbolTable(kernels).insert(kernel); // Renames it where that is needed.
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  SmallVector<int32_t> threads(shape.threads.begin(), shape.threads.end());
  kernel.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(threads));
  return kernel;
}

/// Replaces `op` by the launch of `kernel`.
static void replaceByLaunch(PatternRewriter &rewriter, Operation *op,
                            gpu::GPUFuncOp kernel, ValueRange inputs,
                            RankedTensorType resultType,
                            const KernelShape &shape) {
  Value empty =
      tensor::EmptyOp::create(rewriter, op->getLoc(), resultType.getShape(),
                              resultType.getElementType());
  auto symbol = SymbolRefAttr::get(
      kernel->getParentOfType<gpu::GPUModuleOp>().getSymNameAttr(),
      FlatSymbolRefAttr::get(kernel.getNameAttr()));
  rewriter.replaceOpWithNewOp<LaunchOp>(op, TypeRange(resultType), symbol,
                                        shape.blocks, shape.threads,
                                        shape.shared, inputs, empty);
}

/// (batch, row, column) -> dimensions of an operand of `rank`, whose rows are
/// dimension `rowDim` and whose batch, if it has one, is of `batchSize`.
static AffineMap getOperandMap(MLIRContext *context, unsigned rank,
                               unsigned rowDim, int64_t batchSize) {
  AffineExpr batch, row, column;
  bindDims(context, batch, row, column);
  SmallVector<AffineExpr> exprs = {row, column};
  if (rowDim != rank - 2)
    std::swap(exprs[0], exprs[1]);
  if (rank == 3)
    exprs.insert(exprs.begin(),
                 batchSize == 1 ? getAffineConstantExpr(0, context) : batch);
  return AffineMap::get(3, 0, exprs, context);
}

/// `map` leads from (batch, row, column) of an operand of `rank` to memory.
static Contiguity getContiguity(AffineMap map, unsigned rank) {
  MLIRContext *context = map.getContext();
  AffineExpr batch, row, column;
  bindDims(context, batch, row, column);
  if (map.getNumResults() == rank + 2) {
    SmallVector<AffineExpr> index = {row, column};
    if (rank == 3)
      index.insert(index.begin(), map.getResult(0));
    AffineMap swizzle = getSwizzleMap(context, rank)
                            .compose(AffineMap::get(3, 0, index, context));
    return simplifyAffineMap(swizzle) == simplifyAffineMap(map)
               ? Contiguity::Atoms
               : Contiguity::Other;
  }
  AffineExpr last = map.getResults().back();
  if (last == row)
    return Contiguity::Rows;
  return last == column ? Contiguity::Columns : Contiguity::Other;
}

/// The code that all elements of `tensor` have, if it is known.
static std::optional<uint8_t> getSplat(Value tensor) {
  DenseElementsAttr attr;
  if (!matchPattern(tensor, m_Constant(&attr)) || !attr.isSplat())
    return std::nullopt;
  if (isa<FloatType>(attr.getElementType()))
    return attr.getSplatValue<APFloat>().bitcastToAPInt().getZExtValue();
  return attr.getSplatValue<APInt>().getZExtValue();
}

namespace {

struct FormKernel final : OpRewritePattern<MmaScaledOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MmaScaledOp op,
                                PatternRewriter &rewriter) const override {
    auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
    auto function = op->getParentOfType<func::FuncOp>();
    if (!op.hasTensorSemantics() || !path || !function)
      return rewriter.notifyMatchFailure(
          op, "expected tensors, in a function, with a path");
    if (!hasStaticShapes(op))
      return rewriter.notifyMatchFailure(op, "expected static shapes");
    if (path.getValue() == Path::Tcgen05)
      return rewriter.notifyMatchFailure(op, "expected a path with kernels");

    bool isNative = path.getValue() == Path::MmaSync;
    auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
    if (isNative && !schedule)
      return rewriter.notifyMatchFailure(op, "expected a schedule");

    SetVector<Value> inputs;
    KernelProblem problem = makeProblem(rewriter, op, inputs, isNative);
    problem.schedule = schedule;
    KernelShape shape =
        isNative ? getMmaKernelShape(problem) : getPlainKernelShape(problem);
    if (failed(verifyShape(op, shape)))
      return failure();

    gpu::GPUFuncOp kernel =
        makeKernel(rewriter, op, "mma_scaled", inputs.getArrayRef(),
                   problem.resultType, shape);
    if (isNative)
      buildMmaKernel(kernel, problem);
    else
      buildPlainKernel(kernel, problem);

    Operation *last = op;
    if (problem.consumer)
      last = problem.consumer->op;
    rewriter.setInsertionPoint(last);
    replaceByLaunch(rewriter, last, kernel, inputs.getArrayRef(),
                    problem.resultType, shape);
    if (problem.consumer)
      rewriter.eraseOp(op);
    return success();
  }

private:
  /// What the kernel computes from `inputs`, which are filled in.
  static KernelProblem makeProblem(OpBuilder &builder, MmaScaledOp op,
                                   SetVector<Value> &inputs, bool isNative) {
    auto add = [&](Value tensor) -> unsigned {
      inputs.insert(tensor);
      return llvm::find(inputs, tensor) - inputs.begin();
    };
    auto makeOperand = [&](Side side, Value operand) -> KernelOperand {
      StoredView view = getStoredView(builder, op.getLoc(), operand);
      auto type = cast<RankedTensorType>(operand.getType());
      unsigned rank = type.getRank();
      unsigned rowDim = MmaScaledOp::getRowDim(side, rank);
      AffineMap map =
          getOperandMap(op.getContext(), rank, rowDim, type.getDimSize(0));
      KernelOperand result;
      result.map = view.map.compose(map);
      result.bits = view.bits;
      result.rows = type.getDimSize(rowDim);
      result.columns = type.getDimSize(MmaScaledOp::getKDim(side, rank));
      result.contiguity = getContiguity(result.map, rank);
      result.rowAlignment =
          getMemoryType(view.tensor.getType()).getShape().back();
      // Plain kernels load what they are told to.
      bool isScale = operand == op.getXScale() || operand == op.getYScale();
      if (isNative && isScale)
        result.splat = getSplat(view.tensor);
      result.argument = result.splat ? 0 : add(view.tensor);
      return result;
    };
    KernelProblem problem;
    problem.row = op.getRow();
    problem.resultType = cast<RankedTensorType>(op.getType());
    problem.x = makeOperand(Side::X, op.getX());
    problem.xScale = makeOperand(Side::X, op.getXScale());
    problem.y = makeOperand(Side::Y, op.getY());
    problem.yScale = makeOperand(Side::Y, op.getYScale());
    auto fuse = [&](linalg::GenericOp generic,
                    Value product) -> std::optional<FusedElementwise> {
      if (!generic)
        return std::nullopt;
      FusedElementwise fused = {generic, {}, std::nullopt};
      for (auto [i, input] : llvm::enumerate(generic.getDpsInputs())) {
        bool isProduct = input == product;
        if (isProduct)
          fused.product = i;
        fused.arguments.push_back(isProduct ? 0 : add(input));
      }
      return fused;
    };
    if (isNative) {
      problem.producer = fuse(findElementwiseProducer(op), {});
      problem.consumer = fuse(findElementwiseConsumer(op), op.getResult());
    }
    if (problem.consumer)
      problem.resultType =
          cast<RankedTensorType>(problem.consumer->op->getResult(0).getType());
    if (!problem.producer && !isZeroSplat(op.getAcc()))
      problem.acc = add(op.getAcc());
    problem.result = inputs.size();
    return problem;
  }
};

/// A `swizzle_scales` that is a step of its own.
struct FormSwizzleKernel final : OpRewritePattern<SwizzleScalesOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SwizzleScalesOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto resultType = dyn_cast<RankedTensorType>(op.getType());
    if (!type || !resultType || !hasStaticShapes(op) ||
        !op->getParentOfType<func::FuncOp>())
      return rewriter.notifyMatchFailure(
          op, "expected tensors of static shapes in a function");
    unsigned rank = type.getRank();
    SwizzleProblem problem = {0,
                              1,
                              rank,
                              rank == 3 ? type.getDimSize(0) : 1,
                              type.getDimSize(rank - 2),
                              type.getDimSize(rank - 1)};
    KernelShape shape = getSwizzleKernelShape(problem);
    if (failed(verifyShape(op, shape)))
      return failure();
    gpu::GPUFuncOp kernel = makeKernel(rewriter, op, "swizzle_scales",
                                       op.getSource(), resultType, shape);
    buildSwizzleKernel(kernel, problem);
    Value source = op.getSource();
    replaceByLaunch(rewriter, op, kernel, source, resultType, shape);
    return success();
  }
};

struct FormKernelsPass final
    : mlir::blockscale::impl::FormKernelsPassBase<FormKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateFormKernelsPatterns(patterns);
    bool failedToForm =
        failed(applyPatternsGreedily(getOperation(), std::move(patterns)));
    // What is left is in a form that has no kernel, and may have said so.
    WalkResult left = getOperation()->walk([](MmaScaledOp op) -> WalkResult {
      if (op->getParentOfType<gpu::GPUModuleOp>())
        return WalkResult::advance();
      if (!hasStaticShapes(op))
        return op.emitOpError(
            "not supported in this version: dynamic sizes on a GPU target");
      if (!op.hasTensorSemantics())
        return op.emitOpError("not supported in this version: vectors outside "
                              "of a gpu.func on a GPU target");
      auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
      if (!path)
        return op.emitOpError("expected the attribute '")
               << kPathAttrName << "' of blockscale-select-path";
      if (path.getValue() == Path::Tcgen05)
        return op.emitOpError("not supported in this version: tcgen05 "
                              "lowering");
      if (path.getValue() == Path::MmaSync &&
          !op->getAttrOfType<ScheduleAttr>(kScheduleAttrName))
        return op.emitOpError("expected the attribute '")
               << kScheduleAttrName << "' of blockscale-select-schedule";
      return WalkResult::interrupt();
    });
    if (failedToForm && !left.wasInterrupted())
      emitError(getOperation()->getLoc(), "kernels did not converge");
    if (failedToForm || left.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

void blockscale::populateFormKernelsPatterns(RewritePatternSet &patterns) {
  patterns.add<FormKernel, FormSwizzleKernel>(patterns.getContext());
}
