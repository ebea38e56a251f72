//===- WarpsLowering.cpp - Accumulators in the registers of warps ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accumulators in the layout of C of mma.sync, in the registers of warps.
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccLowering.h"
#include "Fragments/WarpMultiply.h"
#include "Utils/AccFragment.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

static WarpsAttr getWarps(AccType type) {
  return cast<WarpsAttr>(Attribute(type.getLayout()));
}

WarpTile blockscale::getWarpTile(OpBuilder &b, Location loc, AccType type) {
  WarpsAttr warps = getWarps(type);
  int64_t m = warps.getShareM(type), n = warps.getShareN(type);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  AffineExpr d0 = getAffineDimExpr(0, b.getContext());
  AffineExpr warp = d0.floorDiv(kWarpLanes);
  SmallVector<Value> first = applyExprs(
      b, loc,
      {warp.floorDiv(warps.getColumns()) * m, warp % warps.getColumns() * n},
      thread);
  return {
      m, n, first[0], first[1], warps.getInterleaveM(), warps.getInterleaveN()};
}

namespace {
class WarpsLowering final : public AccLowering {
public:
  int64_t getNumElements(AccType type) const override {
    WarpsAttr warps = getWarps(type);
    return getNumAccElements(warps.getShareM(type), warps.getShareN(type));
  }

  int64_t getRunLength(AccType type) const override {
    return kColumnsOfLane * getWarps(type).getInterleaveN();
  }

  void
  forEachRun(OpBuilder &b, Location loc, AccType type, Value lane,
             function_ref<void(int64_t, Value, Value)> body) const override {
    forEachAccRun(b, loc, lane, getWarpTile(b, loc, type), body);
  }

  std::optional<AccBlocks> getBlocks(AccType type,
                                     int64_t size) const override {
    // The lanes of a row hold its runs in turn.
    WarpsAttr warps = getWarps(type);
    int64_t run = getRunLength(type), columns = warps.getShareN(type);
    if (columns % size != 0 || size % run != 0)
      return std::nullopt;
    AccBlocks blocks;
    int64_t lanes = std::min(kLanesOfRow, size / run);
    for (int64_t distance = 1; distance != lanes; distance *= 2)
      blocks.sharers.push_back(distance);
    int64_t runsOfBlock = size / (run * lanes);
    int64_t runsOfRow = columns / (run * kLanesOfRow);
    for (int64_t tile = 0;
         tile != warps.getShareM(type) / getAccFragment().rows; ++tile)
      for (int64_t group = 0; group != kRowsOfLane; ++group)
        for (int64_t first = 0; first < runsOfRow; first += runsOfBlock) {
          SmallVector<int64_t> &part = blocks.parts.emplace_back();
          for (int64_t i = 0; i != runsOfBlock; ++i)
            part.push_back(
                ((tile * runsOfRow + first + i) * kRowsOfLane + group) * run);
        }
    return blocks;
  }

  std::optional<AccPairs> getPairs(AccType type) const override {
    static_assert(kPairDistance == kColumnsOfLane * kLanesOfRow);
    std::optional<AccBlocks> blocks = getBlocks(type, 2 * kPairDistance);
    if (!blocks)
      return std::nullopt;
    AccPairs pairs;
    int64_t run = getRunLength(type);
    auto add = [&](int64_t first, int64_t second, int64_t count) {
      for (int64_t i = 0; i != count; ++i)
        pairs.elements.emplace_back(first + i, second + i);
    };
    // A lane has two runs of a block, or a longer one in one of the halves.
    bool hasBoth = run == kColumnsOfLane;
    pairs.run = hasBoth ? run : run / 2;
    if (!hasBoth)
      pairs.pairLane = kPairDistance / run;
    for (ArrayRef<int64_t> part : blocks->parts)
      add(part[0], hasBoth ? part[1] : part[0] + pairs.run, pairs.run);
    return pairs;
  }

  std::optional<AccBlocks> getPairBlocks(AccType type,
                                         int64_t size) const override {
    // Pairs are in the order of their columns, in one lane. Together, the lanes
    // of a row have neighboring ones.
    std::optional<AccPairs> pairs = getPairs(type);
    int64_t columns = getWarps(type).getShareN(type) / 2;
    if (!pairs || columns % size != 0 || size % (pairs->run * kLanesOfRow) != 0)
      return std::nullopt;
    AccBlocks blocks;
    constexpr int64_t kFarLane = kLanesOfRow / 2;
    // Two lanes that have exchanged elements come one after the other.
    if (pairs->pairLane == kFarLane)
      blocks.sharers = {kFarLane, 1};
    else
      blocks.sharers = {1, kFarLane};
    auto numPairs = static_cast<int64_t>(pairs->elements.size());
    for (int64_t first = 0; first != numPairs; first += size / kLanesOfRow) {
      SmallVector<int64_t> &part = blocks.parts.emplace_back();
      for (int64_t i = 0; i != size / kLanesOfRow; i += pairs->run)
        part.push_back(first + i);
    }
    return blocks;
  }

  SmallVector<Value> emitTileMma(OpBuilder &b, TileMmaOp op,
                                 ValueRange elements,
                                 Value lane) const override {
    WarpTile tile =
        getWarpTile(b, op.getLoc(), cast<AccType>(op.getAcc().getType()));
    return getWarpMultiply(op.getInstruction())
        .emitTile(b, op, tile, elements, lane);
  }

  SmallVector<Value> emitRead(OpBuilder &b, AccReadOp op) const override {
    // A load of 16 lanes returns fragments of tiles that are side by side.
    const FragmentLayout &fragment = getAccFragment();
    int64_t columns = fragment.columns, registers = fragment.registers;
    Location loc = op.getLoc();
    AccType type = op.getType();
    WarpTile tile = {getWarps(type).getShareM(type), type.getN(), {}, {}, 1, 1};
    SmallVector<Value> elements(getNumElements(type));
    for (int64_t m = 0; m != tile.m / fragment.rows; ++m)
      for (int64_t first = 0, count = 0; first != tile.n; first += count) {
        count = getTmemLoadColumns(tile.n - first);
        auto part =
            VectorType::get(count / columns * registers, b.getF32Type());
        Value column = addIndex(b, loc, op.getColumn(), first);
        Value loaded =
            TmemLoadOp::create(b, loc, part, op.getSource(), column,
                               b.getI64IntegerAttr(m * fragment.rows));
        for (int64_t n = 0; n != count / columns; ++n)
          for (auto [i, at] :
               llvm::enumerate(getTileElements(tile, m, first / columns + n)))
            elements[at] = vector::ExtractOp::create(
                b, loc, loaded, static_cast<int64_t>(n * registers + i));
      }
    return elements;
  }
};
} // namespace

const AccLowering &blockscale::getWarpsLowering() {
  static const WarpsLowering lowering;
  return lowering;
}
