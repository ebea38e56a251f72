//===- ElementLoader.cpp - Tiles of elements ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order in which threads take pieces decides which banks and sectors a warp
// touches at once.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/OperandAccess.h"
#include "Kernels/Gemm/Mainloop/Multistage/ThreadRounds.h"
#include "Kernels/Gemm/Mainloop/Multistage/WidenToE4M3.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

/// 16-bit values are loaded as such from global memory, not as bytes.
static constexpr unsigned kValueBits = 16;

namespace {
class ElementLoader final : public TileLoader {
public:
  ElementLoader(SharedTile sharedTile, const KernelOperand &operand,
                const TileExtent &extent, std::optional<CopyPieces> pieces,
                std::optional<Format> narrow)
      : TileLoader(std::move(sharedTile), operand),
        hasPieces(pieces.has_value()), narrow(narrow), columns(extent.k) {
    const SharedTile &tile = getTile();
    if (pieces) {
      pieceBytes = pieces->bytes;
      piecesPerChunk = pieces->chunkBytes / pieces->bytes;
      // A piece of packed fp6 may end inside of an element.
      if (pieceBytes * 8 % operand.bits == 0)
        pieceElements = pieceBytes * 8 / operand.bits;
      isAlongRows = tile.layout.major == Major::MN;
    } else {
      pieceElements = kWordBytes * 8 / tile.slot.bits;
    }
    chunkElements =
        kChunkBytes * 8 / getStoredBits(tile.layout.storage, tile.slot);
    numRows = isAlongRows ? extent.k : extent.rows;
    perRow =
        (isAlongRows ? extent.rows : extent.k) / chunkElements * piecesPerChunk;
  }

  bool isAsync() const override { return hasPieces; }
  Type getElementType(const FillContext &context) const override {
    if (operand->bits != kValueBits)
      return TileLoader::getElementType(context);
    Value argument = context.getArgument(operand->argument);
    return cast<MemRefType>(argument.getType()).getElementType();
  }

  void emit(OpBuilder &b, const FillContext &context, Value memory,
            const FillSource &source) const override {
    // Loads through registers take too many instructions to be unrolled.
    int64_t mostUnrolled = isAsync() ? kMostAsyncRounds : 1;
    // Elements that are read one by one may be contiguous along rows.
    bool isAcross = !isAsync() && operand->contiguity == Contiguity::Rows;
    PieceGrid grid = {numRows, perRow, isAcross};
    forEachPiece(b, context, grid, mostUnrolled,
                 [&](OpBuilder &at, const Piece &piece) {
                   emitPiece(at, context, memory, source, piece);
                 });
  }

private:
  void emitPiece(OpBuilder &b, const FillContext &context, Value memory,
                 const FillSource &source, const Piece &piece) const {
    Location loc = context.loc;
    AffineExpr row, number, first, s;
    bindDims(b.getContext(), row, number, first, s);
    // In shared memory.
    AffineExpr inChunk = number % piecesPerChunk;
    SmallVector<Value> at = applyExprs(
        b, loc, {number.floorDiv(piecesPerChunk), inChunk * pieceBytes},
        {piece.row, piece.index});
    Value byte = emitByteOfRow(b, loc, getTile(), piece.row, at[0], at[1]);
    if (operand->bits == kValueBits)
      byte = applyExprs(b, loc, {row.floorDiv(kValueBits / 8)}, byte)[0];
    SmallVector<Value> to = {addConstant(b, loc, piece.row, piece.rowOffset),
                             byte};

    // In the operand.
    AffineExpr code = number.floorDiv(piecesPerChunk) * chunkElements +
                      inChunk * pieceElements;
    SmallVector<Value> from =
        applyExprs(b, loc,
                   {first + (isAlongRows ? code : row),
                    s * columns + (isAlongRows ? row : code)},
                   {piece.row, piece.index, source.origin, source.step});
    ElementPosition start = {from[0], from[1]};
    Value &rowIndex = isAlongRows ? start.column : start.row;
    rowIndex = addConstant(b, loc, rowIndex, piece.rowOffset);
    OperandAccess access(*operand, context, source, context.isGuarded);
    if (isAsync())
      return access.copyAsync(b, start, memory, to, pieceBytes,
                              pieceElements == 0 ? at[1] : Value());
    Value word = access.gatherWord(b, start, pieceElements, getTile().slot);
    if (narrow)
      word = emitWiden(b, loc, word, *narrow);
    storeWords(b, loc, word, memory, to);
  }

  bool hasPieces;
  std::optional<Format> narrow;
  /// The bytes of shared memory that are filled at once.
  int64_t pieceBytes = kWordBytes;
  int64_t piecesPerChunk = kChunkBytes / kWordBytes;
  /// Elements of the operand in a piece, 0 if it ends inside of one.
  int64_t pieceElements = 0;
  /// Elements in 16 bytes of shared memory.
  int64_t chunkElements;
  /// Whether rows of the tile are columns, and copies go along rows.
  bool isAlongRows = false;
  /// Columns of the tile; its rows, and pieces of a row.
  int64_t columns, numRows, perRow;
};
} // namespace

LoaderPtr blockscale::makeElementLoader(SharedTile tile,
                                        const KernelOperand &operand,
                                        const TileExtent &extent,
                                        std::optional<CopyPieces> pieces,
                                        std::optional<Format> narrow) {
  return std::make_unique<ElementLoader>(std::move(tile), operand, extent,
                                         pieces, narrow);
}
