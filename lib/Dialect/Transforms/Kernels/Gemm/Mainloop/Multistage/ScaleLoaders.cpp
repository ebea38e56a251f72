//===- ScaleLoaders.cpp - Tiles of scale factors --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SharedLayout.h describes the layouts; this file says which thread copies
// what.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/OperandAccess.h"
#include "Kernels/Gemm/Mainloop/Multistage/ThreadRounds.h"
#include "Utils/IndexValues.h"
#include "Utils/ScaleOuter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// To outerSize with all scales of a row: `pieceBytes` at once or, if they
/// cannot be copied, gathered one by one.
class ScaleRowLoader final : public TileLoader {
public:
  ScaleRowLoader(SharedTile tile, const KernelOperand &operand, int64_t rows,
                 int64_t pieceBytes, bool isAsync)
      : TileLoader(std::move(tile), operand), rows(rows),
        pieceBytes(pieceBytes), hasPieces(isAsync) {}

  bool isAsync() const override { return hasPieces; }
  void emit(OpBuilder &b, const FillContext &context, Value memory,
            const FillSource &source) const override {
    ArrayRef<int64_t> shape = getTile().shape;
    // Scales that are read one by one may be contiguous along rows.
    bool isAcross = !isAsync() && operand->contiguity == Contiguity::Rows;
    PieceGrid grid = {shape[0] * shape[1], shape[2] / pieceBytes, isAcross};
    forEachPiece(b, context, grid, isAsync() ? kMostAsyncRounds : 1,
                 [&](OpBuilder &at, const Piece &piece) {
                   emitPiece(at, context, memory, source, piece);
                 });
  }

private:
  void emitPiece(OpBuilder &b, const FillContext &context, Value memory,
                 const FillSource &source, const Piece &piece) const {
    Location loc = context.loc;
    constexpr int64_t kOuter = kWarpLanes;
    int64_t scales = getTile().shape[2];
    AffineExpr row, number, first, s;
    bindDims(b.getContext(), row, number, first, s);
    Value whole = addConstant(b, loc, piece.row, piece.rowOffset);
    AffineExpr group = row.floorDiv(kOuter);
    SmallVector<Value> values =
        applyExprs(b, loc,
                   {group, row % kOuter, number * pieceBytes,
                    first + group * kOuter + getScaleRowExpr(row % kOuter),
                    s * scales + number * pieceBytes},
                   {whole, piece.index, source.origin, source.step});
    ElementPosition start = {values[3], values[4]};
    SmallVector<Value> to(values.begin(), values.begin() + 3);
    // The outerSize of a group may be more than the tile has rows.
    OperandAccess access(*operand, context, source,
                         context.isGuarded || rows % kOuter != 0);
    if (isAsync())
      return access.copyAsync(b, start, memory, to, pieceBytes);
    storeWords(b, loc, access.gatherWord(b, start, pieceBytes, getTile().slot),
               memory, to);
  }

  int64_t rows;
  int64_t pieceBytes;
  bool hasPieces;
};

/// From the 32x4x4 layout, to u32 of rows that are 32 apart.
class ScaleAtomLoader final : public TileLoader {
public:
  ScaleAtomLoader(SharedTile tile, const KernelOperand &operand, int64_t scales)
      : TileLoader(std::move(tile), operand), scales(scales) {}

  bool isAsync() const override { return true; }
  void emit(OpBuilder &b, const FillContext &context, Value memory,
            const FillSource &source) const override {
    ArrayRef<int64_t> shape = getTile().shape;
    int64_t numPieces = shape[0] * shape[1] * shape[2];
    forEachRound(b, context, numPieces, kMostAsyncRounds,
                 [&](OpBuilder &at, Round round) {
                   emitPiece(at, context, memory, source, round);
                 });
  }

private:
  /// Threads take pieces that are neighbours in the operand, in such an order
  /// that they store to different banks.
  void emitPiece(OpBuilder &b, const FillContext &context, Value memory,
                 const FillSource &source, Round round) const {
    Location loc = context.loc;
    ArrayRef<int64_t> shape = getTile().shape;
    int64_t parts = shape[1], outerSize = shape[2];
    int64_t words = shape[3] / kScalesPerWord;
    int64_t partsOfAtom = kScaleAtomRows / (words * outerSize);
    int64_t atoms = parts / partsOfAtom;
    AffineExpr n, first, s;
    bindDims(b.getContext(), n, first, s);
    // The row of part 0.
    AffineExpr part, row;
    if (words == 1) {
      // The u32 of one row of the atom go to different parts, and so to
      // different banks.
      part = n % partsOfAtom;
      row = getScaleOuterExpr(n.floorDiv(partsOfAtom) % outerSize);
    } else {
      // As many threads as fill all banks store to one part, those next to them
      // to the next one.
      int64_t together = kBankRowBytes / shape[3];
      part = n.floorDiv(together) % partsOfAtom;
      row = n % together + n.floorDiv(together * partsOfAtom) %
                               (outerSize / together) * together;
    }
    AffineExpr atom = n.floorDiv(outerSize * partsOfAtom);
    part = part + atom % atoms * partsOfAtom;
    AffineExpr word = atom.floorDiv(atoms);
    SmallVector<Value> values = applyExprs(
        b, loc,
        {word, part, row, getScaleSkewExpr(part),
         first + part * (words * outerSize) + getScaleRowExpr(row),
         s * scales + word * kScalesPerWord},
        {getPieceNumber(b, context, round), source.origin, source.step});
    Value toOuter = arith::XOrIOp::create(b, loc, values[2], values[3]);
    SmallVector<Value> to = {values[0], values[1], toOuter,
                             makeIndex(b, loc, 0)};
    OperandAccess access(*operand, context, source, context.isGuarded);
    access.copyAsync(b, {values[4], values[5]}, memory, to,
                     words * kScalesPerWord);
  }

  /// Along K.
  int64_t scales;
};
} // namespace

LoaderPtr blockscale::makeScaleRowLoader(SharedTile tile,
                                         const KernelOperand &operand,
                                         int64_t rows, int64_t pieceBytes,
                                         bool isAsync) {
  return std::make_unique<ScaleRowLoader>(std::move(tile), operand, rows,
                                          pieceBytes, isAsync);
}

LoaderPtr blockscale::makeScaleAtomLoader(SharedTile tile,
                                          const KernelOperand &operand,
                                          int64_t scales) {
  return std::make_unique<ScaleAtomLoader>(std::move(tile), operand, scales);
}
