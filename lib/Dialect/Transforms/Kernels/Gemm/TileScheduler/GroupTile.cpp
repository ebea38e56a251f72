//===- GroupTile.cpp - The tile of a group of rows ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/TileScheduler/GroupTile.h"

#include "Utils/ArithEmitter.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// The lanes of a warp have neighboring groups.
class GroupSearch {
public:
  GroupSearch(OpBuilder &b, Location loc)
      : b(b), loc(loc), emit(b, loc),
        lane(arith::RemUIOp::create(
            b, loc, toWord(gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x)),
            emit.integer(kWarpLanes))) {}

  Value toWord(Value index) const {
    return b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), index);
  }
  Value toIndex(Value word) const {
    return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), word);
  }

  /// `value` of lane `from`.
  Value broadcast(Value value, Value from) const {
    return shuffle(value, from, gpu::ShuffleMode::IDX);
  }
  /// That of the lane before, or `first` for the first one.
  Value getBefore(Value value, Value first) const {
    Value before = shuffle(value, emit.integer(1), gpu::ShuffleMode::UP);
    return emit.select(emit.isEqual(lane, 0), first, before);
  }
  /// `combine` of the values of all lanes up to this one.
  Value scan(Value value,
             function_ref<Value(Value before, Value value)> combine) const {
    for (uint32_t distance = 1; distance != kWarpLanes; distance *= 2) {
      Value before =
          shuffle(value, emit.integer(distance), gpu::ShuffleMode::UP);
      value = emit.select(emit.isAtLeast(lane, distance),
                          combine(before, value), value);
    }
    return value;
  }
  /// The first lane in which `flag` is true; 32 for none.
  Value findLane(Value flag) const {
    Value ballot =
        NVVM::VoteSyncOp::create(b, loc, b.getI32Type(), emit.integer(~0u),
                                 flag, NVVM::VoteSyncKind::ballot);
    return LLVM::CountTrailingZerosOp::create(b, loc, b.getI32Type(), ballot,
                                              /*is_zero_poison=*/false);
  }

private:
  Value shuffle(Value value, Value by, gpu::ShuffleMode mode) const {
    return gpu::ShuffleOp::create(b, loc, value, by, emit.integer(kWarpLanes),
                                  mode)
        .getShuffleResult();
  }

  OpBuilder &b;
  Location loc;

public:
  ArithEmitter emit;
  Value lane;
};
} // namespace

GroupTile blockscale::emitGroupTile(OpBuilder &b, Location loc, Value offsets,
                                    Value number, int64_t tileRows, Value m) {
  GroupSearch search(b, loc);
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
        GroupSearch here(at, loc);
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
        Value behind =
            here.scan(tiles, [&](Value before, Value value) -> Value {
              return emit.add(before, value);
            });
        behind = emit.add(behind, state[Tiles]);
        Value firstTile = emit.sub(behind, tiles);
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
      isNobody, end};
  return tile;
}
