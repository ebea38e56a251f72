//===- DecompressKernel.cpp - Kernel of decompress ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread reads a byte of metadata, whose two chunks have four kept bytes, and
// writes eight bytes; the lanes of a warp follow each other in a row.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Relayout/DecompressKernel.h"

#include "Reference/SparseEmitter.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr int64_t kWarps = 8;
static constexpr unsigned kByteBits = 8;

/// The bits of the magnitude of the elements in a byte of memory.
static unsigned getMagnitudeMask(DecompressOp op) {
  const FormatInfo &info = getFormatInfo(
      *getElementFormat(getElementTypeOrSelf(op.getElements().getType())));
  unsigned mask = info.magnitudeMask();
  return op.getUnits().unit == 1 ? mask : mask | mask << info.bits;
}

/// The four bytes, an i32, of a chunk with `field` that keeps the two bytes
/// `kept`, an i32. A later byte overwrites an earlier one at its position.
static Value emitChunk(SparseEmitter &emit, Value field, Value kept) {
  Value first = emit.bitAnd(kept, 0xFF), second = emit.shiftRight(kept, 8);
  auto getShift = [&](unsigned unit) {
    return emit.mul(emit.getPosition(field, unit), kByteBits);
  };
  Value firstShift = getShift(0), secondShift = getShift(1);
  Value hole = emit.shiftLeft(emit.integer(0xFF), secondShift);
  Value chunk = emit.shiftLeft(first, firstShift);
  chunk = emit.bitAnd(chunk, emit.bitXor(hole, 0xFFFFFFFF));
  return emit.bitOr(chunk, emit.shiftLeft(second, secondShift));
}

KernelShape blockscale::getDecompressKernelShape() {
  return {{kWarps, kWarpLanes, 1}, {kWarps * kWarpLanes, 1, 1}};
}

void blockscale::buildDecompressKernel(gpu::GPUFuncOp kernel, DecompressOp op) {
  Location loc = kernel.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value elements = kernel.getArgument(0), metadata = kernel.getArgument(1),
        result = kernel.getArgument(2);
  auto rank =
      static_cast<unsigned>(cast<MemRefType>(metadata.getType()).getRank());
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value row = applyExprs(
      b, loc, {d0 * kWarps + d1.floorDiv(kWarpLanes)},
      {gpu::BlockIdOp::create(b, loc, gpu::Dimension::x), thread})[0];
  Value column = applyExprs(
      b, loc, {d0 * kWarpLanes + d1 % kWarpLanes},
      {gpu::BlockIdOp::create(b, loc, gpu::Dimension::y), thread})[0];
  Value batch = gpu::BlockIdOp::create(b, loc, gpu::Dimension::z);
  Value isRow =
      isBelow(b, loc, row, memref::DimOp::create(b, loc, metadata, rank - 2));
  Value isColumn = isBelow(b, loc, column,
                           memref::DimOp::create(b, loc, metadata, rank - 1));
  Value isInside = arith::AndIOp::create(b, loc, isRow, isColumn);
  OpBuilder then = scf::IfOp::create(b, loc, isInside).getThenBodyBuilder();
  gpu::ReturnOp::create(b, loc);

  auto getPosition = [&](int64_t bytes) {
    SmallVector<Value> position = {row};
    if (rank == 3)
      position.insert(position.begin(), batch);
    position.push_back(applyExprs(then, loc, {d0 * bytes}, column)[0]);
    return position;
  };
  SparseEmitter emit(then, loc, op.getUnits());
  Value fields =
      memref::LoadOp::create(then, loc, metadata, getPosition(/*bytes=*/1));
  constexpr int64_t kChunks = 2, kKeptBytes = kChunks * kKeptUnits,
                    kBytes = kChunks * kUnitsPerChunk;
  auto getBytes = [&](int64_t count) {
    return VectorType::get(count, then.getI8Type());
  };
  auto getWords = [&](int64_t count) {
    return VectorType::get(count, then.getI32Type());
  };
  Value kept = vector::LoadOp::create(
      then, loc, getBytes(kKeptBytes), elements, getPosition(kKeptBytes),
      /*nontemporal=*/false, llvm::MaybeAlign(kKeptBytes));
  kept = vector::ExtractOp::create(
      then, loc, vector::BitCastOp::create(then, loc, getWords(1), kept), 0);
  unsigned mask = getMagnitudeMask(op);
  SmallVector<Value> chunks;
  for (int64_t i = 0; i != kChunks; ++i) {
    Value field = emit.getField(fields, emit.index(i));
    Value ofChunk =
        emit.bitAnd(emit.shiftRight(kept, static_cast<uint64_t>(i) *
                                              kKeptUnits * kByteBits),
                    0xFFFF);
    Value isZero = emit.isEqual(
        emit.bitAnd(ofChunk, uint64_t(mask | mask << kByteBits)), 0);
    emit.expectLegal(field, isZero, op);
    chunks.push_back(emitChunk(emit, field, ofChunk));
  }
  Value words =
      vector::FromElementsOp::create(then, loc, getWords(kChunks), chunks);
  vector::StoreOp::create(
      then, loc, vector::BitCastOp::create(then, loc, getBytes(kBytes), words),
      result, getPosition(kBytes), /*nontemporal=*/false,
      llvm::MaybeAlign(kBytes));
}
