//===- VectorTransfer.cpp - Transfers by one lane -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fragments/VectorTransfer.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blockscale;

LogicalResult blockscale::verifyTransfer(VectorTransferOpInterface op) {
  auto memory = dyn_cast<MemRefType>(op.getShapedType());
  AffineMap map = op.getPermutationMap();
  if (!memory || !memory.getElementType().isIntOrIndexOrFloat() ||
      op.getMask() || !map.isProjectedPermutation() ||
      map.getNumResults() !=
          static_cast<unsigned>(op.getVectorType().getRank()))
    return op->emitOpError("not supported in this version: expected a transfer "
                           "of a memref by a permutation without a mask");
  return success();
}

std::pair<SmallVector<Value>, Value>
TransferAddress::at(ArrayRef<Value> index) {
  SmallVector<Value> position(op.getIndices());
  Value inside;
  AffineMap map = op.getPermutationMap();
  for (auto [dim, value] : llvm::enumerate(index)) {
    unsigned memoryDim = map.getDimPosition(dim);
    Value &coordinate = position[memoryDim];
    coordinate = arith::AddIOp::create(b, loc, coordinate, value);
    if (op.isDimInBounds(dim))
      continue;
    Value size = memref::DimOp::create(b, loc, op.getBase(), memoryDim);
    inside =
        emitBoth(b, loc, inside, blockscale::isBelow(b, loc, coordinate, size));
  }
  return {position, inside};
}

Value TransferAddress::isBelow(OpBuilder &b, Location loc, Value index,
                               int64_t size, int64_t unit) {
  if (size % unit == 0)
    return Value();
  Value bound = arith::ConstantIndexOp::create(b, loc, size);
  return blockscale::isBelow(b, loc, index, bound);
}
