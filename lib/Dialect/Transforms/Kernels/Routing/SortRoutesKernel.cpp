//===- SortRoutesKernel.cpp - Kernel of sort_routes -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stable counting sort in one block. Each warp has consecutive slots, and
// counters of its own for all groups, in shared memory; so warps need not wait
// for each other. Of the lanes with one group, the first one adds all of them
// to the counter, and the order of lanes is that of slots.
//
//   1. Warps count their slots.
//   2. A thread for each group: counters become the number of slots of the
//   group
//      that warps before have.
//   3. One warp adds up the sizes of groups, which makes their ends.
//   4. Warps go through their slots again, and place them.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Routing/RoutingKernels.h"

#include "Utils/IndexValues.h"
#include "Utils/PackedElements.h"
#include "Utils/WarpEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr int64_t kLanes = kWarpLanes, kWarps = 32,
                         kThreads = kWarps * kLanes;
/// With more than a fourth of them, only some warps have counters.
static constexpr int64_t kCounters = 8192;
static_assert(SortRoutesOp::kMostGroups <= kCounters);

namespace {
class SortRoutesKernel {
public:
  SortRoutesKernel(OpBuilder &b, gpu::GPUFuncOp kernel)
      : b(b), loc(kernel.getLoc()), ids(kernel.getArgument(0)),
        offsets(kernel.getArgument(1)), rows(kernel.getArgument(2)),
        positions(kernel.getArgument(3)) {
    auto share = [&](int64_t size) {
      auto space = gpu::AddressSpaceAttr::get(
          b.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
      return kernel.addWorkgroupAttribution(
          MemRefType::get(size, b.getI32Type(), MemRefLayoutAttrInterface(),
                          space),
          loc);
    };
    counters = share(kCounters);
    starts = share(SortRoutesOp::kMostGroups);
  }

  void build() {
    thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    groups = memref::DimOp::create(b, loc, offsets, 0);
    Value ofRow = memref::DimOp::create(b, loc, ids, 1);
    slotsOfRow = toWord(b, ofRow);
    slots = arith::MulIOp::create(b, loc, memref::DimOp::create(b, loc, ids, 0),
                                  ofRow);
    // At most as many warps as have counters, and as there are slots for.
    Value one = makeIndex(b, loc, 1);
    warps = arith::DivUIOp::create(b, loc, makeIndex(b, loc, kCounters),
                                   arith::MaxUIOp::create(b, loc, groups, one));
    Value wanted = applyExpr(b, loc, d0.ceilDiv(kLanes), slots);
    warps = arith::MinUIOp::create(b, loc, warps, wanted);
    warps = arith::MinUIOp::create(b, loc, warps, makeIndex(b, loc, kWarps));
    warps = arith::MaxUIOp::create(b, loc, warps, one);
    Value lots = arith::CeilDivUIOp::create(b, loc, wanted, warps);
    SmallVector<Value> share = applyExprs(
        b, loc,
        {d0.floorDiv(kLanes), d0.floorDiv(kLanes) * d1 * kLanes, d1 * kLanes},
        {thread, lots});
    warp = share[0];
    first = arith::MinUIOp::create(b, loc, share[1], slots);
    end = arith::MinUIOp::create(
        b, loc, arith::AddIOp::create(b, loc, first, share[2]), slots);
    ownCounters = arith::MulIOp::create(b, loc, warp, groups);

    clear();
    gpu::BarrierOp::create(b, loc);
    forEachLot([&](OpBuilder &at, const Slot &slot) { count(at, slot); });
    gpu::BarrierOp::create(b, loc);
    addUpWarps();
    gpu::BarrierOp::create(b, loc);
    addUpGroups();
    gpu::BarrierOp::create(b, loc);
    forEachLot([&](OpBuilder &at, const Slot &slot) { place(at, slot); });
    markNobody();
    gpu::ReturnOp::create(b, loc);
  }

private:
  /// A slot of a lane.
  struct Slot {
    /// Whether there is one, and whether it is somebody's.
    Value isSlot, isGroups;
    /// Its number, and its position in `ids`.
    Value number;
    SmallVector<Value> position;
    /// Its group, an i32 and an index; any of nobody's.
    Value word, group;
    /// The lanes with slots of the same group, and whether this is the first.
    Value same, isFirst;
  };

  Value toWord(OpBuilder &at, Value index) {
    return arith::IndexCastOp::create(at, loc, at.getI32Type(), index);
  }
  Value toIndex(OpBuilder &at, Value word) {
    return arith::IndexCastOp::create(at, loc, at.getIndexType(), word);
  }
  Value load(OpBuilder &at, Value memory, ValueRange indices) {
    return memref::LoadOp::create(at, loc, memory, indices);
  }
  void store(OpBuilder &at, Value value, Value memory, ValueRange indices) {
    memref::StoreOp::create(at, loc, value, memory, indices);
  }
  Value add(OpBuilder &at, Value x, Value y) {
    return arith::AddIOp::create(at, loc, x, y);
  }
  Value both(OpBuilder &at, Value x, Value y) {
    return arith::AndIOp::create(at, loc, x, y);
  }
  OpBuilder beginIf(OpBuilder &at, Value condition) {
    return scf::IfOp::create(at, loc, condition).getThenBodyBuilder();
  }
  /// The threads of the block share the numbers from `from` to `to`.
  void forEachOfBlock(Value from, Value to,
                      function_ref<void(OpBuilder &, Value)> body) {
    scf::ForOp::create(b, loc, add(b, from, thread), to,
                       makeIndex(b, loc, kThreads), ValueRange(),
                       [&](OpBuilder &at, Location, Value i, ValueRange) {
                         body(at, i);
                         scf::YieldOp::create(at, loc);
                       });
  }

  void clear() {
    Value zero = makeIndex(b, loc, 0);
    Value none = makeWord(b, loc, 0);
    forEachOfBlock(
        zero, arith::MulIOp::create(b, loc, warps, groups),
        [&](OpBuilder &at, Value i) { store(at, none, counters, i); });
  }

  /// The lanes of a warp have consecutive slots.
  void forEachLot(function_ref<void(OpBuilder &, const Slot &)> body) {
    scf::ForOp::create(b, loc, first, end, makeIndex(b, loc, kLanes),
                       ValueRange(),
                       [&](OpBuilder &at, Location, Value base, ValueRange) {
                         body(at, getSlot(at, base));
                         scf::YieldOp::create(at, loc);
                       });
  }

  Slot getSlot(OpBuilder &at, Value base) {
    WarpEmitter warp(at, loc);
    const ArithEmitter &emit = warp.emit;
    Slot slot;
    slot.number = add(at, base, warp.toIndex(warp.lane));
    slot.isSlot = isBelow(at, loc, slot.number, end);
    Value inside = warp.toWord(arith::MinUIOp::create(
        at, loc, slot.number, addIndex(at, loc, end, -1)));
    slot.position = {warp.toIndex(emit.div(inside, slotsOfRow)),
                     warp.toIndex(emit.rem(inside, slotsOfRow))};
    slot.group = toIndex(at, load(at, ids, slot.position));
    // Negative ones are large as indices.
    slot.isGroups = both(at, slot.isSlot, isBelow(at, loc, slot.group, groups));
    slot.group = arith::SelectOp::create(at, loc, slot.isGroups, slot.group,
                                         makeIndex(at, loc, 0));
    slot.word =
        emit.select(slot.isGroups, warp.toWord(slot.group), emit.integer(~0u));
    slot.same = warp.findSame(slot.word);
    slot.isFirst = both(
        at, slot.isGroups,
        emit.is(ArithEmitter::IP::eq, warp.getFirst(slot.same), warp.lane));
    return slot;
  }

  Value getCounter(OpBuilder &at, const Slot &slot) {
    return add(at, ownCounters, slot.group);
  }

  void count(OpBuilder &at, const Slot &slot) {
    OpBuilder then = beginIf(at, slot.isFirst);
    Value counter = getCounter(then, slot);
    Value number = WarpEmitter(then, loc).count(slot.same);
    store(then, add(then, load(then, counters, counter), number), counters,
          counter);
    WarpEmitter(at, loc).synchronize();
  }

  void addUpWarps() {
    Value zero = makeIndex(b, loc, 0), one = makeIndex(b, loc, 1);
    Value none = makeWord(b, loc, 0);
    forEachOfBlock(zero, groups, [&](OpBuilder &at, Value group) {
      auto loop = scf::ForOp::create(
          at, loc, zero, warps, one, none,
          [&](OpBuilder &inner, Location, Value of, ValueRange before) {
            Value counter = add(
                inner, arith::MulIOp::create(inner, loc, of, groups), group);
            Value number = load(inner, counters, counter);
            store(inner, before[0], counters, counter);
            scf::YieldOp::create(inner, loc, add(inner, before[0], number));
          });
      store(at, loop.getResult(0), starts, group);
    });
  }

  void addUpGroups() {
    Value zero = makeIndex(b, loc, 0);
    OpBuilder first = beginIf(b, isEqual(b, loc, warp, zero));
    scf::ForOp::create(
        first, loc, zero, groups, makeIndex(first, loc, kLanes),
        makeWord(first, loc, 0),
        [&](OpBuilder &at, Location, Value base, ValueRange before) {
          WarpEmitter warp(at, loc);
          const ArithEmitter &emit = warp.emit;
          Value group = add(at, base, warp.toIndex(warp.lane));
          Value isGroup = isBelow(at, loc, group, groups);
          Value size = emitLoadIf(
              at, loc, isGroup,
              [&](OpBuilder &then) { return load(then, starts, group); },
              emit.integer(0));
          Value end = warp.scan(
              size, [&](Value x, Value y) -> Value { return emit.add(x, y); });
          end = emit.add(end, before[0]);
          OpBuilder then = beginIf(at, isGroup);
          store(then, end, offsets, group);
          store(then, arith::SubIOp::create(then, loc, end, size), starts,
                group);
          scf::YieldOp::create(at, loc,
                               warp.broadcast(end, emit.integer(kLanes - 1)));
        });
  }

  void place(OpBuilder &at, const Slot &slot) {
    WarpEmitter warp(at, loc);
    const ArithEmitter &emit = warp.emit;
    Value counter = getCounter(at, slot);
    Value before = load(at, counters, counter);
    Value place = emit.add(emit.add(load(at, starts, slot.group), before),
                           warp.countBefore(slot.same));
    // All lanes have read the counter.
    warp.synchronize();
    OpBuilder isFirst = beginIf(at, slot.isFirst);
    Value number = WarpEmitter(isFirst, loc).count(slot.same);
    store(isFirst, add(isFirst, before, number), counters, counter);
    warp.synchronize();
    OpBuilder isSlot = beginIf(at, slot.isSlot);
    store(isSlot,
          arith::SelectOp::create(isSlot, loc, slot.isGroups, place,
                                  makeWord(isSlot, loc, -1)),
          positions, slot.position);
    OpBuilder isGroups = beginIf(at, slot.isGroups);
    store(isGroups, toWord(isGroups, slot.position[0]), rows,
          toIndex(isGroups, place));
  }

  void markNobody() {
    Value last = load(b, offsets, addIndex(b, loc, groups, -1));
    Value nobody = makeWord(b, loc, -1);
    forEachOfBlock(toIndex(b, last), slots, [&](OpBuilder &at, Value place) {
      store(at, nobody, rows, place);
    });
  }

  OpBuilder &b;
  Location loc;
  Value ids, offsets, rows, positions;
  /// A counter for each group, of one warp after the other; and for each group,
  /// its size, then its first slot.
  Value counters, starts;
  Value thread, warp;
  Value groups, slots, slotsOfRow;
  /// The number of warps that have slots, those of this warp, and its counters.
  Value warps, first, end, ownCounters;
};
} // namespace

KernelShape blockscale::getSortRoutesShape() {
  return {{1, 1, 1}, {kThreads, 1, 1}};
}

void blockscale::buildSortRoutes(gpu::GPUFuncOp kernel) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  SortRoutesKernel(b, kernel).build();
}
