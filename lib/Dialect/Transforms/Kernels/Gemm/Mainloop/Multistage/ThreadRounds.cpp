//===- ThreadRounds.cpp - Pieces by thread --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/ThreadRounds.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

Value blockscale::getPieceNumber(OpBuilder &b, const FillContext &context,
                                 Round round) {
  if (!round.counter)
    return addConstant(b, context.loc, context.thread,
                       round.number * context.numThreads);
  AffineExpr t, r;
  bindDims(b.getContext(), t, r);
  return applyExprs(b, context.loc, {t + r * context.numThreads},
                    {context.thread, round.counter})[0];
}

/// The pieces of one round; the last round may have fewer than threads.
static void emitRound(OpBuilder &b, const FillContext &context,
                      int64_t numPieces, Round round,
                      function_ref<void(OpBuilder &, Round)> emitPiece) {
  bool isPartial = (round.number + 1) * context.numThreads > numPieces;
  if (!isPartial) {
    emitPiece(b, round);
    return;
  }
  Value number = getPieceNumber(b, context, round);
  Value isPiece =
      isBelow(b, context.loc, number, makeIndex(b, context.loc, numPieces));
  auto guard = scf::IfOp::create(b, context.loc, isPiece);
  OpBuilder inner = guard.getThenBodyBuilder();
  emitPiece(inner, round);
}

void blockscale::forEachRound(
    OpBuilder &b, const FillContext &context, int64_t numPieces,
    int64_t mostUnrolled, function_ref<void(OpBuilder &, Round)> emitPiece) {
  int64_t rounds = llvm::divideCeilSigned(numPieces, context.numThreads);
  if (rounds <= mostUnrolled) {
    for (int64_t round = 0; round != rounds; ++round)
      emitRound(b, context, numPieces, {round, nullptr}, emitPiece);
    return;
  }
  Value zero = makeIndex(b, context.loc, 0), one = makeIndex(b, context.loc, 1),
        count = makeIndex(b, context.loc, rounds);
  auto loop = scf::ForOp::create(b, context.loc, zero, count, one);
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  emitRound(inner, context, numPieces, {rounds - 1, loop.getInductionVar()},
            emitPiece);
}

/// The piece that a thread takes.
static Piece getPiece(OpBuilder &b, const FillContext &context, Round round,
                      const PieceGrid &grid) {
  AffineExpr d0 = getAffineDimExpr(0, b.getContext());
  auto split = [&](ArrayRef<AffineExpr> exprs, Value value) -> Piece {
    SmallVector<Value> at = applyExprs(b, context.loc, exprs, value);
    return {at[0], at[1]};
  };
  int64_t threads = context.numThreads;
  int64_t perRow = grid.perRow, numPieces = perRow * grid.numRows;
  constexpr int64_t kPeriod = kBankRowBytes / kChunkBytes;
  if (grid.isAcross)
    return split({d0 % grid.numRows, d0.floorDiv(grid.numRows)},
                 getPieceNumber(b, context, round));
  if (round.counter || threads % (perRow * kPeriod) != 0 ||
      numPieces % threads != 0)
    return split({d0.floorDiv(perRow), d0 % perRow},
                 getPieceNumber(b, context, round));
  // A thread stays at its column of a row, and steps over rows by the period
  // of the swizzle: its addresses differ by small constants.
  int64_t rounds = llvm::divideCeilSigned(numPieces, threads);
  AffineExpr row = d0.floorDiv(perRow);
  Piece piece = split(
      {row % kPeriod + row.floorDiv(kPeriod) * (kPeriod * rounds), d0 % perRow},
      context.thread);
  piece.rowOffset = round.number * kPeriod;
  return piece;
}

void blockscale::forEachPiece(
    OpBuilder &b, const FillContext &context, const PieceGrid &grid,
    int64_t mostUnrolled,
    function_ref<void(OpBuilder &, const Piece &)> emitPiece) {
  forEachRound(b, context, grid.numRows * grid.perRow, mostUnrolled,
               [&](OpBuilder &at, Round round) {
                 emitPiece(at, getPiece(at, context, round, grid));
               });
}
