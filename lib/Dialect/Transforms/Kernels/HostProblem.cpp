//===- HostProblem.cpp - What a kernel is asked to compute ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the host knows of an op, read through transposes, layouts and packing,
// becomes what a kernel needs to know.
//
//===----------------------------------------------------------------------===//

#include "Kernels/HostProblem.h"

#include "Kernels/CodesOfY.h"
#include "Kernels/ElementwiseFusion.h"
#include "Kernels/KnownMultiples.h"
#include "Kernels/OperandMap.h"
#include "Kernels/Ring/TensorOperand.h"
#include "Kernels/ScalarSlice.h"
#include "Utils/CheckMessage.h"
#include "Utils/OperandView.h"
#include "Utils/StoredCodes.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "blockscale/Support/TensorMaps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

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
class ProblemBuilder {
public:
  ProblemBuilder(OpBuilder &builder, ProductOpInterface op,
                 const KernelBackend &backend, InstructionAttr instruction,
                 ScheduleInterface schedule)
      : builder(builder), op(op), loc(op->getLoc()), backend(backend) {
    problem.instruction = instruction;
    problem.schedule = schedule;
  }

  HostProblem build() {
    problem.row = op.getRow();
    problem.resultType = cast<RankedTensorType>(op.getAcc().getType());
    if (backend.getTakenCodes(problem.instruction, problem.schedule) ==
        TakenCodes::Y)
      codesOfY = findCodesOfY(op);
    if (codesOfY)
      problem.row = codesOfY->row;
    FailureOr<TargetAttr> target = lookupTarget(op);
    if (succeeded(target) && *target)
      problem.hasPaddedCopies = hasPaddedTensorMaps((*target).getFinalChip());
    linalg::GenericOp producer, consumer;
    if (backend.takesOverSurroundings()) {
      producer = findElementwiseProducer(op);
      consumer = findElementwiseConsumer(op);
    }
    if (consumer)
      problem.resultType =
          cast<RankedTensorType>(consumer->getResult(0).getType());

    unsigned xRank = getRank(op.getX()), yRank = getRank(op.getY());
    unsigned rank = problem.resultType.getRank();
    problem.hasBatch = rank == 3;
    unsigned xRow = MmaScaledOp::getRowDim(Side::X, xRank);
    unsigned yRow = MmaScaledOp::getRowDim(Side::Y, yRank);
    unsigned xColumn = MmaScaledOp::getKDim(Side::X, xRank);
    unsigned yColumn = MmaScaledOp::getKDim(Side::Y, yRank);
    Type result = problem.resultType, acc = op.getAcc().getType();
    // The types of scales, or of operands once more where there are none.
    auto typeOf = [](Value scales, Value operand) {
      return (scales ? scales : operand).getType();
    };
    Type xScales = typeOf(op.getXScale(), op.getX());
    Type yScales = typeOf(op.getYScale(), op.getY());
    problem.m = getKnown({{op.getX().getType(), xRow},
                          {xScales, xRow},
                          {acc, rank - 2},
                          {result, rank - 2}});
    problem.n = getKnown({{op.getY().getType(), yRow},
                          {yScales, yRow},
                          {acc, rank - 1},
                          {result, rank - 1}});
    problem.k = getKnown(
        {{op.getX().getType(), xColumn}, {op.getY().getType(), yColumn}});
    int64_t blocks = getKnown({{xScales, xColumn}, {yScales, yColumn}});
    int64_t blockSize = problem.row.blockSize;
    if (ShapedType::isDynamic(problem.k) && !ShapedType::isDynamic(blocks))
      problem.k = blocks * blockSize;
    blocks =
        ShapedType::isDynamic(problem.k) ? problem.k : problem.k / blockSize;

    problem.x = makeOperand(Side::X, op.getX(), problem.m, problem.k);
    if (op.getXScale())
      problem.xScale = makeOperand(Side::X, op.getXScale(), problem.m, blocks);
    else
      problem.xScale.splat = 0;
    Value y = codesOfY ? codesOfY->codes : op.getY();
    problem.y = makeOperand(Side::Y, y, problem.n, problem.k);
    Value yScale = codesOfY ? codesOfY->scales : op.getYScale();
    if (yScale)
      problem.yScale = makeOperand(Side::Y, yScale, problem.n, blocks);
    sizes.m = getSize(problem.m, op.getX(), xRow);
    sizes.n = getSize(problem.n, op.getY(), yRow);
    sizes.k = getSize(problem.k, op.getX(), xColumn);
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

    if (codesOfY && !op.getXScale() && ShapedType::isDynamic(problem.k))
      checkBlocks();
    if (codesOfY && codesOfY->tensorScale) {
      problem.tensorScale = FusedScalar{codesOfY->tensorScale, {}};
      for (Value input : getScalarInputs(codesOfY->tensorScale))
        problem.tensorScale->arguments.emplace_back(input,
                                                    host.addInput(input));
    }
    problem.producer = fuse(producer, {});
    problem.consumer = fuse(consumer, op->getResult(0));
    if (!problem.producer && !isZeroSplat(op.getAcc()))
      problem.acc = host.addInput(op.getAcc());
    problem.result = host.inputs.size();
    return std::move(host);
  }

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

