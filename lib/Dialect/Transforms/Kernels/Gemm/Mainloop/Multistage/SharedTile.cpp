//===- SharedTile.cpp - A tile in shared memory ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes follow from extents and layouts alone. So the bytes of a stage are
// known before anybody plans how to fill it.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/SharedTile.h"

#include "Utils/IndexValues.h"
#include "blockscale/Support/SparseMetadata.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

int64_t SharedTile::getNumBytes() const {
  return shape.empty() ? 0 : ShapedType::getNumElements(shape);
}

SharedTile blockscale::getElementTile(const TileExtent &extent, Slot slot,
                                      const TileLayout &layout) {
  bool isK = layout.major == Major::K;
  int64_t rows = isK ? extent.rows : extent.k;
  int64_t elements = isK ? extent.k : extent.rows;
  SharedTile tile;
  tile.slot = slot;
  tile.layout = layout;
  tile.shape = {rows, elements * getStoredBits(layout.storage, slot) / 8};
  tile.layout.isSwizzled = canSwizzle(tile.shape[1]);
  return tile;
}

SharedTile blockscale::getScaleTile(const TileExtent &extent, int64_t blockSize,
                                    int64_t words) {
  constexpr int64_t kOuter = kWarpLanes;
  int64_t scales = extent.k / blockSize;
  SharedTile tile;
  if (words > 0) {
    tile.order = ScaleOrder::Parts;
    tile.shape = {scales / kScalesPerWord, extent.rows / kOuter / words, kOuter,
                  words * kScalesPerWord};
    return tile;
  }
  tile.order = ScaleOrder::Lanes;
  tile.shape = {llvm::divideCeilSigned(extent.rows, kOuter), kOuter, scales};
  return tile;
}

SharedTile blockscale::getMetadataTile(const TileExtent &extent,
                                       int64_t bytes) {
  int64_t chunk = bytes % kMetadataChunkBytes == 0 ? kMetadataChunkBytes
                                                   : kMetadataStepBytes;
  SharedTile tile;
  tile.shape = {bytes / chunk, extent.rows, chunk};
  return tile;
}

Value blockscale::emitByteOfRow(OpBuilder &b, Location loc,
                                const SharedTile &tile, Value row, Value chunk,
                                Value inChunk) {
  if (tile.layout.isSwizzled) {
    ChunkSwizzle swizzle = getChunkSwizzle(tile.shape[1]);
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    Value factor = applyExprs(
        b, loc, {d0.floorDiv(swizzle.rowsPerStep) % swizzle.modulus}, row)[0];
    chunk = arith::XOrIOp::create(b, loc, chunk, factor);
  }
  Value start =
      arith::MulIOp::create(b, loc, chunk, makeIndex(b, loc, kChunkBytes));
  return arith::AddIOp::create(b, loc, start, inChunk);
}
