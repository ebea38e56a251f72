//===- DequantizedProduct.cpp - GEMMs behind dequantize kernels -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/DequantizedProduct.h"

#include "Fragments/Dequantize/Formats.h"
#include "Kernels/Dequantize/DequantizeOperand.h"
#include "Kernels/Gemm/Problem/OperandInRegisters.h"
#include "Kernels/Gemm/Problem/OperandMemory.h"
#include "Kernels/Launch/LaunchForming.h"
#include "Launch/KernelPurpose.h"
#include "Utils/IndexValues.h"
#include "blockscale/Support/TunedRows.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

/// TMA needs rows of multiples of 16 bytes: 8 values of bf16.
static constexpr int64_t kValuesOf16Bytes = 8;

/// The power of two by which the values of the operand in registers that
/// `problem` multiplies, y or a sparse x, are too small, but for its tensor
/// scale. Those of the other one are too large by it.
static unsigned getShiftInRegisters(const KernelProblem &problem,
                                    bool isSplit = false) {
  return getScaleShift(getFormatInRegisters(problem.types), problem.types.scale,
                       problem.instruction.getA(), isSplit);
}

/// The exponent of a tensor scale that is a constant power of two, and that x
/// is multiplied by in place of y; nullopt for another one, or none. No product
/// changes by that, and no bit of the result: x is multiplied by a power of two
/// anyway, which rounds nothing as long as it does not get smaller, and
/// dequantize rounds nothing of the values that are dequantized in registers
/// with a power of two in this range.
static std::optional<int> getFoldedScale(const KernelProblem &problem) {
  constexpr int kMost = 32;
  APFloat scale(0.0f);
  if (!problem.tensorScale.value ||
      problem.instruction.getA() != Format::BF16 ||
      !matchPattern(problem.tensorScale.value, m_ConstantFloat(&scale)))
    return std::nullopt;
  int exponent = scale.getExactLog2();
  auto least = -static_cast<int>(getShiftInRegisters(problem));
  if (exponent < least || exponent > kMost)
    return std::nullopt;
  return exponent;
}

namespace {
struct DequantizedOperand {
  Value values, skipConditions;
  KernelOperand operand;
  /// The number of rows, if it is dynamic and there is memory for more.
  Value rows = {};
};

/// Dequantizes one operand.
class OperandDequantizer {
public:
  OperandDequantizer(OpBuilder &builder, SymbolTableCollection &symbols,
                     ProductOpInterface op, const HostProblem &host, Side side,
                     bool otherInRegisters, Value condition)
      : builder(builder), symbols(symbols), op(op), host(host), side(side),
        otherInRegisters(otherInRegisters), condition(condition),
        source(side == Side::X ? op.getX() : op.getY()),
        type(cast<RankedTensorType>(source.getType())), rank(type.getRank()) {}