  KernelOperand makeOperand(Side side, Value operand, int64_t rows,
                            int64_t columns) {
    bool isScale = operand == op.getXScale() || operand == op.getYScale() ||
                   (codesOfY && operand == codesOfY->scales);
    StoredView view = getStoredView(builder, loc, operand);
    auto type = cast<RankedTensorType>(operand.getType());
    unsigned rank = type.getRank();
    unsigned rowDim = MmaScaledOp::getRowDim(side, rank);
    int64_t batch = type.getDimSize(0);
    AffineMap map = getOperandMap(op->getContext(), rank, rowDim, batch);
    if (side == Side::Y && codesOfY)
      map = codesOfY->map.compose(map);
    bool hasAtoms = isScale && backend.wantsScaleAtoms(problem.schedule);
    if (hasAtoms &&
        getContiguity(view.map.compose(map), rank) != Contiguity::Atoms)
      view = swizzle(operand, rowDim);
    if (hasAtoms && !hasOwnMemory(view.tensor))
      view.tensor = copy(view.tensor);
    if (getPlainFormat(type.getElementType()))
      view.bits = type.getElementTypeBitWidth();
    if (!problem.hasScales()) {
      if (std::string reason = findObstacle(view, rank, map); !reason.empty())
        view = copyLines(side, operand, rowDim, reason);
    }
    KernelOperand result;
    result.map = view.map.compose(map);
    result.bits = view.bits;
    result.hasOwnMemory = hasOwnMemory(view.tensor);
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
    // Rows of what was padded are longer than the operand's.
    if (!problem.hasScales())
      setLineMultiple(result, view.tensor);
    result.mayBroadcast = rank == 3 && ShapedType::isDynamic(batch);
    if (backend.takesOverSurroundings() && isScale && !hasAtoms)
      result.splat = getSplat(view.tensor);
    if (Format format = side == Side::X ? problem.row.lhs : problem.row.rhs;
        !isScale && problem.instruction && problem.instruction.hasScales() &&
        wantsPackedCodes(result, format, problem)) {
      view.tensor = pack(view.tensor);
      result.bits = getFormatInfo(format).bits;
    }
    result.argument = result.splat ? 0 : host.addInput(view.tensor);
    return result;
  }

  static void setLineMultiple(KernelOperand &operand, Value tensor) {
    int64_t last = cast<RankedTensorType>(tensor.getType()).getShape().back();
    constexpr int64_t kElements = 8;
    (operand.contiguity == Contiguity::Rows ? operand.rowMultiple
                                            : operand.columnMultiple) =
        ShapedType::isDynamic(last) ? kElements : last;
  }

