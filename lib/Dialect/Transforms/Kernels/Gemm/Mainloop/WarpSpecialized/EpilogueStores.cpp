//===- EpilogueStores.cpp - The epilogue by bounds ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles inside the result are stored as vectors; in all others each element is
// checked against the bounds.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Epilogue/Epilogue.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/RoleEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

void RoleEmitter::emitStore(OpBuilder &at, const ProblemSizes &ofResult,
                            const BlockTile &tile, Value acc) {
  auto type = cast<AccType>(acc.getType());
  Value value = acc;
  bool hasFirst = (problem.acc || problem.producer) &&
                  !(problem.groups && problem.groups->scale);
  // If C is loaded in a branch, all of its loads stay in front of all stores,
  // and there are no registers for as many values again. So guarded tiles load
  // C where D is stored.
  bool addsFirst = hasFirst && tile.isGuarded;
  if (hasFirst && !addsFirst) {
    Value first =
        emitInitialAccumulator(at, kernel, problem, ofResult, tile, type);
    value = AccAddOp::create(at, loc, value, first);
  }
  emitEpilogue(at, kernel, problem, ofResult, tile, value, addsFirst);
}

void RoleEmitter::emitByBounds(
    OpBuilder &at, const BlockTile &tile, bool isAligned,
    function_ref<void(OpBuilder &, bool isGuarded)> body) {
  if (areTilesInside())
    return body(at, false);
  if (!isAligned)
    return body(at, true);
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  Value lastRow = addIndex(at, loc, tile.row, schedule.getM());
  Value lastColumn = addIndex(at, loc, tile.column, schedule.getN());
  Value endRow = sizes.m, endColumn = sizes.n;
  if (problem.groups)
    (problem.groups->areColumns ? endColumn : endRow) = tile.group->end;
  Value areRows = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ule,
                                        lastRow, endRow);
  Value areColumns = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ule,
                                           lastColumn, endColumn);
  Value isInside = arith::AndIOp::create(at, loc, areRows, areColumns);
  auto choice = scf::IfOp::create(at, loc, isInside, /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder();
  body(then, false);
  OpBuilder other = choice.getElseBodyBuilder();
  body(other, true);
}
