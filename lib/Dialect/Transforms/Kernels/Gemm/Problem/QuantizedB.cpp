//===- QuantizedB.cpp - Products with a quantized y -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No op of its own stands for mixed input: the ops around a product say that y
// is quantized, and the schedule says whether the kernel reads y quantized.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/QuantizedB.h"

#include "Utils/OperandView.h"

using namespace mlir;
using namespace mlir::blockscale;

DequantizeOp blockscale::findDequantizeOfY(ProductOpInterface op,
                                           AffineMap &map) {
  if (!op.hasTensorSemantics() || op.getXScale())
    return {};
  OperandView view = traceOperand(op.getY());
  map = view.map;
  auto dequantize = view.tensor.getDefiningOp<DequantizeOp>();
  return dequantize && !dequantize.hasCoarseScales() ? dequantize
                                                     : DequantizeOp();
}

std::optional<QuantizedB> blockscale::findQuantizedB(ProductOpInterface op) {
  // Sums are promoted to f32 by kernels that take both operands as they are.
  if (op.getPromotion())
    return std::nullopt;
  TypeCombination types = op.getTypes();
  if (op.getXScale())
    return QuantizedB{
        types, op.getY(), op.getYScale(),
        AffineMap::getMultiDimIdentityMap(
            cast<ShapedType>(op.getY().getType()).getRank(), op->getContext()),
        Value()};
  AffineMap map;
  DequantizeOp dequantize = findDequantizeOfY(op, map);
  bool isHighPrecision = types.lhs == Format::BF16 || types.lhs == Format::F16;
  if (!dequantize || !isHighPrecision || types.rhs != types.lhs)
    return std::nullopt;
  int64_t k =
      cast<ShapedType>(dequantize.getElements().getType()).getShape().back();
  if (!ShapedType::isDynamic(k) && k % dequantize.getBlock() != 0)
    return std::nullopt;
  types.rhs = dequantize.getElementFormat();
  types.scale = dequantize.getScaleFormat();
  types.blockSize = static_cast<unsigned>(dequantize.getBlock());
  return QuantizedB{types, dequantize.getElements(), dequantize.getScales(),
                    map, dequantize.getTensorScale()};
}

std::optional<InstructionChoice>
blockscale::chooseInstruction(ProductOpInterface op, Path path) {
  if (std::optional<QuantizedB> y = findQuantizedB(op))
    if (auto choice = chooseInstruction(y->types, path))
      return choice;
  return chooseInstruction(op.getTypes(), path);
}

bool blockscale::takesQuantizedB(InstructionAttr instruction) {
  return instruction.getInstruction().scaling == Scaling::OnB;
}

TypeCombination
blockscale::getComputedCombination(ProductOpInterface op,
                                   InstructionAttr instruction) {
  return takesQuantizedB(instruction)
             ? instruction.getInstruction().getTypeCombination()
             : op.getTypes();
}

void blockscale::remarkOnDequantize(ProductOpInterface op,
                                    const Twine &expected) {
  AffineMap map;
  if (!op.getPromotion() && findDequantizeOfY(op, map))
    op->emitRemark("y is dequantized first, to memory; for a y that is "
                   "dequantized in registers, expected ")
        << expected;
}
