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
#include "Utils/PackedElements.h"
#include "Utils/PaddedTiles.h"
#include "Utils/WarpEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The values of a state: the group of lane 0; and of each lane's group, the
/// first row, the end, and the same in numbers of tiles.
enum State { Base, First, End, FirstTile, EndTile };

Value GroupSearch::emitCount(OpBuilder &b) const {
  return memref::DimOp::create(b, loc, offsets, 0);
}

SmallVector<Value> GroupSearch::emitGroups(OpBuilder &b, Value base, Value end,
                                           Value tiles) const {
  WarpEmitter warp(b, loc);
  const ArithEmitter &emit = warp.emit;
  // Offsets are i32.
  constexpr int64_t kMostRows = (int64_t(1) << 31) - 1;
  Value rows = warp.toWord(
      arith::MinUIOp::create(b, loc, m, makeIndex(b, loc, kMostRows)));
  Value group = arith::AddIOp::create(b, loc, base, warp.toIndex(warp.lane));
  Value isGroup = isBelow(b, loc, group, emitCount(b));
  Value last = emitLoadIf(
      b, loc, isGroup,
      [&](OpBuilder &then) -> Value {
        return memref::LoadOp::create(then, loc, offsets, group);
      },
      emit.integer(0));
  last = emit.minS(emit.maxS(last, end), rows);
  last = warp.scan(last, [&](Value before, Value value) -> Value {
    return emit.maxS(before, value);
  });
  Value first = warp.getBefore(last, end);
  Value count = emit.div(emit.add(emit.sub(last, first), tileRows - 1),
                         emit.integer(tileRows));
  Value firstTile, endTile;
  if (numbering == GroupNumbering::Dense) {
    endTile = warp.scan(count, [&](Value before, Value value) -> Value {
      return emit.add(before, value);
    });
    endTile = emit.add(endTile, tiles);
    firstTile = emit.sub(endTile, count);
  } else {
    firstTile = warp.toWord(
        applyExpr(b, loc,
                  getFirstPaddedTile(b.getAffineDimExpr(0),
                                     b.getAffineDimExpr(1), tileRows),
                  {warp.toIndex(first), group}));
    endTile = emit.add(firstTile, count);
  }
  return {base, first, last, firstTile, endTile};
}

SmallVector<Value> GroupSearch::emitFirst(OpBuilder &b) const {
  ArithEmitter emit(b, loc);
  Value none = emit.integer(0);
  return emitGroups(b, makeIndex(b, loc, 0), none, none);
}

GroupTile GroupSearch::emitTile(OpBuilder &b, Value number,
                                SmallVector<Value> &state) const {
  using IP = ArithEmitter::IP;
  SmallVector<Type> types = llvm::to_vector(ValueRange(state).getTypes());
  types.push_back(b.getI32Type());
  auto search = scf::WhileOp::create(
      b, loc, types, state,
      [&](OpBuilder &at, Location, ValueRange now) {
        WarpEmitter warp(at, loc);
        const ArithEmitter &emit = warp.emit;
        Value wanted = warp.toWord(number);
        Value isHere = emit.bitAnd(emit.is(IP::uge, wanted, now[FirstTile]),
                                   emit.is(IP::ult, wanted, now[EndTile]));
        Value from = warp.findLane(isHere);
        Value isFound = emit.is(IP::ult, from, emit.integer(kWarpLanes));
        Value next = addIndex(at, loc, now[Base], kWarpLanes);
        Value hasMore = emit.bitAnd(isBelow(at, loc, next, emitCount(at)),
                                    emit.negate(isFound));
        SmallVector<Value> passed(now);
        passed.push_back(from);
        scf::ConditionOp::create(at, loc, hasMore, passed);
      },
      [&](OpBuilder &at, Location, ValueRange now) {
        WarpEmitter warp(at, loc);
        Value lastLane = warp.emit.integer(kWarpLanes - 1);
        scf::YieldOp::create(
            at, loc,
            emitGroups(at, addIndex(at, loc, now[Base], kWarpLanes),
                       warp.broadcast(now[End], lastLane),
                       warp.broadcast(now[EndTile], lastLane)));
      });
  state = llvm::to_vector_of<Value>(search.getResults().drop_back());
  WarpEmitter warp(b, loc);
  const ArithEmitter &emit = warp.emit;
  Value from = search.getResults().back();
  Value lastLane = emit.integer(kWarpLanes - 1);
  Value isNobody = emit.is(IP::ugt, from, lastLane);
  // Rows of nobody start where the last group ends.
  Value lane = emit.select(isNobody, lastLane, from);
  Value end = warp.broadcast(state[End], lane);
  auto get = [&](Value ofNobody, State ofGroup) {
    return emit.select(isNobody, ofNobody,
                       warp.broadcast(state[ofGroup], lane));
  };
  Value first = get(end, First);
  Value firstTile = get(warp.broadcast(state[EndTile], lastLane), FirstTile);
  // Rows of nobody may be more than 2^31.
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  Value turn = emit.sub(warp.toWord(number), firstTile);
  GroupTile tile;
  tile.row = applyExpr(b, loc, d0 + d1 * tileRows,
                       {warp.toIndex(first), warp.toIndex(turn)});
  Value endRow = emit.select(isNobody, m, warp.toIndex(end));
  tile.isTile = isBelow(b, loc, tile.row, endRow);
  Value group = arith::AddIOp::create(b, loc, state[Base], warp.toIndex(lane));
  Value last = addIndex(b, loc, emitCount(b), -1);
  tile.group = {arith::MinUIOp::create(b, loc, group, last), isNobody,
                warp.toIndex(first), endRow};
  return tile;
}
