//===- MetadataLoader.cpp - Metadata of a sparse A ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of metadata, 8 or 16 bytes of a row side by side (T8). Outside of the
// operand it is copied from the start of it: kept elements are zero there, but
// fields have to be legal all the same, and 0 is none.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/OperandAccess.h"
#include "Kernels/Gemm/Mainloop/Multistage/ThreadRounds.h"
#include "Utils/IndexValues.h"
#include "blockscale/Support/SparseMetadata.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class MetadataLoader final : public TileLoader {
public:
  MetadataLoader(SharedTile tile, const KernelOperand &operand,
                 int64_t pieceBytes, bool isAsync)
      : TileLoader(std::move(tile), operand), pieceBytes(pieceBytes),
        hasPieces(isAsync) {}

  bool isAsync() const override { return hasPieces; }
  void emit(OpBuilder &b, const FillContext &context, Value memory,
            const FillSource &source) const override {
    ArrayRef<int64_t> shape = getTile().shape;
    PieceGrid grid = {shape[1], shape[0] * shape[2] / pieceBytes,
                      /*isAcross=*/!isAsync()};
    forEachPiece(b, context, grid, isAsync() ? kMostAsyncRounds : 1,
                 [&](OpBuilder &at, const Piece &piece) {
                   emitPiece(at, context, memory, source, piece);
                 });
  }

private:
  void emitPiece(OpBuilder &b, const FillContext &context, Value memory,
                 const FillSource &source, const Piece &piece) const {
    Location loc = context.loc;
    ArrayRef<int64_t> shape = getTile().shape;
    int64_t chunkBytes = shape[2], rowBytes = shape[0] * chunkBytes;
    AffineExpr row, number, first, s;
    bindDims(b.getContext(), row, number, first, s);
    AffineExpr byte = number * pieceBytes;
    Value whole = addConstant(b, loc, piece.row, piece.rowOffset);
    SmallVector<Value> values =
        applyExprs(b, loc,
                   {byte.floorDiv(chunkBytes), byte % chunkBytes,
                    row.floorDiv(kGroupRows) % 2 * kMetadataStepBytes,
                    first + row, s * rowBytes + byte},
                   {whole, piece.index, source.origin, source.step});
    Value inChunk = values[1];
    if (chunkBytes != kMetadataStepBytes)
      inChunk = arith::XOrIOp::create(b, loc, inChunk, values[2]);
    SmallVector<Value> to = {values[0], whole, inChunk};
    ElementPosition start = {values[3], values[4]};
    OperandAccess access(*operand, context, source, context.isGuarded);
    access.setClamped();
    if (isAsync())
      return access.copyAsync(b, start, memory, to, pieceBytes);
    storeWords(b, loc, access.gatherWord(b, start, pieceBytes, getTile().slot),
               memory, to);
  }

  int64_t pieceBytes;
  bool hasPieces;
};
} // namespace

LoaderPtr blockscale::makeMetadataLoader(SharedTile tile,
                                         const KernelOperand &operand,
                                         int64_t pieceBytes, bool isAsync) {
  return std::make_unique<MetadataLoader>(std::move(tile), operand, pieceBytes,
                                          isAsync);
}
