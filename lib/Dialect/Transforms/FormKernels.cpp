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
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

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

/// What one kernel works on, as the host knows it.
struct HostSizes {
  OpFoldResult m, n, batch;
};

/// The grid of a kernel; fails after an error if no chip has one as large (PTX
/// ISA, "%nctaid"). Dynamic sizes are left to the launch.
static FailureOr<SmallVector<OpFoldResult>> getBlocks(OpBuilder &builder,
                                                      Operation *op,
                                                      const KernelShape &shape,
                                                      const HostSizes &sizes) {
  constexpr int64_t limits[] = {(int64_t(1) << 31) - 1, 65535, 65535};
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

/// Replaces `op` by the launch of `kernel`, whose result is of `sizes`.
static void replaceByLaunch(PatternRewriter &rewriter, Operation *op,
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
  rewriter.replaceOpWithNewOp<LaunchOp>(
      op, TypeRange(resultType), symbol, dynamicBlocks, staticBlocks,
      shape.threads, shape.shared, inputs, empty);
}

/// What a failed check of `op` prints, as on the CPU.
static std::string getCheckMessage(Operation *op, const Twine &message) {
  std::string text = "ERROR: Runtime op verification failed\n";
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().useLocalScope().skipRegions());
  stream << "\n^ " << message << "\nLocation: ";
  op->getLoc().print(stream);
  return text;
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

/// What a kernel computes, its arguments, and its sizes for the host.
class ProblemBuilder {
public:
  ProblemBuilder(OpBuilder &builder, MmaScaledOp op, bool isNative)
      : builder(builder), op(op), loc(op.getLoc()), isNative(isNative) {}

  void build(ScheduleAttr schedule) {
    problem.row = op.getRow();
    problem.schedule = schedule;
    problem.resultType = cast<RankedTensorType>(op.getType());
    linalg::GenericOp producer, consumer;
    if (isNative) {
      producer = findElementwiseProducer(op);
      consumer = findElementwiseConsumer(op);
    }
    if (consumer)
      problem.resultType =
          cast<RankedTensorType>(consumer->getResult(0).getType());

    unsigned xRank = getRank(op.getX()), yRank = getRank(op.getY());
    unsigned rank = problem.resultType.getRank();
    unsigned xRow = MmaScaledOp::getRowDim(Side::X, xRank);
    unsigned yRow = MmaScaledOp::getRowDim(Side::Y, yRank);
    unsigned xColumn = MmaScaledOp::getKDim(Side::X, xRank);
    unsigned yColumn = MmaScaledOp::getKDim(Side::Y, yRank);
    Type result = problem.resultType, acc = op.getAcc().getType();
    problem.m = getKnown({{op.getX().getType(), xRow},
                          {op.getXScale().getType(), xRow},
                          {acc, rank - 2},
                          {result, rank - 2}});
    problem.n = getKnown({{op.getY().getType(), yRow},
                          {op.getYScale().getType(), yRow},
                          {acc, rank - 1},
                          {result, rank - 1}});
    problem.k = getKnown(
        {{op.getX().getType(), xColumn}, {op.getY().getType(), yColumn}});
    int64_t blocks = getKnown({{op.getXScale().getType(), xColumn},
                               {op.getYScale().getType(), yColumn}});
    int64_t blockSize = problem.row.blockSize;
    if (ShapedType::isDynamic(problem.k) && !ShapedType::isDynamic(blocks))
      problem.k = blocks * blockSize;
    blocks =
        ShapedType::isDynamic(problem.k) ? problem.k : problem.k / blockSize;

    problem.x = makeOperand(Side::X, op.getX(), problem.m, problem.k);
    problem.xScale = makeOperand(Side::X, op.getXScale(), problem.m, blocks);
    problem.y = makeOperand(Side::Y, op.getY(), problem.n, problem.k);
    problem.yScale = makeOperand(Side::Y, op.getYScale(), problem.n, blocks);
    sizes.m = getSize(problem.m, op.getX(), xRow);
    sizes.n = getSize(problem.n, op.getY(), yRow);
    sizes.batch = builder.getIndexAttr(1);
    if (rank == 3) {
      // The one that has more than one matrix, if that is known.
      auto isOne = [](Value value) {
        auto type = cast<RankedTensorType>(value.getType());
        return type.getRank() == 2 || type.getDimSize(0) == 1;
      };
      Value batched = isOne(op.getX())   ? op.getY()
                      : isOne(op.getY()) ? op.getX()
                                         : op.getAcc();
      int64_t batch = getKnown({{batched.getType(), 0}, {acc, 0}, {result, 0}});
      sizes.batch = getSize(batch, batched, 0);
    }

    problem.producer = fuse(producer, {});
    problem.consumer = fuse(consumer, op.getResult());
    if (!problem.producer && !isZeroSplat(op.getAcc()))
      problem.acc = addInput(op.getAcc());
    problem.result = inputs.size();
  }

  /// The sizes of the result.
  SmallVector<OpFoldResult> getResultSizes() {
    SmallVector<OpFoldResult> result = {sizes.m, sizes.n};
    if (problem.resultType.getRank() == 3)
      result.insert(result.begin(), sizes.batch);
    return result;
  }

  KernelProblem problem;
  HostSizes sizes;
  SetVector<Value> inputs;

private:
  static unsigned getRank(Value value) {
    return cast<ShapedType>(value.getType()).getRank();
  }

  /// The first static size; they are equal.
  static int64_t getKnown(ArrayRef<std::pair<Type, unsigned>> dims) {
    for (auto [type, dim] : dims)
      if (int64_t size = cast<ShapedType>(type).getDimSize(dim);
          !ShapedType::isDynamic(size))
        return size;
    return ShapedType::kDynamic;
  }

  OpFoldResult getSize(int64_t known, Value operand, unsigned dim) {
    if (!ShapedType::isDynamic(known))
      return builder.getIndexAttr(known);
    return getOperandSizes(builder, loc, operand, traceOperand(operand))[dim];
  }

  unsigned addInput(Value value) {
    inputs.insert(value);
    return llvm::find(inputs, value) - inputs.begin();
  }

  KernelOperand makeOperand(Side side, Value operand, int64_t rows,
                            int64_t columns) {
    StoredView view = getStoredView(builder, loc, operand);
    auto type = cast<RankedTensorType>(operand.getType());
    unsigned rank = type.getRank();
    unsigned rowDim = MmaScaledOp::getRowDim(side, rank);
    int64_t batch = type.getDimSize(0);
    AffineMap map = getOperandMap(op.getContext(), rank, rowDim, batch);
    bool isScale = operand == op.getXScale() || operand == op.getYScale();
    KernelOperand result;
    result.map = view.map.compose(map);
    result.bits = view.bits;
    result.contiguity = getContiguity(result.map, rank);
    // What is packed ends on a byte. K is a multiple of the size of a block.
    result.rowMultiple = rows;
    if (ShapedType::isDynamic(rows))
      result.rowMultiple = result.contiguity == Contiguity::Rows
                               ? getPackedUnit(view.bits).codes
                               : 1;
    result.columnMultiple = columns;
    if (ShapedType::isDynamic(columns))
      result.columnMultiple = isScale ? 1 : problem.row.blockSize;
    result.mayBroadcast = rank == 3 && ShapedType::isDynamic(batch);
    // Plain kernels load what they are told to.
    if (isNative && isScale)
      result.splat = getSplat(view.tensor);
    result.argument = result.splat ? 0 : addInput(view.tensor);
    return result;
  }

  std::optional<FusedElementwise> fuse(linalg::GenericOp generic,
                                       Value product) {
    if (!generic)
      return std::nullopt;
    FusedElementwise fused;
    fused.op = generic;
    fused.product = product;
    for (OpOperand *operand : getUsedOperands(generic)) {
      if (operand->get() == product)
        continue;
      checkSizes(generic, operand);
      fused.arguments[operand->get()] = addInput(operand->get());
    }
    for (Value scalar : getCapturedScalars(generic))
      fused.arguments[scalar] = addInput(scalar);
    return fused;
  }

  /// Asserts that dynamic sizes of `operand` are those of the loops over it.
  void checkSizes(linalg::GenericOp generic, OpOperand *operand) {
    AffineMap map = generic.getMatchingIndexingMap(operand);
    SmallVector<OpFoldResult> loops = getResultSizes();
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      OpFoldResult got =
          tensor::getMixedSize(builder, loc, operand->get(), dim);
      OpFoldResult expected = loops[loop.getPosition()];
      if (isEqualConstantIntOrValue(got, expected))
        continue;
      Value isEqual = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq,
          getValueOrCreateConstantIndexOp(builder, loc, got),
          getValueOrCreateConstantIndexOp(builder, loc, expected));
      cf::AssertOp::create(
          builder, loc, isEqual,
          getCheckMessage(generic, "expected sizes of operand #" +
                                       Twine(operand->getOperandNumber()) +
                                       " that fit those of the result"));
    }
  }

  OpBuilder &builder;
  MmaScaledOp op;
  Location loc;
  bool isNative;
};

