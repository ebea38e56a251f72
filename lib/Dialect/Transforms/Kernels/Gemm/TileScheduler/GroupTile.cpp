//===- GroupTile.cpp - The tile of a group of rows ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/TileScheduler/GroupTile.h"

#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "Utils/PaddedTiles.h"
#include "Utils/WarpEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

GroupTile blockscale::emitGroupTile(OpBuilder &b, Location loc, Value offsets,
                                    Value number, int64_t tileRows, Value m,
                                    GroupNumbering numbering) {
  // The lanes of a warp have neighboring groups.
  WarpEmitter search(b, loc);
  const ArithEmitter &words = search.emit;
  Value zero = makeIndex(b, loc, 0), lanes = makeIndex(b, loc, kWarpLanes);
  Value count = memref::DimOp::create(b, loc, offsets, zero);
  Value last = addIndex(b, loc, count, -1);
  // Offsets are i32.
  constexpr int64_t kMostRows = (int64_t(1) << 31) - 1;
  Value rows = search.toWord(
      arith::MinUIOp::create(b, loc, m, makeIndex(b, loc, kMostRows)));
  Value wanted = search.toWord(number);
  Value none = words.integer(0), laneIndex = search.toIndex(search.lane);
  // The end of all groups so far and how many tiles they have; and of the group
  // of the tile: its number, first row, end, and first tile. Nobody's number is
  // `count`.
  enum { End, Tiles, Number, First, Last, FirstTile };
  Value nobody = search.toWord(count);
  auto loop = scf::ForOp::create(
      b, loc, zero, count, lanes,
      ValueRange{none, none, nobody, none, none, none},
      [&](OpBuilder &at, Location, Value base, ValueRange state) {
        WarpEmitter here(at, loc);
        const ArithEmitter &emit = here.emit;
        Value group = arith::AddIOp::create(at, loc, base, laneIndex);
        Value inside = arith::MinUIOp::create(at, loc, group, last);
        Value end = memref::LoadOp::create(at, loc, offsets, inside);
        end = emit.minS(emit.maxS(end, state[End]), rows);
        end = here.scan(end, [&](Value before, Value value) -> Value {
          return emit.maxS(before, value);
        });
        Value first = here.getBefore(end, state[End]);
        Value tiles =
            emit.div(emit.add(emit.sub(end, first), emit.integer(tileRows - 1)),
                     emit.integer(tileRows));
        Value behind, firstTile;
        if (numbering == GroupNumbering::Dense) {
          behind = here.scan(tiles, [&](Value before, Value value) -> Value {
            return emit.add(before, value);
          });
          behind = emit.add(behind, state[Tiles]);
          firstTile = emit.sub(behind, tiles);
        } else {
          firstTile = here.toWord(applyExprs(
              at, loc,
              getFirstPaddedTile(at.getAffineDimExpr(0), at.getAffineDimExpr(1),
                                 tileRows),
              {here.toIndex(first), inside})[0]);
          behind = emit.add(firstTile, tiles);
        }
        using IP = ArithEmitter::IP;
        Value isHere = emit.bitAnd(emit.is(IP::uge, wanted, firstTile),
                                   emit.is(IP::ult, wanted, behind));
        Value from = here.findLane(isHere);
        Value isFound = emit.is(IP::ult, from, emit.integer(kWarpLanes));
        auto update = [&](Value value, unsigned old) {
          return emit.select(isFound, here.broadcast(value, from), state[old]);
        };
        Value lastLane = emit.integer(kWarpLanes - 1);
        scf::YieldOp::create(at, loc,
                             ValueRange{here.broadcast(end, lastLane),
                                        here.broadcast(behind, lastLane),
                                        update(here.toWord(group), Number),
                                        update(first, First), update(end, Last),
                                        update(firstTile, FirstTile)});
      });
  ValueRange found = loop.getResults();
  Value isNobody = words.is(ArithEmitter::IP::eq, found[Number], nobody);
  auto get = [&](Value ofNobody, unsigned ofGroup) {
    return words.select(isNobody, ofNobody, found[ofGroup]);
  };
  Value first = get(found[End], First),
        firstTile = get(found[Tiles], FirstTile);
  // Rows of nobody may be more than 2^31.
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  Value turn = words.sub(wanted, firstTile);
  GroupTile tile;
  tile.row = applyExprs(b, loc, d0 + d1 * tileRows,
                        {search.toIndex(first), search.toIndex(turn)})[0];
  Value end = search.toIndex(found[Last]);
  end = arith::SelectOp::create(b, loc, isNobody, m, end);
  tile.isTile = isBelow(b, loc, tile.row, end);
  tile.group = {
      arith::MinUIOp::create(b, loc, search.toIndex(found[Number]), last),
      isNobody, search.toIndex(first), end};
  return tile;
}
