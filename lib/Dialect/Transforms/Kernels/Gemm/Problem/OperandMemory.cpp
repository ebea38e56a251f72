//===- OperandMemory.cpp - Memory that launches pass ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/OperandMemory.h"

#include "Utils/MetadataLayout.h"
#include "Utils/OperandView.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::blockscale;

AffineMap blockscale::getOperandMap(MLIRContext *context, unsigned rank,
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

Contiguity blockscale::getContiguity(AffineMap map, unsigned rank) {
  MLIRContext *context = map.getContext();
  AffineExpr batch, row, column;
  bindDims(context, batch, row, column);
  if (map.getNumResults() == rank + 2) {
    SmallVector<AffineExpr> index = {row, column};
    if (rank == 3)
      index.insert(index.begin(), map.getResult(0));
    AffineMap logical = AffineMap::get(3, 0, index, context);
    for (AffineMap atoms :
         {getSwizzleMap(context, rank), getTileMetadataMap(context, rank)})
      if (simplifyAffineMap(atoms.compose(logical)) == simplifyAffineMap(map))
        return Contiguity::Atoms;
    return Contiguity::Other;
  }
  AffineExpr last = map.getResults().back();
  if (last == row)
    return Contiguity::Rows;
  return last == column ? Contiguity::Columns : Contiguity::Other;
}

bool blockscale::hasOwnMemory(Value tensor) {
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

std::optional<uint8_t> blockscale::getSplatByte(Value tensor) {
  constexpr unsigned kByte = 8;
  Type element = getElementTypeOrSelf(tensor.getType());
  if (element.getIntOrFloatBitWidth() > kByte)
    return std::nullopt;
  Attribute number;
  DenseElementsAttr attr;
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  if (fill && fill.value().getType() == element)
    matchPattern(fill.value(), m_Constant(&number));
  else if (matchPattern(tensor, m_Constant(&attr)) && attr.isSplat())
    number = attr.getSplatValue<Attribute>();
  if (auto value = dyn_cast_or_null<FloatAttr>(number))
    return value.getValue().bitcastToAPInt().getZExtValue();
  if (auto value = dyn_cast_or_null<IntegerAttr>(number))
    return value.getValue().getZExtValue();
  return std::nullopt;
}

Value blockscale::copyTensor(OpBuilder &builder, Location loc, Value tensor) {
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, tensor),
      cast<RankedTensorType>(tensor.getType()).getElementType());
  return linalg::CopyOp::create(builder, loc, tensor, empty)->getResult(0);
}

Value blockscale::transposeTensor(OpBuilder &builder, Location loc,
                                  Value tensor, ArrayRef<int64_t> order) {
  if (auto made = tensor.getDefiningOp<linalg::TransposeOp>();
      made && made.getPermutation() == order)
    return made.getInput();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  std::swap(sizes[order.size() - 1], sizes[order.size() - 2]);
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
  return linalg::TransposeOp::create(builder, loc, tensor, empty, order)
      ->getResult(0);
}

RowsFirst blockscale::putRowsFirst(OpBuilder &builder, Location loc,
                                   Value operand, unsigned rowDim) {
  unsigned rank = cast<RankedTensorType>(operand.getType()).getRank();
  if (rowDim == rank - 2)
    return {operand, builder.getMultiDimIdentityMap(rank)};
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 1], order[rank - 2]);
  return {transposeTensor(builder, loc, operand, order),
          AffineMap::getPermutationMap(order, builder.getContext())};
}
