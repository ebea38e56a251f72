//===- WarpColumnsLowering.cpp - Transposed sums of wgmma -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements are in the order of the registers that wgmma writes: for each 8 rows
// of the tile, two elements of the lane's first column and two of its second.
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccLowering.h"
#include "Utils/AccFragment.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class WarpColumnsLowering final : public AccLowering {
public:
  int64_t getNumElements(AccType type) const override {
    const FragmentLayout &fragment = getAccFragment();
    return type.getM() / fragment.columns * fragment.registers;
  }

  int64_t getRunLength(AccType) const override { return 1; }

  void
  forEachRun(OpBuilder &b, Location loc, AccType type, Value lane,
             function_ref<void(int64_t, Value, Value)> body) const override {
    const FragmentLayout &fragment = getAccFragment();
    int64_t warps =
        cast<WarpColumnsAttr>(Attribute(type.getLayout())).getWarps();
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    AffineExpr warp = d0.floorDiv(int64_t(kWarpLanes)) % warps;
    for (int64_t i = 0; i != getNumElements(type); ++i) {
      // Rows and columns are swapped.
      AccPosition position = getAccPosition(d1, i % fragment.registers);
      SmallVector<Value> at = applyExprs(
          b, loc,
          {position.column + i / fragment.registers * fragment.columns,
           warp * fragment.rows + position.row},
          {thread, lane});
      body(i, at[0], at[1]);
    }
  }

  std::optional<AccBlocks> getBlocks(AccType, int64_t) const override {
    return std::nullopt;
  }

  std::optional<AccPairs> getPairs(AccType type) const override {
    // The lane's two columns of the result are rows of the fragment.
    static_assert(kPairDistance == kGroupRows);
    AccPairs pairs;
    for (int64_t i = 0; i != getNumElements(type); ++i)
      if (int64_t second = getAccRegister(1, 0);
          i % getAccFragment().registers < second)
        pairs.elements.emplace_back(i, i + second);
    return pairs;
  }

  SmallVector<Value> emitTileMma(OpBuilder &, TileMmaOp, ValueRange,
                                 Value) const override {
    llvm_unreachable("its verifier takes no such accumulator");
  }

  SmallVector<Value> emitRead(OpBuilder &, AccReadOp) const override {
    llvm_unreachable("its verifier takes no such accumulator");
  }
};
} // namespace

const AccLowering &blockscale::getWarpColumnsLowering() {
  static const WarpColumnsLowering lowering;
  return lowering;
}
