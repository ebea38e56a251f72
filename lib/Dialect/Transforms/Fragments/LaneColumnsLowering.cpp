//===- LaneColumnsLowering.cpp - Accumulators in columns ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread has a column of the tile, so neighbouring lanes hold neighbouring
// elements of a row.
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccLowering.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class LaneColumnsLowering final : public AccLowering {
public:
  int64_t getNumElements(AccType type) const override { return type.getM(); }

  int64_t getRunLength(AccType) const override { return 1; }

  void
  forEachRun(OpBuilder &b, Location loc, AccType type, Value,
             function_ref<void(int64_t, Value, Value)> body) const override {
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    for (int64_t row = 0; row != type.getM(); ++row)
      body(row, arith::ConstantIndexOp::create(b, loc, row), thread);
  }

  std::optional<AccBlocks> getBlocks(AccType type,
                                     int64_t size) const override {
    if (type.getM() % 2 != 0 || kWarpLanes % size != 0)
      return std::nullopt;
    AccBlocks blocks;
    blocks.pairLane = 1;
    for (int64_t distance = 2; distance != size; distance *= 2)
      blocks.sharers.push_back(distance);
    for (int64_t row = 0; row != type.getM(); row += 2)
      blocks.parts.push_back({row});
    return blocks;
  }

  std::optional<AccPairs> getPairs(AccType type) const override {
    if (type.getM() % 2 != 0 || type.getN() % (2 * kPairDistance) != 0)
      return std::nullopt;
    // A row has its columns in lanes.
    AccPairs pairs;
    pairs.pairLane = kPairDistance;
    for (int64_t row = 0; row != type.getM(); row += 2)
      pairs.elements.emplace_back(row, row + 1);
    return pairs;
  }

  SmallVector<Value> emitTileMma(OpBuilder &, TileMmaOp, ValueRange,
                                 Value) const override {
    llvm_unreachable("its verifier takes no such accumulator");
  }

  SmallVector<Value> emitRead(OpBuilder &b, AccReadOp op) const override {
    Location loc = op.getLoc();
    int64_t rows = op.getType().getM();
    SmallVector<Value> elements;
    for (int64_t first = 0, count = 0; first != rows; first += count) {
      count = getTmemLoadColumns(rows - first);
      Value column = addIndex(b, loc, op.getColumn(), first);
      Value loaded = TmemLoadOp::create(
          b, loc, VectorType::get(count, b.getF32Type()), op.getSource(),
          column, /*first_lane=*/IntegerAttr());
      llvm::append_range(elements, extractElements(b, loc, loaded));
    }
    return elements;
  }
};
} // namespace

const AccLowering &blockscale::getLaneColumnsLowering() {
  static const LaneColumnsLowering lowering;
  return lowering;
}
