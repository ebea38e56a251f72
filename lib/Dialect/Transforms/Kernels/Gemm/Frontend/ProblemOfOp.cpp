//===- ProblemOfOp.cpp - From an op to a problem --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/ProblemOfOp.h"

#include "Kernels/Gemm/Frontend/ElementwiseFusion.h"
#include "Kernels/Gemm/Frontend/HostChecks.h"
#include "Kernels/Gemm/Frontend/HostOperand.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Problem/OperandMemory.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "Kernels/Gemm/Problem/ScalarSlice.h"
#include "Utils/GatherRows.h"
#include "Utils/OperandView.h"
#include "Utils/PackedElements.h"
#include "blockscale/Support/TensorMaps.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

/// `generic`, an elementwise op in front of a product or behind it, as the
/// kernel of `host` fuses it: each tensor or scalar that its body reads becomes
/// a parameter, after checks of its sizes. `product` is the result of the
/// product, for an op behind it. Nullopt for null.
static std::optional<FusedElementwise>
fuseElementwise(OpBuilder &builder, Location loc, HostProblem &host,
                linalg::GenericOp generic, Value product) {
  if (!generic)
    return std::nullopt;
  FusedElementwise fused;
  fused.op = generic;
  fused.product = product;
  for (OpOperand *operand : getUsedOperands(generic)) {
    if (operand->get() == product)
      continue;
    checkFusedSizes(builder, generic, *operand, host.getProductSizes(), loc);
    fused.arguments.emplace_back(operand->get(),
                                 host.inputs.add(operand->get()));
  }
  for (Value scalar : getCapturedScalars(generic))
    fused.arguments.emplace_back(scalar, host.inputs.add(scalar));
  return fused;
}

namespace {
class ProblemBuilder {
public:
  ProblemBuilder(OpBuilder &builder, ProductOpInterface op,
                 const GemmKernel &gemm, InstructionAttr instruction,
                 ScheduleInterface schedule, linalg::GenericOp ofPairs)
      : builder(builder), op(op), loc(op->getLoc()), gemm(gemm),
        ofPairs(ofPairs) {
    problem.instruction = instruction;
    problem.schedule = schedule;
  }