  DequantizedOperand dequantize() {
    bool isX = side == Side::X;
    const KernelProblem &original = host.problem;
    const KernelOperand &elements = original[getElementsOf(isX)];
    const KernelOperand &scales = original[getScalesOf(isX)];
    DequantizedOperandProblem problem = {};
    problem.elements = elements;
    problem.scales = scales;
    SmallVector<Value> inputs = {host.inputs[elements.argument]};
    problem.elements.argument = 0;
    bool arePermuted = isX && original.hasHighPrecisionX();
    problem.policy = arePermuted ? ValuePolicy::Permuted : ValuePolicy::Exact;
    if (!arePermuted && !scales.splat) {
      problem.scales.argument = inputs.size();
      inputs.push_back(host.inputs[scales.argument]);
    }
    problem.format = isX ? original.types.lhs : original.types.rhs;
    problem.scaleFormat = original.types.scale;
    problem.blockSize = original.types.blockSize;
    int64_t rows = isX ? original.m : original.n;
    if (otherInRegisters) {
      problem.chunkElements = getMixedInputChunk(original.types);
      problem.sparsity = original.types.sparsity;
      // Values with a tensor scale that is not split lack nothing.
      if (std::optional<int> exponent = getFoldedScale(original))
        problem.scaleShift = getShiftInRegisters(original) + *exponent;
      else if (!original.tensorScale.value)
        problem.scaleShift = getShiftInRegisters(original);
      else if (isScaleSplit(getFormatInRegisters(original.types),
                            original.instruction.getA()))
        problem.scaleShift = getShiftInRegisters(original, /*isSplit=*/true);
    }
    problem.hasGroupFlags = original.groups.has_value();
    bool isGathered = isX && original.groups && original.groups->rows;
    if (isGathered) {
      problem.gathered = inputs.size();
      inputs.push_back(host.inputs[*original.groups->rows]);
    }
    problem.k = original.k;
    problem.rows = rows;
    problem.isTransposed = !otherInRegisters &&
                           elements.contiguity == Contiguity::Rows &&
                           KernelProblem::isMultiple(rows, kValuesOf16Bytes);
    problem.result = inputs.size();

    int64_t columns = original.k, paddedRows = rows;
    bool hasMoreRows = otherInRegisters && rank == 2;
    auto schedule = dyn_cast_if_present<WarpSpecializedScheduleAttr>(
        Attribute(original.schedule));
    if (hasMoreRows && !ShapedType::isDynamic(rows) && schedule)
      paddedRows = llvm::alignTo(rows, schedule.getN());
    if (problem.isPadded() && !ShapedType::isDynamic(columns))
      columns = llvm::alignTo(columns, problem.chunkElements);
    auto values = RankedTensorType::get(getSizes(paddedRows, columns, problem),
                                        getValueType());
    Location loc = op->getLoc();
    SmallVector<OpFoldResult> sizes = getMixedSizes(problem);
    if (isGathered)
      sizes.front() = host.sizes.m;
    for (auto [size, known] :
         llvm::zip_equal(sizes, getSizes(rows, columns, problem)))
      if (!ShapedType::isDynamic(known))
        size = builder.getIndexAttr(known);
    OpFoldResult blocks = getDequantizeOperandBlocks(builder, loc, sizes);
    Value dynamicRows;
    if (hasMoreRows && ShapedType::isDynamic(rows)) {
      dynamicRows = cast<Value>(sizes.front());
      sizes.front() = addPadding(dynamicRows);
    }
    // With groups of rows, each of them has another flag behind these.
    OpFoldResult flags = blocks;
    if (OpFoldResult groups = host.sizes.groups)
      flags = affine::makeComposedFoldedAffineApply(
          builder, loc,
          builder.getAffineDimExpr(0) + builder.getAffineDimExpr(1),
          {blocks, groups});
    auto inexactFlags = RankedTensorType::get(
        {getConstantIntValue(flags).value_or(ShapedType::kDynamic)},
        builder.getI32Type());
    KernelShape shape = getDequantizeOperandShape(values);
    gpu::GPUFuncOp kernel =
        makeKernel(builder, symbols, op,
                   arePermuted ? kPermutePurpose : kDequantizeOperandPurpose,
                   inputs, TypeRange{values, inexactFlags}, shape);
    buildDequantizeOperand(kernel, problem);
    Value outputs[] = {makeEmpty(builder, loc, values, sizes),
                       makeEmpty(builder, loc, inexactFlags, flags)};
    OpFoldResult one = builder.getIndexAttr(1);
    LaunchOp launch = createLaunch(builder, loc, kernel, inputs, outputs, shape,
                                   {blocks, one, one}, condition);
    return {launch->getResult(0), launch->getResult(1),
            getOperand(elements, problem), dynamicRows};
  }

private:
  /// Memory of so many rows, and of those that the last tile has in addition:
  /// TMA takes longer for rows outside than for any others. What is in them
  /// does not matter.
  Value addPadding(Value rows) {
    Location loc = op->getLoc();
    Value behind = arith::MinUIOp::create(
        builder, loc, addIndex(builder, loc, rows, kFewRowsBehind),
        makeIndex(builder, loc, kMostRowsBehind));
    return arith::AddIOp::create(builder, loc, rows, behind);
  }

  Type getValueType() {
    return host.problem.instruction.getA() == Format::F16
               ? Type(builder.getF16Type())
               : Type(builder.getBF16Type());
  }

  /// The sizes of batch, rows and columns of the operand, in the order of the
  /// result of the dequantize kernel.
  SmallVector<unsigned> getOrder(const DequantizedOperandProblem &problem) {
    SmallVector<unsigned> order = {MmaScaledOp::getRowDim(side, rank),
                                   MmaScaledOp::getKDim(side, rank)};
    if (problem.isTransposed)
      std::swap(order[0], order[1]);
    if (rank == 3)
      order.insert(order.begin(), 0);
    return order;
  }

