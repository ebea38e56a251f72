//===- CodesOfY.cpp - Codes that y of a product is made of ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No op of its own says that a product has one narrow operand: the ops that
// are there say it, and the schedule says whether the kernel reads codes.
//
//===----------------------------------------------------------------------===//

#include "Kernels/CodesOfY.h"

#include "Utils/OperandView.h"

using namespace mlir;
using namespace mlir::blockscale;

DequantizeOp blockscale::findDequantizeOfY(ProductOpInterface op,
                                           AffineMap &map) {
  if (!op.hasTensorSemantics() || op.getXScale())
    return {};
  OperandView view = traceOperand(op.getY());
  map = view.map;
  return view.tensor.getDefiningOp<DequantizeOp>();
}

std::optional<CodesOfY> blockscale::findCodesOfY(ProductOpInterface op) {
  OpRow row = op.getRow();
  if (op.getXScale())
    return CodesOfY{
        row, op.getY(), op.getYScale(),
        AffineMap::getMultiDimIdentityMap(
            cast<ShapedType>(op.getY().getType()).getRank(), op->getContext())};
  AffineMap map;
  DequantizeOp dequantize = findDequantizeOfY(op, map);
  if (!dequantize || dequantize.getTensorScale() || row.lhs != Format::BF16 ||
      row.rhs != Format::BF16)
    return std::nullopt;
  row.rhs = dequantize.getElementFormat();
  row.scale = dequantize.getScaleFormat();
  row.blockSize = static_cast<unsigned>(dequantize.getBlock());
  return CodesOfY{row, dequantize.getCodes(), dequantize.getScales(), map};
}

void blockscale::remarkOnDequantize(ProductOpInterface op,
                                    const Twine &expected) {
  AffineMap map;
  if (findDequantizeOfY(op, map))
    op->emitRemark(
        "y is dequantized first, to numbers in memory; for its codes "
        "to be converted on the way, expected ")
        << expected;
}