  /// Why tensor maps cannot be of what `view` shows of an operand without
  /// scales; empty if they can.
  static std::string findObstacle(const StoredView &view, unsigned rank,
                                  AffineMap map) {
    constexpr int64_t kLineBytes = 16;
    if (!hasOwnMemory(view.tensor))
      return "there are no tensor maps of constants, expected an argument or "
             "what an op computes";
    if (getContiguity(view.map.compose(map), rank) == Contiguity::Other)
      return "expected the rows or the columns of each matrix to be contiguous";
    int64_t last = cast<RankedTensorType>(view.tensor.getType()).getRank() - 1;
    int64_t multiple = getKnownMultiple(view.tensor, last);
    if (multiple * (view.bits / 8) % kLineBytes != 0)
      return ("expected rows of a multiple of " + Twine(kLineBytes) + " bytes")
          .str();
    return {};
  }

  /// The operand, with K contiguous, and padded with zeros to lines that tensor
  /// maps can have, in memory of its own.
  StoredView copyLines(Side side, Value operand, unsigned rowDim,
                       StringRef reason) {
    constexpr int64_t kElements = 8;
    op->emitRemark() << (side == Side::X ? "x" : "y")
                     << " is copied first, for bulk copies: " << reason;
    auto type = cast<RankedTensorType>(operand.getType());
    unsigned rank = type.getRank();
    AffineMap map = builder.getMultiDimIdentityMap(rank);
    if (rowDim != rank - 2) {
      SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
      std::swap(order[rank - 1], order[rank - 2]);
      map = AffineMap::getPermutationMap(order, op->getContext());
      operand = transpose(operand, order);
    }
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, operand);
    AffineExpr d0 = builder.getAffineDimExpr(0);
    OpFoldResult padding = affine::makeComposedFoldedAffineApply(
        builder, loc, d0.ceilDiv(kElements) * kElements - d0, sizes.back());
    SmallVector<OpFoldResult> low(rank, builder.getIndexAttr(0)), high = low;
    high.back() = padding;
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(type.getElementType()));
    // Without padding it is a copy all the same.
    if (isZeroInteger(padding))
      return {copy(operand), map, type.getElementTypeBitWidth()};
    auto padded = cast<RankedTensorType>(operand.getType());
    SmallVector<int64_t> shape(padded.getShape());
    if (!ShapedType::isDynamic(shape.back()))
      shape.back() = llvm::alignTo(shape.back(), kElements);
    padded = RankedTensorType::get(shape, type.getElementType());
    Value lines =
        tensor::PadOp::create(builder, loc, padded, operand, low, high, zero);
    return {lines, map, type.getElementTypeBitWidth()};
  }

  /// The scales `operand`, whose rows are dimension `rowDim`, as atoms that a
  /// kernel in front of this one makes.
  StoredView swizzle(Value operand, unsigned rowDim) {
    auto type = cast<RankedTensorType>(operand.getType());
    unsigned rank = type.getRank();
    MLIRContext *context = op->getContext();
    AffineMap map = builder.getMultiDimIdentityMap(rank);
    if (rowDim != rank - 2) {
      SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
      std::swap(order[rank - 1], order[rank - 2]);
      map = AffineMap::getPermutationMap(order, context);
      operand = transpose(operand, order);
    }
    // Else it would be folded, to a constant.
    if (matchPattern(operand, m_Constant()))
      operand = copy(operand);
    type = cast<RankedTensorType>(operand.getType());
    auto swizzled = RankedTensorType::get(getSwizzledShape(type.getShape()),
                                          type.getElementType());
    Value atoms = SwizzleScalesOp::create(builder, loc, swizzled, operand);
    return {atoms, getSwizzleMap(context, rank).compose(map), 8};
  }

  /// Whether a launch is passed memory of an argument or of the workspace for
  /// `tensor`: of a view, that of its source or a copy.
  static bool hasOwnMemory(Value tensor) {
    while (Operation *op = tensor.getDefiningOp()) {
      if (isa<tensor::ReshapeOp, bufferization::ToTensorOp>(op))
        return false;
      if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
               tensor::ExtractSliceOp, tensor::CastOp>(op))
        break;
      tensor = op->getOperand(0);
    }
    return !matchPattern(tensor, m_Constant());
  }

  /// The same in memory of its own, which tensor maps can be of.
  Value copy(Value source) {
    Value empty = tensor::EmptyOp::create(
        builder, loc, tensor::getMixedSizes(builder, loc, source),
        cast<RankedTensorType>(source.getType()).getElementType());
    return linalg::CopyOp::create(builder, loc, source, empty)->getResult(0);
  }

  /// The codes `tensor`, in rows that end on a byte, packed.
  Value pack(Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (!ShapedType::isDynamic(shape.back()))
      shape.back() =
          *getPackedBytes(shape.back(), type.getElementTypeBitWidth());
    return PackOp::create(builder, loc,
                          RankedTensorType::get(shape, builder.getI8Type()),
                          tensor);
  }

  /// `operand` transposed; what it is a transpose of, if it is one.
  Value transpose(Value operand, ArrayRef<int64_t> order) {
    if (auto made = operand.getDefiningOp<linalg::TransposeOp>();
        made && made.getPermutation() == order)
      return made.getInput();
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, operand);
    std::swap(sizes[order.size() - 1], sizes[order.size() - 2]);
    Type element = cast<RankedTensorType>(operand.getType()).getElementType();
    Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
    return linalg::TransposeOp::create(builder, loc, operand, empty, order)
        ->getResult(0);
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
      fused.arguments.emplace_back(operand->get(),
                                   host.addInput(operand->get()));
    }
    for (Value scalar : getCapturedScalars(generic))
      fused.arguments.emplace_back(scalar, host.addInput(scalar));
    return fused;
  }

  /// Asserts that a dynamic K is whole blocks, as it is of products with
  /// scales.
  void checkBlocks() {
    Value size =
        arith::ConstantIndexOp::create(builder, loc, problem.row.blockSize);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value rest = arith::RemUIOp::create(
        builder, loc, getValueOrCreateConstantIndexOp(builder, loc, sizes.k),
        size);
    cf::AssertOp::create(
        builder, loc,
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest,
                              zero),
        getCheckMessage(op, "expected K to be a multiple of " +
                                Twine(problem.row.blockSize) +
                                " for codes of y that are converted on the "
                                "way"));
  }

  /// Asserts that dynamic sizes of `operand` are those of the loops over it.
  void checkSizes(linalg::GenericOp generic, OpOperand *operand) {
    AffineMap map = generic.getMatchingIndexingMap(operand);
    SmallVector<OpFoldResult> loops = host.getResultSizes();
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
  ProductOpInterface op;
  Location loc;
  const KernelBackend &backend;
  /// Where the kernel takes those.
  std::optional<CodesOfY> codesOfY;
  HostProblem host;
  KernelProblem &problem = host.problem;
  HostSizes &sizes = host.sizes;
};
} // namespace