struct FormKernel final : OpRewritePattern<MmaScaledOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MmaScaledOp op,
                                PatternRewriter &rewriter) const override {
    auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
    auto function = op->getParentOfType<func::FuncOp>();
    if (!op.hasTensorSemantics() || !path || !function)
      return rewriter.notifyMatchFailure(
          op, "expected tensors, in a function, with a path");
    if (path.getValue() == Path::Tcgen05)
      return rewriter.notifyMatchFailure(op, "expected a path with kernels");

    bool isNative = path.getValue() == Path::MmaSync;
    auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
    if (isNative && !schedule)
      return rewriter.notifyMatchFailure(op, "expected a schedule");

    ProblemBuilder made(rewriter, op, isNative);
    made.build(schedule);
    const KernelProblem &problem = made.problem;
    ArrayRef<Value> inputs = made.inputs.getArrayRef();
    KernelShape shape =
        isNative ? getMmaKernelShape(problem) : getPlainKernelShape();
    FailureOr<SmallVector<OpFoldResult>> blocks =
        getBlocks(rewriter, op, shape, made.sizes);
    if (failed(blocks))
      return failure();

    gpu::GPUFuncOp kernel = makeKernel(rewriter, op, "mma_scaled", inputs,
                                       problem.resultType, shape);
    if (isNative)
      buildMmaKernel(kernel, problem);
    else
      buildPlainKernel(kernel, problem);

    Operation *last = op;
    if (problem.consumer)
      last = problem.consumer->op;
    rewriter.setInsertionPoint(last);
    replaceByLaunch(rewriter, last, kernel, inputs, problem.resultType,
                    made.getResultSizes(), shape, *blocks);
    if (problem.consumer)
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
    unsigned rank = type.getRank();
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op.getLoc(), op.getSource());
    HostSizes host = {sizes[rank - 2], sizes[rank - 1],
                      rank == 3 ? sizes[0]
                                : OpFoldResult(rewriter.getIndexAttr(1))};
    KernelShape shape = getSwizzleKernelShape();
    FailureOr<SmallVector<OpFoldResult>> blocks =
        getBlocks(rewriter, op, shape, host);
    if (failed(blocks))
      return failure();
    Value source = op.getSource();
    gpu::GPUFuncOp kernel =
        makeKernel(rewriter, op, "swizzle_scales", source, resultType, shape);
    buildSwizzleKernel(kernel);
    replaceByLaunch(rewriter, op, kernel, source, resultType,
                    getSwizzledSizes(rewriter, op.getLoc(), sizes), shape,
                    *blocks);
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
    WalkResult left = getOperation()->walk([](MmaScaledOp op) -> WalkResult {
      if (op->getParentOfType<gpu::GPUModuleOp>())
        return WalkResult::advance();
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

private:
  /// Asserts, in front of our ops in functions, what their verifiers cannot
  /// know.
  void checkDynamicSizes() {
    getOperation()->walk([](RuntimeVerifiableOpInterface op) {
      if (!isa_and_nonnull<BlockScaleDialect>(op->getDialect()) ||
          hasStaticShapes(op) || !op->getParentOfType<func::FuncOp>())
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
