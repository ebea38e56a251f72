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

#include "Kernels/Gemm/Mainloop/Multistage/ElementLoader.h"

#include "Kernels/Gemm/Mainloop/Multistage/WidenToE4M3.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

ElementLoader::ElementLoader(SharedTile sharedTile,
                             const KernelOperand &operand,
                             const TileExtent &extent,
                             std::optional<Pieces> pieces,
                             std::optional<Format> narrow)
    : TileLoader(std::move(sharedTile), operand), hasPieces(pieces.has_value()),
      narrow(narrow), columns(extent.k) {
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
  numLines = isAlongRows ? extent.k : extent.rows;
  perLine =
      (isAlongRows ? extent.rows : extent.k) / chunkElements * piecesPerChunk;
}

/// 16-bit values are loaded as such from global memory, not as bytes.
static constexpr unsigned kValueBits = 16;

Type ElementLoader::getElementType(const FillContext &context) const {
  if (operand->bits != kValueBits)
    return TileLoader::getElementType(context);
  Value argument = context.getArgument(operand->argument);
  return cast<MemRefType>(argument.getType()).getElementType();
}

void ElementLoader::emit(OpBuilder &b, const FillContext &context, Value memory,
                         const FillSource &source) const {
  // Loads through registers take too many instructions to be unrolled.
  int64_t mostUnrolled = isAsync() ? kMostAsyncRounds : 1;
  // Elements that are read one by one may be contiguous along rows.
  bool isAcross = !isAsync() && operand->contiguity == Contiguity::Rows;
  PieceGrid grid = {numLines, perLine, isAcross};
  forEachPiece(b, context, grid, mostUnrolled,
               [&](OpBuilder &at, const Piece &piece) {
                 emitPiece(at, context, memory, source, piece);
               });
}

void ElementLoader::emitPiece(OpBuilder &b, const FillContext &context,
                              Value memory, const FillSource &source,
                              const Piece &piece) const {
  Location loc = context.loc;
  AffineExpr line, number, first, s;
  bindDims(b.getContext(), line, number, first, s);
  // In shared memory.
  AffineExpr inChunk = number % piecesPerChunk;
  SmallVector<Value> at = applyExprs(
      b, loc, {number.floorDiv(piecesPerChunk), inChunk * pieceBytes},
      {piece.line, piece.index});
  Value byte = emitByteOfLine(b, loc, getTile(), piece.line, at[0], at[1]);
  if (operand->bits == kValueBits)
    byte = applyExprs(b, loc, {line.floorDiv(kValueBits / 8)}, byte)[0];
  SmallVector<Value> to = {addConstant(b, loc, piece.line, piece.lineOffset),
                           byte};

  // In the operand.
  AffineExpr code =
      number.floorDiv(piecesPerChunk) * chunkElements + inChunk * pieceElements;
  SmallVector<Value> from =
      applyExprs(b, loc,
                 {first + (isAlongRows ? code : line),
                  s * columns + (isAlongRows ? line : code)},
                 {piece.line, piece.index, source.origin, source.step});
  ElementPosition start = {from[0], from[1]};
  Value &lineIndex = isAlongRows ? start.column : start.row;
  lineIndex = addConstant(b, loc, lineIndex, piece.lineOffset);
  OperandAccess access(*operand, context, source, context.isGuarded);
  if (isAsync())
    return access.copyAsync(b, start, memory, to, pieceBytes,
                            pieceElements == 0 ? at[1] : Value());
  Value word = access.gatherWord(b, start, pieceElements, getTile().slot);
  if (narrow)
    word = emitWiden(b, loc, word, *narrow);
  storeWords(b, loc, word, memory, to);
}

Value blockscale::emitByteOfLine(OpBuilder &b, Location loc,
                                 const SharedTile &tile, Value line,
                                 Value chunk, Value inChunk) {
  if (tile.layout.isSwizzled) {
    ChunkSwizzle swizzle = getChunkSwizzle(tile.shape[1]);
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    Value factor = applyExprs(
        b, loc, {d0.floorDiv(swizzle.rowsPerStep) % swizzle.modulus}, line)[0];
    chunk = arith::XOrIOp::create(b, loc, chunk, factor);
  }
  Value start =
      arith::MulIOp::create(b, loc, chunk, makeIndex(b, loc, kChunkBytes));
  return arith::AddIOp::create(b, loc, start, inChunk);
}
