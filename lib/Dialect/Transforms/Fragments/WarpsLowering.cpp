//===- WarpsLowering.cpp - Accumulators in the registers of warps ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the instructions of mma.sync make of a tile, for accumulators that lie
// as their C does.
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccLowering.h"
#include "Fragments/FragmentEmitter.h"
#include "Fragments/FragmentLoads.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

static WarpsAttr getWarps(AccType type) {
  return cast<WarpsAttr>(Attribute(type.getLayout()));
}

/// This warp's share of an accumulator.
static WarpTile getWarpTile(OpBuilder &b, Location loc, AccType type) {
  WarpsAttr warps = getWarps(type);
  int64_t m = warps.getShareM(type), n = warps.getShareN(type);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  AffineExpr d0 = getAffineDimExpr(0, b.getContext());
  AffineExpr warp = d0.floorDiv(kWarpLanes);
  SmallVector<Value> first = applyExprs(
      b, loc,
      {warp.floorDiv(warps.getColumns()) * m, warp % warps.getColumns() * n},
      thread);
  return {m, n, first[0], first[1]};
}

namespace {
class WarpsLowering final : public AccLowering {
public:
  int64_t getNumElements(AccType type) const override {
    WarpsAttr warps = getWarps(type);
    return getNumAccElements(warps.getShareM(type), warps.getShareN(type));
  }

  int64_t getRunLength() const override { return 2; }

  void
  forEachRun(OpBuilder &b, Location loc, AccType type, Value lane,
             function_ref<void(int64_t, Value, Value)> body) const override {
    forEachAccPair(b, loc, lane, getWarpTile(b, loc, type), body);
  }

  SmallVector<Value> emitTileMma(OpBuilder &builder, TileMmaOp op,
                                 ValueRange elements,
                                 Value lane) const override {
    Location loc = op.getLoc();
    InstructionAttr instruction = op.getInstruction();
    WarpTile tile =
        getWarpTile(builder, loc, cast<AccType>(op.getAcc().getType()));
    FragmentLoader a(builder, op, Operand::A, lane, tile.firstRow, tile.m);
    FragmentLoader b(builder, op, Operand::B, lane, tile.firstColumn, tile.n);
    MmaEmitter emitter(builder, loc, op.getRow().getRow(), instruction, lane);
    SmallVector<Value> acc = emitter.join(elements);
    // Step by step, so that no more of the operands is in registers than the
    // next instructions need.
    int64_t steps = op.getNumK() / instruction.getK();
    SmallVector<Value> aWords, bWords;
    for (int64_t step = 0, word = -1; step != steps; ++step) {
      if (emitter.getWord(step) != word) {
        word = emitter.getWord(step);
        aWords = a.loadWords(word);
        bWords = b.loadWords(word);
      }
      SmallVector<Value> aTiles = a.loadStep(step);
      SmallVector<Value> bTiles = b.loadStep(step);
      emitter.emitStep(step, aTiles, aWords, bTiles, bWords, acc);
    }
    return emitter.split(acc);
  }
};
} // namespace

const AccLowering &blockscale::getWarpsLowering() {
  static const WarpsLowering lowering;
  return lowering;
}
