//===- DequantizedProduct.cpp - Products of decoded operands --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which problems the kernels of such a product have.

//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/DequantizedProduct.h"

#include "Fragments/Dequantize/Formats.h"
#include "Kernels/Dequantize/DequantizeOperand.h"
#include "Kernels/Gemm/Frontend/ProblemOfOp.h"
#include "Kernels/Gemm/Problem/OperandMap.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "Kernels/Launch/LaunchForming.h"
#include "Launch/KernelPurpose.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

/// Rows of numbers that bulk copies bring are multiples of 16 bytes.
static constexpr int64_t kNumbersOfLine = 8;

namespace {
struct Decoded {
  Value numbers, skipConditions;
  KernelOperand operand;
};

/// One operand.
class OperandDequantizer {
public:
  OperandDequantizer(OpBuilder &builder, SymbolTableCollection &symbols,
                     ProductOpInterface op, const HostProblem &host, Side side,
                     bool takesCodesOfOther)
      : builder(builder), symbols(symbols), op(op), host(host), side(side),
        takesCodesOfOther(takesCodesOfOther),
        source(side == Side::X ? op.getX() : op.getY()),
        type(cast<RankedTensorType>(source.getType())), rank(type.getRank()) {}

  Decoded decode() {
    bool isX = side == Side::X;
    const KernelProblem &asked = host.problem;
    const KernelOperand &codes =
        isX ? asked[GemmOperand::A] : asked[GemmOperand::B];
    const KernelOperand &scales =
        isX ? asked[GemmOperand::SFA] : asked[GemmOperand::SFB];
    DequantizedOperandProblem problem = {};
    problem.codes = codes;
    problem.scales = scales;
    SmallVector<Value> inputs = {host.inputs[codes.argument]};
    problem.codes.argument = 0;
    bool arePermuted = isX && asked.hasHighPrecisionX();
    problem.policy = arePermuted ? ValuePolicy::Permuted : ValuePolicy::Exact;
    if (!arePermuted && !scales.splat) {
      problem.scales.argument = inputs.size();
      inputs.push_back(host.inputs[scales.argument]);
    }
    problem.format = isX ? asked.types.lhs : asked.types.rhs;
    problem.scaleFormat = asked.types.scale;
    problem.blockSize = asked.types.blockSize;
    int64_t rows = isX ? asked.m : asked.n;
    if (takesCodesOfOther) {
      constexpr int64_t kBoxBits = 512;
      Format other = isX ? asked.types.rhs : asked.types.lhs;
      problem.boxElements = kBoxBits / getFormatInfo(other).storedBits();
      problem.scaleShift = getScaleShift(other, asked.types.scale);
    }
    problem.isTransposed = !takesCodesOfOther &&
                           codes.contiguity == Contiguity::Rows &&
                           KernelProblem::isMultiple(rows, kNumbersOfLine);
    problem.result = inputs.size();

    auto numbers = RankedTensorType::get(getSizes(rows, asked.k, problem),
                                         builder.getBF16Type());
    if (numbers.hasStaticShape())
      problem.numbers = numbers.getNumElements();
    int64_t blocks = getDequantizeOperandBlocks(problem.numbers);
    auto words = RankedTensorType::get({blocks}, builder.getI32Type());
    KernelShape shape = getDequantizeOperandShape(numbers);
    gpu::GPUFuncOp kernel =
        makeKernel(builder, symbols, op,
                   arePermuted ? kPermutePurpose : kDequantizeOperandPurpose,
                   inputs, TypeRange{numbers, words}, shape);
    buildDequantizeOperand(kernel, problem);
    Location loc = op->getLoc();
    Value outputs[] = {
        makeEmpty(builder, loc, numbers, getMixedSizes(problem)),
        makeEmpty(builder, loc, words,
                  ArrayRef<OpFoldResult>{builder.getIndexAttr(blocks)})};
    OpFoldResult one = builder.getIndexAttr(1);
    LaunchOp launch = createLaunch(builder, loc, kernel, inputs, outputs, shape,
                                   {builder.getIndexAttr(blocks), one, one});
    return {launch->getResult(0), launch->getResult(1),
            getOperand(codes, problem)};
  }

private:
  /// The dimension of the operand that is its batch, its rows or its columns,
  /// in the order of the numbers.
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
    return sizes;
  }

  /// The operand of the product that the numbers are.
  KernelOperand getOperand(const KernelOperand &codes,
                           const DequantizedOperandProblem &problem) {
    KernelOperand operand = codes;
    constexpr unsigned kNumberBits = 16;
    operand.bits = kNumberBits;
    operand.hasOwnMemory = true;
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
  bool takesCodesOfOther;
  Value source;
  RankedTensorType type;
  unsigned rank;
};
} // namespace

DequantizedProduct blockscale::formDequantized(OpBuilder &builder,
                                               SymbolTableCollection &symbols,
                                               ProductOpInterface op,
                                               const HostProblem &host,
                                               OperandTransforms transforms) {
  constexpr auto kInRegisters = OperandTransform::DequantizedInRegisters;
  auto decode = [&](Side side) {
    return OperandDequantizer(builder, symbols, op, host, side,
                              transforms.y == kInRegisters)
        .decode();
  };
  DequantizedProduct decoded;
  HostProblem &product = decoded.product;
  product.sizes = host.sizes;
  KernelProblem &problem = product.problem;
  problem = host.problem;
  problem.types = problem.instruction.getInstruction().getTypeCombination();
  auto takeCodes = [&](KernelOperand &codes, KernelOperand &scales) {
    for (KernelOperand *operand : {&codes, &scales})
      if (!operand->splat)
        operand->argument = product.addInput(host.inputs[operand->argument]);
  };
  if (transforms.x == kInRegisters) {
    takeCodes(problem[GemmOperand::A], problem[GemmOperand::SFA]);
  } else {
    Decoded x = decode(Side::X);
    decoded.skipConditions[0] = x.skipConditions;
    problem[GemmOperand::A] = x.operand;
    problem[GemmOperand::A].argument = product.addInput(x.numbers);
  }
  if (transforms.y == kInRegisters) {
    // What x was does not matter any more.
    problem.quantizedB = host.problem.types;
    problem.quantizedB->lhs = problem.quantizedB->rhs;
    takeCodes(problem[GemmOperand::B], problem[GemmOperand::SFB]);
  } else {
    Decoded y = decode(Side::Y);
    decoded.skipConditions[1] = y.skipConditions;
    problem[GemmOperand::B] = y.operand;
    problem[GemmOperand::B].argument = product.addInput(y.numbers);
  }
  product.addSurroundings(host);
  return decoded;
}
