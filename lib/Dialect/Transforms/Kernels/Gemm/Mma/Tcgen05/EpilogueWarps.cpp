//===- EpilogueWarps.cpp - The epilogue warps of tcgen05 ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four epilogue warps read an accumulator stage from tensor memory, some
// columns at a time, and run the epilogue on them (Epilogue/Epilogue.h). The
// accumulator stage is empty again once it has been read, before all of it is
// stored.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Tcgen05/Tcgen05Roles.h"
#include "blockscale/Support/TensorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The epilogue of the columns of the tile from `column` on, whose values are
/// in `acc`.
void Tcgen05Roles::emitEpiloguePart(OpBuilder &at, const BlockTile &tile,
                                    Value acc, Value column, bool isGuarded) {
  BlockTile part = tile;
  part.column = addIndices(at, loc, tile.column, column);
  const AccLayout &layout = tmemPlan.getAccumulatorLayout();
  if (layout.parts != 1) {
    // The lanes behind those of the rows hold the other columns.
    AffineExpr row = at.getAffineDimExpr(0), first = at.getAffineDimExpr(1),
               thread = at.getAffineDimExpr(2);
    AffineExpr number = thread.floorDiv(layout.rowsOfBlock) % layout.parts;
    Value x = gpu::ThreadIdOp::create(at, loc, gpu::Dimension::x);
    SmallVector<Value> moved =
        applyExprs(at, loc,
                   {row - number * layout.rowsOfBlock,
                    first + number * tmemPlan.getAccumulatorColumns()},
                   {part.row, part.column, x});
    part.row = moved[0];
    part.column = moved[1];
  }
  part.isGuarded = isGuarded;
  ProblemSizes ofResult = sizes;
  if (plan.getSchedule().getSwapAb()) {
    std::swap(part.row, part.column);
    std::swap(ofResult.m, ofResult.n);
  }
  emitStore(at, ofResult, part, acc);
}

Value Tcgen05Roles::emitSums(OpBuilder &at, const BlockTile &tile, AccType type,
                             Value acc, Value column) {
  auto read = [&](OpBuilder &inner) -> Value {
    return AccReadOp::create(inner, loc, type, acc, column);
  };
  if (!problem.groups)
    return read(at);
  // Nothing was multiplied for rows of nobody.
  auto choice = scf::IfOp::create(at, loc, type, tile.group->isNobody,
                                  /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder(),
            other = choice.getElseBodyBuilder();
  scf::YieldOp::create(then, loc,
                       ValueRange(AccZeroOp::create(then, loc, type)));
  scf::YieldOp::create(other, loc, read(other));
  return choice.getResult(0);
}

/// The epilogue of a tile, from the accumulator stage `accStage`.
void Tcgen05Roles::emitTileEpilogue(OpBuilder &at, const BlockTile &tile,
                                    const PipelineState &state,
                                    Value accStage) {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  Value acc = emitAcc(at, accStage);
  int64_t n = tmemPlan.getAccumulatorColumns();
  // Values inside of the result are stored in pairs if a lane has more than
  // one.
  bool isAligned =
      schedule.getSwapAb() || KernelProblem::isMultiple(problem.n, 2);
  auto emit = [&](OpBuilder &inner, Value column, int64_t columns,
                  function_ref<void(OpBuilder &)> release) {
    Value part =
        emitSums(inner, tile, tmemPlan.getEpilogueType(columns), acc, column);
    release(inner);
    emitByBounds(inner, tile, isAligned, [&](OpBuilder &path, bool isGuarded) {
      emitEpiloguePart(path, tile, part, column, isGuarded);
    });
  };
  auto arrive = [&](OpBuilder &inner) {
    Tcgen05FenceOp::create(inner, loc, Tcgen05FenceKind::Before);
    emitArriveAtLeader(inner, accumulators.emitEmpty(inner, state));
  };

  int64_t epilogueColumns = tmemPlan.getEpilogueColumns();
  int64_t whole = n / epilogueColumns, rest = n % epilogueColumns;
  // The group of columns behind which all columns that the accumulators share
  // have been read; without shared ones, the last group.
  int64_t last = whole - 1;
  if (int64_t shared = tmemPlan.getSharedColumns())
    last = llvm::divideCeilSigned(shared, epilogueColumns) - 1;
  if (whole != 0) {
    auto loop = scf::ForOp::create(at, loc, index(at, 0), index(at, whole),
                                   index(at, 1));
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    Value number = loop.getInductionVar();
    Value position = number;
    if (tmemPlan.getSharedColumns()) {
      // Shared columns are the last ones of the first accumulator.
      Value reversed =
          arith::SubIOp::create(inner, loc, index(inner, whole - 1), number);
      Value isFirst = isEqual(inner, loc, accStage, index(inner, 0));
      position = arith::SelectOp::create(inner, loc, isFirst, reversed, number);
    }
    AffineExpr d0 = inner.getAffineDimExpr(0);
    Value column = applyExprs(inner, loc, {d0 * epilogueColumns}, position)[0];
    emit(inner, column, epilogueColumns, [&](OpBuilder &then) {
      if (rest != 0)
        return;
      Value isLast = isEqual(then, loc, number, index(then, last));
      OpBuilder in = scf::IfOp::create(then, loc, isLast).getThenBodyBuilder();
      arrive(in);
    });
  }
  if (rest != 0)
    emit(at, index(at, whole * epilogueColumns), rest, arrive);
}

void Tcgen05Roles::emitEpilogueWarps(OpBuilder role) {
  PipelineState first = accumulators.emitFirst(role);
  forEachTile(
      role, {first.stage, first.parity, word(role, 0)},
      [&](OpBuilder &at, const WorkTile &tile,
          ValueRange values) -> SmallVector<Value> {
        PipelineState state = {values[0], values[1]};
        accumulators.emitWaitFull(at, state);
        Tcgen05FenceOp::create(at, loc, Tcgen05FenceKind::After);
        emitTileEpilogue(at, tile, state, emitAccumulatorStage(at, values[2]));
        PipelineState next = accumulators.emitNext(at, state);
        Value count = arith::AddIOp::create(at, loc, values[2], word(at, 1));
        return {next.stage, next.parity, count};
      });
}
