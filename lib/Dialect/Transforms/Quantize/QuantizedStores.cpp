//===- QuantizedStores.cpp - Stores of a quantizer ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses of packed elements and of scales in both layouts, and the largest
// magnitude, which all blocks of a launch share.
//
//===----------------------------------------------------------------------===//

#include "Quantize/QuantizedStores.h"

#include "Utils/IndexValues.h"
#include "Utils/OperandView.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

static unsigned getRank(Value memory) {
  return cast<MemRefType>(memory.getType()).getRank();
}

QuantizedStores::QuantizedStores(OpBuilder &b, Location loc, Value elements,
                                 Value scales, unsigned codeBits,
                                 int64_t blockSize, Value rows, Value columns)
    : b(b), loc(loc), elements(elements), scales(scales), codeBits(codeBits),
      blockSize(blockSize), rows(rows), columns(columns) {}

bool QuantizedStores::hasAtoms() const {
  return getRank(scales) != getRank(elements);
}

SmallVector<Value> QuantizedStores::getPosition(const MatrixPosition &position,
                                                Value column) {
  if (!position.batch)
    return {position.row, column};
  return {position.batch, position.row, column};
}

void QuantizedStores::storeElements(const MatrixPosition &position, Value words,
                                    int64_t count) {
  constexpr int64_t kByteBits = 8;
  int64_t bytes = count * codeBits / kByteBits;
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value column =
      applyExpr(b, loc, (d0 * codeBits).floorDiv(kByteBits), position.column);
  if (!isa<VectorType>(words.getType()))
    words = vector::FromElementsOp::create(
        b, loc, VectorType::get(1, words.getType()), words);
  Value all = vector::BitCastOp::create(
      b, loc, VectorType::get(bytes, b.getI8Type()), words);
  vector::StoreOp::create(b, loc, all, elements, getPosition(position, column),
                          /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

void QuantizedStores::storeScale(const MatrixPosition &position, Value scale,
                                 bool fitsRows, bool fitsColumns) {
  if (!scale.getType().isF32())
    scale = arith::TruncIOp::create(b, loc, b.getI8Type(), scale);
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value block = applyExpr(b, loc, d0.floorDiv(blockSize), position.column);
  Value inside;
  auto check = [&](Value value, Value size, int64_t unit, int64_t atom) {
    int64_t whole = hasAtoms() ? atom : 1;
    Value limit = applyExpr(b, loc, d0.ceilDiv(unit * whole) * whole, size);
    inside = emitBoth(b, loc, inside, isBelow(b, loc, value, limit));
  };
  if (!fitsRows)
    check(position.row, rows, 1, kScaleAtomRows);
  if (!fitsColumns)
    check(block, columns, blockSize, kScaleAtomBlocks);
  emitIf(b, loc, inside, [&] {
    SmallVector<Value> indices = getPosition(position, block);
    if (hasAtoms())
      indices = applyMap(
          b, loc, getSwizzleMap(b.getContext(), getRank(elements)), indices);
    memref::StoreOp::create(b, loc, scale, scales, indices);
  });
}

/// How far the f32 at `indices` is from the start of `memory`.
static Value emitByteOffset(OpBuilder &b, Location loc, Value memory,
                            ValueRange indices) {
  constexpr int64_t kBytes = 4;
  Value number = makeIndex(b, loc, 0);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value size =
        memref::DimOp::create(b, loc, memory, static_cast<int64_t>(dim));
    number = arith::MulIOp::create(b, loc, number, size);
    number = arith::AddIOp::create(b, loc, number, index);
  }
  return applyExpr(b, loc, b.getAffineDimExpr(0) * kBytes, number);
}

/// Most magnitudes are not larger than the one in memory, and need no atomic
/// operation.
void blockscale::emitJoinLargest(OpBuilder &b, Location loc, Value largest,
                                 Value memory, ValueRange indices) {
  BlockArithmetic arithmetic(b, loc);
  Value word =
      NVVM::ReduxOp::create(b, loc, b.getI32Type(), largest,
                            NVVM::ReduxKind::UMAX, arithmetic.integer(~0u));
  word = arith::BitcastOp::create(b, loc, b.getI32Type(),
                                  arithmetic.fromMagnitude(word));
  Value known = arith::BitcastOp::create(
      b, loc, b.getI32Type(), memref::LoadOp::create(b, loc, memory, indices));
  Value lane = gpu::LaneIdOp::create(b, loc, /*upperBound=*/IntegerAttr());
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane,
                            arith::ConstantIndexOp::create(b, loc, 0));
  Value isLarger = isBelow(b, loc, known, word);
  Value joins = arith::AndIOp::create(b, loc, isFirst, isLarger);
  emitIf(b, loc, joins, [&] {
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
    address = arith::AddIOp::create(b, loc, address,
                                    emitByteOffset(b, loc, memory, indices));
    address = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
    Value pointer = LLVM::IntToPtrOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext(), 1), address);
    LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::umax, pointer, word,
                              LLVM::AtomicOrdering::monotonic, "device");
  });
}