  SmallVector<int64_t> getSizes(int64_t rows, int64_t columns,
                                const DequantizedOperandProblem &problem) {
    SmallVector<int64_t> sizes = {rows, columns};
    if (problem.isTransposed)
      std::swap(sizes[0], sizes[1]);
    if (rank == 3)
      sizes.insert(sizes.begin(), type.getDimSize(0));
    return sizes;
  }

  SmallVector<OpFoldResult>
  getMixedSizes(const DequantizedOperandProblem &problem) {
    SmallVector<OpFoldResult> sizes;
    for (unsigned dim : getOrder(problem))
      sizes.push_back(tensor::getMixedSize(builder, op->getLoc(), source, dim));
    if (problem.isPadded()) {
      AffineExpr k = builder.getAffineDimExpr(0);
      sizes.back() = affine::makeComposedFoldedAffineApply(
          builder, op->getLoc(),
          k.ceilDiv(problem.chunkElements) * problem.chunkElements,
          sizes.back());
    }
    return sizes;
  }

  /// The operand of the GEMM that reads the bf16 values.
  KernelOperand getOperand(const KernelOperand &elements,
                           const DequantizedOperandProblem &problem) {
    KernelOperand operand = elements;
    constexpr unsigned kValueBits = 16;
    operand.bits = kValueBits;
    operand.hasOwnMemory = true;
    if (problem.isPadded())
      operand.columnMultiple = problem.chunkElements;
    operand.contiguity =
        problem.isTransposed ? Contiguity::Rows : Contiguity::Columns;
    operand.map = getOperandMap(op->getContext(), rank,
                                problem.isTransposed ? rank - 1 : rank - 2,
                                rank == 3 ? type.getDimSize(0) : 1);
    return operand;
  }

  OpBuilder &builder;
  SymbolTableCollection &symbols;
  ProductOpInterface op;
  const HostProblem &host;
  Side side;
  bool otherInRegisters;
  Value condition, source;
  RankedTensorType type;
  unsigned rank;
};
} // namespace

DequantizedProduct blockscale::formDequantizedProduct(
    OpBuilder &builder, SymbolTableCollection &symbols, ProductOpInterface op,
    const HostProblem &host, OperandTransforms transforms, Value condition) {
  constexpr auto kInRegisters = OperandTransform::DequantizedInRegisters;
  DequantizedProduct dequantized;
  HostProblem &product = dequantized.product;
  product.sizes = host.sizes;
  KernelProblem &problem = product.problem;
  problem = host.problem;
  problem.types = problem.instruction.getInstruction().getTypeCombination();
  bool isInRegisters =
      transforms.x == kInRegisters || transforms.y == kInRegisters;
  if (isInRegisters) {
    // From here on, the other operand counts as bf16, whatever it was.
    problem.quantizedB = host.problem.types;
    Format format = getFormatInRegisters(host.problem.types);
    problem.quantizedB->lhs = problem.quantizedB->rhs = format;
    if (getFoldedScale(host.problem))
      problem.tensorScale = {};
  }
  for (bool isX : {true, false}) {
    KernelOperand &elements = problem[getElementsOf(isX)],
                  &scales = problem[getScalesOf(isX)];
    if ((isX ? transforms.x : transforms.y) == kInRegisters) {
      SmallVector<KernelOperand *> operands = {&elements, &scales};
      if (isX && problem.quantizedB->sparsity)
        operands.push_back(&problem[GemmOperand::E]);
      for (KernelOperand *operand : operands)
        if (!operand->splat)
          operand->argument =
              product.inputs.add(host.inputs[operand->argument]);
      continue;
    }
    DequantizedOperand made =
        OperandDequantizer(builder, symbols, op, host, isX ? Side::X : Side::Y,
                           isInRegisters, condition)
            .dequantize();
    dequantized.skipConditions[isX ? 0 : 1] = made.skipConditions;
    elements = made.operand;
    elements.argument = product.inputs.add(made.values);
    if (made.rows)
      elements.rows = product.inputs.add(made.rows);
  }
  product.renumber(problem.tensorScale.arguments, host);
  if (problem.groups)
    problem.groups->gathersX = false;
  product.addSurroundings(host);
  return dequantized;
}