SmallVector<OpFoldResult> HostProblem::getResultSizes() const {
  SmallVector<OpFoldResult> result = {sizes.m, sizes.n};
  if (problem.resultType.getRank() == 3)
    result.insert(result.begin(), sizes.batch);
  return result;
}

unsigned HostProblem::addInput(Value value) {
  inputs.insert(value);
  return llvm::find(inputs, value) - inputs.begin();
}

void HostProblem::addSurroundings(const HostProblem &from) {
  auto renumber = [&](unsigned argument) {
    return addInput(from.inputs[argument]);
  };
  if (problem.acc)
    problem.acc = renumber(*problem.acc);
  for (std::optional<FusedElementwise> *fused :
       {&problem.producer, &problem.consumer})
    if (*fused)
      for (auto &[value, argument] : (*fused)->arguments)
        argument = renumber(argument);
  if (problem.quantizer)
    for (auto &[value, argument] : problem.quantizer->arguments)
      argument = renumber(argument);
  problem.result = inputs.size();
}

HostProblem blockscale::makeHostProblem(OpBuilder &builder,
                                        ProductOpInterface op,
                                        const KernelBackend &backend,
                                        InstructionAttr instruction,
                                        ScheduleInterface schedule) {
  return ProblemBuilder(builder, op, backend, instruction, schedule).build();
}