  HostProblem build() {
    problem.types = op.getTypes();
    problem.resultType = cast<RankedTensorType>(op.getAcc().getType());
    if (gemm.getTransforms(problem.instruction).isMixedInput())
      quantizedB = findQuantizedB(op);
    if (quantizedB)
      problem.types = quantizedB->types;
    FailureOr<TargetAttr> target = lookupTarget(op);
    if (succeeded(target) && *target)
      problem.hasPaddedCopies = hasPaddedTensorMaps((*target).getFinalChip());
    linalg::GenericOp producer, consumer;
    if (gemm.fusesSurroundings()) {
      producer = findElementwiseProducer(op);
      consumer = findElementwiseConsumer(op);
    }
    if (consumer)
      problem.resultType =
          cast<RankedTensorType>(consumer->getResult(0).getType());
    Type result = problem.resultType;
    if (ofPairs) {
      consumer = ofPairs;
      auto pairs = cast<RankedTensorType>(ofPairs->getResult(0).getType());
      problem.resultType = tensor::CollapseShapeOp::inferCollapsedType(
          pairs, ArrayRef<ReassociationIndices>{{0}, {1, 2}});
    }

    unsigned xRank = getRank(op.getX()), yRank = getRank(op.getY());
    unsigned rank = problem.resultType.getRank();
    problem.hasBatch = rank == 3;
    unsigned xRow = MmaScaledOp::getRowDim(Side::X, xRank);
    unsigned yRow = MmaScaledOp::getRowDim(Side::Y, yRank);
    unsigned xColumn = MmaScaledOp::getKDim(Side::X, xRank);
    unsigned yColumn = MmaScaledOp::getKDim(Side::Y, yRank);
    Type acc = op.getAcc().getType();
    // The types of scales, or those of operands again if there are no scales.
    auto typeOf = [](Value scales, Value operand) {
      return (scales ? scales : operand).getType();
    };
    Type xScales = typeOf(op.getXScale(), op.getX());
    Type yScales = typeOf(op.getYScale(), op.getY());
    RowGroupOperands groups = op.getRowGroups();
    isGathered = bool(groups.rows);
    problem.m = getKnown({{acc, rank - 2}, {result, rank - 2}});
    rowsOfX = getKnown({{op.getX().getType(), xRow}, {xScales, xRow}});
    if (isGathered && ShapedType::isDynamic(problem.m))
      problem.m = getKnown({{groups.rows.getType(), 0}});
    if (!isGathered && ShapedType::isDynamic(problem.m))
      problem.m = rowsOfX;
    isCopied = isGathered && gemm.getRowGather() == RowGather::ByCopy;
    if (!isGathered || isCopied)
      rowsOfX = problem.m;
    problem.n = getKnown({{op.getY().getType(), yRow},
                          {yScales, yRow},
                          {acc, rank - 1},
                          {result, rank - 1}});
    problem.k = getKnown({{op.getY().getType(), yColumn}});
    if (int64_t columns = getKnown({{op.getX().getType(), xColumn}});
        ShapedType::isDynamic(problem.k) && !ShapedType::isDynamic(columns))
      problem.k = columns * problem.getLogicalUnit(GemmOperand::A);
    int64_t blocks = getKnown({{xScales, xColumn}, {yScales, yColumn}});
    int64_t blockSize = problem.types.blockSize;
    if (ShapedType::isDynamic(problem.k) && !ShapedType::isDynamic(blocks))
      problem.k = blocks * blockSize;

    addOperand(GemmOperand::A, op.getX());
    addOperand(GemmOperand::SFA, op.getXScale());
    addOperand(GemmOperand::B, quantizedB ? quantizedB->elements : op.getY());
    addOperand(GemmOperand::SFB,
               quantizedB ? quantizedB->scales : op.getYScale());
    addOperand(GemmOperand::E, op.getMetadata());
    sizes.m = isGathered ? getSize(problem.m, groups.rows, 0)
                         : getSize(problem.m, op.getX(), xRow);
    sizes.n = getSize(problem.n, op.getY(), yRow);
    sizes.k = op.getMetadata() ? getSize(problem.k, op.getY(), yColumn)
                               : getSize(problem.k, op.getX(), xColumn);
    sizes.batch = builder.getIndexAttr(1);
    if (rank == 3) {
      // The batch that is known to have more than one matrix, if there is one.
      // (An operand of rank 2 has none.)
      auto isOne = [](Value value) {
        auto type = cast<RankedTensorType>(value.getType());
        return type.getRank() == 2 || type.getDimSize(0) == 1;
      };
      Value batched = isOne(op.getX()) == isOne(op.getY()) ? op.getAcc()
                      : isOne(op.getX())                   ? op.getY()
                                                           : op.getX();
      int64_t batch = getKnown({{batched.getType(), 0}, {acc, 0}, {result, 0}});
      sizes.batch = getSize(batch, batched, 0);
    }

    if (quantizedB && !op.getXScale() && ShapedType::isDynamic(problem.k))
      checkWholeBlocks(builder, op, sizes.k, problem.types.blockSize);
    if (quantizedB)
      problem.tensorScale = fuseScalar(host.inputs, quantizedB->tensorScale);
    problem.producer = fuseElementwise(builder, loc, host, producer, {});
    problem.consumer =
        fuseElementwise(builder, loc, host, consumer,
                        ofPairs ? op->getResult(0).user_begin()->getResult(0)
                                : op->getResult(0));
    if (ofPairs)
      problem.consumer->hasPairs = true;
    if (!problem.producer && !isZeroSplat(op.getAcc()))
      problem.acc = host.inputs.add(op.getAcc());
    if (groups)
      addGroups(groups);
    if (Promotion promotion = op.getPromotion()) {
      PromotedSums sums = {promotion.interval, std::nullopt, std::nullopt,
                           hasWholeFactors(promotion)};
      sums.x = addFactors(Side::X, promotion.xFactors, promotion.xBlock);
      sums.y = addFactors(Side::Y, promotion.yFactors, promotion.yBlock);
      problem.promotion = sums;
    }
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

  void addGroups(const RowGroupOperands &operands) {
    RowGroups groups;
    groups.offsets = host.inputs.add(operands.offsets);
    auto add = [&](Value value, std::optional<unsigned> &parameter) {
      if (value)
        parameter = host.inputs.add(value);
    };
    add(operands.rows, groups.rows);
    add(operands.scale, groups.scale);
    add(operands.bias, groups.bias);
    groups.gathersX = groups.rows && gemm.getRowGather() == RowGather::InLoads;
    problem.groups = groups;
    int64_t count = getKnown({{operands.offsets.getType(), 0}});
    sizes.groups = getSize(count, operands.offsets, 0);
  }

  /// The factors of one operand; nullopt for null.
  std::optional<SumFactors> addFactors(Side side, Value value,
                                       const ScaleBlock &block) {
    if (!value)
      return std::nullopt;
    RowGroupOperands groups = op.getRowGroups();
    // Where x has them in the order of the result, its factors have, too.
    if (isCopied && side == Side::X && block.rows != ScaleBlock::kAll)
      value = gatherRows(builder, loc, value, groups.rows,
                         /*mayBeEmpty=*/true);
    auto type = cast<RankedTensorType>(value.getType());
    unsigned rank = type.getRank();
    StoredView view = getStoredView(builder, loc, value);
    SumFactors factors;
    factors.block = block;
    if (!type.getElementType().isF32())
      factors.format = *getScaleFormat(type.getElementType());
    factors.operand.map = view.map.compose(
        getOperandMap(op->getContext(), rank,
                      MmaScaledOp::getRowDim(side, rank), type.getDimSize(0)));
    factors.operand.mayBroadcast = rank == 3 && type.isDynamicDim(0) && !groups;
    factors.operand.argument = host.inputs.add(view.tensor);
    return factors;
  }

  /// Reads `value`, of rows by columns, as the operand `id`. Without a value,
  /// the kernel does not read it.
  void addOperand(GemmOperand id, Value value) {
    if (!value) {
      problem[id].splat = 0;
      return;
    }
    auto [isA, isScale, isMetadata, letter, name] = getInfo(id);
    // What puts scales into atoms gathers them, too.
    bool hasAtoms = isScale && gemm.wantsAtoms();
    if (isCopied && isA && !hasAtoms)
      value = gatherRows(builder, loc, value, op.getRowGroups().rows,
                         /*mayBeEmpty=*/true);
    OperandSource source = {id, value, AffineMap(), isA ? rowsOfX : problem.n,
                            problem.getColumns(id, problem.k)};
    if (!isA && quantizedB)
      source.map = quantizedB->map;
    HostOperand made = makeHostOperand(builder, op, gemm, problem, source);
    if (op.getRowGroups()) {
      // Nothing is known of where tiles start, so columns have to be
      // contiguous; and a group is one of y.
      if (isA && !hasAtoms && !made.operand.splat &&
          made.operand.contiguity != Contiguity::Columns) {
        source.value = copyTensor(builder, loc, value);
        made = makeHostOperand(builder, op, gemm, problem, source);
      }
      made.operand.mayBroadcast = false;
    }
    if (!made.operand.splat)
      made.operand.argument = host.inputs.add(made.tensor);
    problem[id] = made.operand;
  }

  OpBuilder &builder;
  ProductOpInterface op;
  Location loc;
  const GemmKernel &gemm;
  linalg::GenericOp ofPairs;
  /// If the kernel can use those.
  std::optional<QuantizedB> quantizedB;
  /// Whether rows of x are gathered, whether a copy of x has them gathered, and
  /// how many rows the kernel finds.
  bool isGathered = false, isCopied = false;
  int64_t rowsOfX = 0;
  HostProblem host;
  KernelProblem &problem = host.problem;
  HostSizes &sizes = host.sizes;
};
} // namespace

HostProblem blockscale::makeHostProblem(OpBuilder &builder,
                                        ProductOpInterface op,
                                        const GemmKernel &gemm,
                                        InstructionAttr instruction,
                                        ScheduleInterface schedule,
                                        linalg::GenericOp ofPairs) {
  return ProblemBuilder(builder, op, gemm, instruction, schedule, ofPairs)
      .build();
}
