//===- TensorMapCopies.cpp - Copies for tensor maps -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pads rows to whole 16 bytes.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/TensorMapCopies.h"

#include "Kernels/Gemm/Problem/KnownMultiples.h"
#include "Kernels/Gemm/Problem/OperandMap.h"
#include "Kernels/Gemm/Problem/OperandMemory.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Strides of tensor maps are multiples of 16 bytes: 8 elements of 16 bits.
static constexpr int64_t kStrideBytes = 16, kStrideElements = 8;

std::string blockscale::findTensorMapObstacle(const StoredView &view,
                                              unsigned rank, AffineMap map) {
  if (!hasOwnMemory(view.tensor))
    return "there are no tensor maps of constants, expected an argument or "
           "what an op computes";
  if (getContiguity(view.map.compose(map), rank) == Contiguity::Other)
    return "expected the rows or the columns of each matrix to be contiguous";
  int64_t last = cast<RankedTensorType>(view.tensor.getType()).getRank() - 1;
  int64_t multiple = getKnownMultiple(view.tensor, last);
  if (multiple * (view.bits / 8) % kStrideBytes != 0)
    return ("expected rows of a multiple of " + Twine(kStrideBytes) + " bytes")
        .str();
  return {};
}

StoredView blockscale::copyForTensorMap(OpBuilder &builder, Location loc,
                                        Value operand, unsigned rowDim) {
  auto [rows, map] = putRowsFirst(builder, loc, operand, rowDim);
  auto type = cast<RankedTensorType>(rows.getType());
  unsigned bits = type.getElementTypeBitWidth();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, rows);
  AffineExpr d0 = builder.getAffineDimExpr(0);
  OpFoldResult padding = affine::makeComposedFoldedAffineApply(
      builder, loc, d0.ceilDiv(kStrideElements) * kStrideElements - d0,
      sizes.back());
  SmallVector<OpFoldResult> low(type.getRank(), builder.getIndexAttr(0)),
      high = low;
  high.back() = padding;
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  // It is a copy even if there is no padding.
  if (isZeroInteger(padding))
    return {copyTensor(builder, loc, rows), map, bits};
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(shape.back()))
    shape.back() = llvm::alignTo(shape.back(), kStrideElements);
  Value padded = tensor::PadOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), rows,
      low, high, zero);
  return {padded, map, bits};
}

void blockscale::setRowMultiple(KernelOperand &operand, Value tensor) {
  int64_t last = cast<RankedTensorType>(tensor.getType()).getShape().back();
  (operand.contiguity == Contiguity::Rows ? operand.rowMultiple
                                          : operand.columnMultiple) =
      ShapedType::isDynamic(last) ? kStrideElements : last;
}
