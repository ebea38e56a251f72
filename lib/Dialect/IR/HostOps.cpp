//===- HostOps.cpp - Memory and launches ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops around kernels: packed codes and launches on tensors, which must have
// sizes before there are buffers.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// pack and unpack
//===----------------------------------------------------------------------===//

std::optional<int64_t> blockscale::getPackedBytes(int64_t count,
                                                  unsigned bits) {
  int64_t total;
  if (llvm::MulOverflow(count, static_cast<int64_t>(bits), total) ||
      total % 8 != 0)
    return std::nullopt;
  return total / 8;
}

PackedUnit blockscale::getPackedUnit(unsigned bits) {
  int64_t common = std::gcd(bits, 8u);
  return {8 / common, bits / common};
}

static LogicalResult verifyPacking(Operation *op, RankedTensorType bytes,
                                   RankedTensorType elements) { // (K1)
  if (bytes.getEncoding() || elements.getEncoding())
    return op->emitOpError("expected tensors without encoding, got ")
           << bytes << " and " << elements;
  if (elements.getRank() == 0 || bytes.getRank() != elements.getRank() ||
      bytes.getShape().drop_back() != elements.getShape().drop_back())
    return op->emitOpError("expected shapes that differ in the last size "
                           "only, got ")
           << bytes << " and " << elements;
  int64_t count = elements.getShape().back();
  int64_t rowBytes = bytes.getShape().back();
  if (ShapedType::isDynamic(count) != ShapedType::isDynamic(rowBytes))
    return op->emitOpError("expected last sizes that are both static or both "
                           "dynamic, got ")
           << bytes << " and " << elements;
  if (ShapedType::isDynamic(count))
    return success();
  unsigned bits = elements.getElementTypeBitWidth();
  std::optional<int64_t> expected = getPackedBytes(count, bits);
  if (expected != rowBytes) {
    InFlightDiagnostic diagnostic = op->emitOpError("expected ");
    if (expected)
      diagnostic << *expected << " bytes";
    else
      diagnostic << "whole bytes";
    return diagnostic << " per row for " << count << " elements of " << bits
                      << " bits, got " << rowBytes;
  }
  return success();
}

/// The sizes of `source`, of which the last is `count / from * to`.
static SmallVector<OpFoldResult> reifyPacking(OpBuilder &builder, Location loc,
                                              Value source, int64_t from,
                                              int64_t to) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, source);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value size = getValueOrCreateConstantIndexOp(builder, loc, sizes.back());
  if (from != 1)
    size = builder.createOrFold<arith::DivUIOp>(loc, size, constant(from));
  if (to != 1)
    size = builder.createOrFold<arith::MulIOp>(loc, size, constant(to));
  sizes.back() = getAsOpFoldResult(size);
  return sizes;
}

LogicalResult
UnpackOp::reifyResultShapes(OpBuilder &builder,
                            ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  PackedUnit unit =
      getPackedUnit(getResult().getType().getElementTypeBitWidth());
  reifiedReturnShapes.push_back(
      reifyPacking(builder, getLoc(), getSource(), unit.bytes, unit.codes));
  return success();
}

LogicalResult
PackOp::reifyResultShapes(OpBuilder &builder,
                          ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  PackedUnit unit =
      getPackedUnit(getSource().getType().getElementTypeBitWidth());
  reifiedReturnShapes.push_back(
      reifyPacking(builder, getLoc(), getSource(), unit.codes, unit.bytes));
  return success();
}

LogicalResult UnpackOp::verify() {
  return verifyPacking(*this, getSource().getType(), getResult().getType());
}

LogicalResult PackOp::verify() {
  return verifyPacking(*this, getResult().getType(), getSource().getType());
}

//===----------------------------------------------------------------------===//
// launch
//===----------------------------------------------------------------------===//

SmallVector<OpFoldResult> LaunchOp::getBlocks() {
  Builder builder(getContext());
  return getMixedValues(getStaticBlocks(), getDynamicBlocks(), builder);
}

LogicalResult LaunchOp::verify() { // (L1)
  auto isPositive = [](int64_t size) { return size > 0; };
  auto isSize = [](int64_t size) {
    return size > 0 || ShapedType::isDynamic(size);
  };
  for (auto [name, sizes, isAllowed] :
       {std::make_tuple("blocks", getStaticBlocks(), +isSize),
        std::make_tuple("threads", getThreads(), +isPositive)}) {
    if (sizes.size() == 3 && llvm::all_of(sizes, isAllowed))
      continue;
    InFlightDiagnostic diagnostic =
        emitOpError("expected three positive sizes of ") << name << ", got ";
    llvm::interleaveComma(sizes, diagnostic);
    return diagnostic;
  }
  auto numDynamic = static_cast<size_t>(
      llvm::count_if(getStaticBlocks(), ShapedType::isDynamic));
  if (numDynamic != getDynamicBlocks().size())
    return emitOpError("expected an operand for each of ")
           << numDynamic << " dynamic sizes of blocks, got "
           << getDynamicBlocks().size();
  if (static_cast<int64_t>(getShared()) < 0)
    return emitOpError("expected shared memory not to be negative, got ")
           << static_cast<int64_t>(getShared());
  return success();
}
