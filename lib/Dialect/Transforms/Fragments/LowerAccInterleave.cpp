//===- LowerAccInterleave.cpp - Columns side by side in a lane ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a row, the four lanes have two columns of each fragment. Four fragments
// are transposed among these lanes: then each lane has all columns of one.
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccElements.h"
#include "Fragments/LanePatterns.h"
#include "Fragments/WarpMultiply.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Lanes of a row whose numbers differ in bit `distance` exchange elements:
/// of two fragments whose numbers differ in that bit, too, a lane keeps those
/// of one and gets those of the other lane.
static void exchange(OpBuilder &b, Location loc, Value lane,
                     SmallVectorImpl<Value> &elements, int64_t fragments,
                     int64_t distance,
                     function_ref<int64_t(int64_t, int64_t)> getElement) {
  Value isSecond = isEqual(
      b, loc,
      applyExpr(b, loc, b.getAffineDimExpr(0).floorDiv(distance) % 2, lane),
      makeIndex(b, loc, 1));
  constexpr int64_t kOfFragment = kRowsOfLane * kColumnsOfLane;
  for (int64_t fragment = 0; fragment != fragments; ++fragment) {
    if (fragment / distance % 2 != 0)
      continue;
    for (int64_t i = 0; i != kOfFragment; ++i) {
      Value &first = elements[getElement(fragment, i)],
            &second = elements[getElement(fragment + distance, i)];
      auto select = [&](Value ifSecond, Value ifFirst) -> Value {
        return arith::SelectOp::create(b, loc, isSecond, ifSecond, ifFirst);
      };
      Value got = emitShuffle(b, loc, select(first, second), distance);
      Value low = select(got, first);
      second = select(second, got);
      first = low;
    }
  }
}

static FailureOr<LaneResults>
lowerAccInterleave(AccInterleaveOp op, LaneOperands<AccInterleaveOp> operands,
                   Value lane, ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  AccType type = op.getAcc().getType();
  auto warps = cast<WarpsAttr>(Attribute(type.getLayout()));
  WarpTile tile = {warps.getShareM(type), warps.getShareN(type), {}, {}, 1, 1};
  int64_t runLength = getAccLowering(op.getType()).getRunLength(op.getType()),
          ofRun = runLength / kColumnsOfLane;
  const FragmentLayout &fragment = getAccFragment();
  int64_t fragments = tile.n / fragment.columns;
  SmallVector<Value> elements(operands.getAcc()), results(elements.size());
  for (int64_t m = 0; m != tile.m / fragment.rows; ++m) {
    auto getElement = [&](int64_t n, int64_t i) {
      return getTileElements(tile, m, n)[static_cast<size_t>(i)];
    };
    for (int64_t distance = 1; distance != ofRun; distance *= 2)
      exchange(b, loc, lane, elements, fragments, distance, getElement);
    // A lane has one fragment of a run now, and that of each lane in turn.
    for (int64_t n = 0; n != fragments; ++n)
      for (int64_t i = 0; i != kRowsOfLane * kColumnsOfLane; ++i) {
        int64_t run = (m * fragments / ofRun + n / ofRun) * kRowsOfLane +
                      i / kColumnsOfLane;
        results[static_cast<size_t>(run * runLength +
                                    n % ofRun * kColumnsOfLane +
                                    i % kColumnsOfLane)] =
            elements[static_cast<size_t>(getElement(n, i))];
      }
  }
  return LaneResults{results};
}

void blockscale::populateAccInterleavePatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns,
                                               Value lane) {
  addLanePatterns(converter, patterns, lane, lowerAccInterleave);
}
