//===- EpilogueWarps.cpp - The role that stores sums ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four warps read sums from tensor memory, a few columns at a time, add what
// they start from, and store them, or what is made of them. The accumulator is
// free again as soon as it has been read.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Epilogue/Epilogue.h"
#include "Kernels/Gemm/Mma/Tcgen05/Tcgen05Roles.h"
#include "Utils/IndexValues.h"
#include "blockscale/Support/TensorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The columns of the tile from `column` on, which are in `acc`.
void Tcgen05Roles::emitPart(OpBuilder &at, const BlockTile &tile, Value acc,
                            Value column, bool isGuarded) {
  BlockTile part = tile;
  part.column = addIndices(at, loc, tile.column, column);
  const SumLayout &layout = tmemPlan.getSumLayout();
  if (layout.parts != 1) {
    // Behind the lanes of the rows are those of the other columns.
    AffineExpr row = at.getAffineDimExpr(0), first = at.getAffineDimExpr(1),
               thread = at.getAffineDimExpr(2);
    AffineExpr number = thread.floorDiv(layout.rowsOfBlock) % layout.parts;
    Value x = gpu::ThreadIdOp::create(at, loc, gpu::Dimension::x);
    SmallVector<Value> moved =
        applyExprs(at, loc,
                   {row - number * layout.rowsOfBlock,
                    first + number * tmemPlan.getSumColumns()},
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

/// The sums of a tile, in the accumulator number `accStage`.
void Tcgen05Roles::emitSums(OpBuilder &at, const BlockTile &tile,
                            const PipelineState &place, Value accStage) {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  Value acc = emitAcc(at, accStage);
  int64_t n = tmemPlan.getSumColumns();
  // Those in bounds are stored in pairs, but for single ones of lanes.
  bool isAligned =
      schedule.getSwapAb() || KernelProblem::isMultiple(problem.n, 2);
  auto emit = [&](OpBuilder &inner, Value column, int64_t columns,
                  function_ref<void(OpBuilder &)> release) {
    Value part = AccReadOp::create(inner, loc, tmemPlan.getPartType(columns),
                                   acc, column);
    release(inner);
    emitByBounds(inner, tile, isAligned, [&](OpBuilder &path, bool isGuarded) {
      emitPart(path, tile, part, column, isGuarded);
    });
  };
  auto arrive = [&](OpBuilder &inner) {
    Tcgen05FenceOp::create(inner, loc, Tcgen05FenceKind::Before);
    Value empty = sums.emitEmpty(inner, place);
    if (cluster.hasPairs())
      BarrierArriveOp::create(inner, loc, barriers, empty, cluster.getLeader(),
                              IntegerAttr(), inner.getUnitAttr());
    else
      BarrierArriveOp::create(inner, loc, barriers, empty, IntegerAttr());
  };

  int64_t partColumns = tmemPlan.getPartColumns();
  int64_t whole = n / partColumns, rest = n % partColumns;
  // Behind which part all that the accumulators share has been read; without
  // that, behind the last one.
  int64_t last = whole - 1;
  if (int64_t shared = tmemPlan.getSharedColumns())
    last = llvm::divideCeilSigned(shared, partColumns) - 1;
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
      Value isFirst = arith::CmpIOp::create(
          inner, loc, arith::CmpIPredicate::eq, accStage, index(inner, 0));
      position = arith::SelectOp::create(inner, loc, isFirst, reversed, number);
    }
    AffineExpr d0 = inner.getAffineDimExpr(0);
    Value column = applyExprs(inner, loc, {d0 * partColumns}, position)[0];
    emit(inner, column, partColumns, [&](OpBuilder &then) {
      if (rest != 0)
        return;
      Value isLast = arith::CmpIOp::create(then, loc, arith::CmpIPredicate::eq,
                                           number, index(then, last));
      OpBuilder in = scf::IfOp::create(then, loc, isLast).getThenBodyBuilder();
      arrive(in);
    });
  }
  if (rest != 0)
    emit(at, index(at, whole * partColumns), rest, arrive);
}

void Tcgen05Roles::emitEpilogueWarps(OpBuilder &role) {
  PipelineState first = sums.emitFirst(role);
  Value number =
      arith::ConstantOp::create(role, loc, role.getI32IntegerAttr(0));
  forEachTile(role, {first.stage, first.parity, number},
              [&](OpBuilder &at, const WorkTile &tile,
                  ValueRange values) -> SmallVector<Value> {
                PipelineState place = {values[0], values[1]};
                sums.emitWaitFull(at, place);
                Tcgen05FenceOp::create(at, loc, Tcgen05FenceKind::After);
                emitSums(at, tile, place, emitAccumulatorStage(at, values[2]));
                PipelineState next = sums.emitNext(at, place);
                Value one =
                    arith::ConstantOp::create(at, loc, at.getI32IntegerAttr(1));
                Value count = arith::AddIOp::create(at, loc, values[2], one);
                return {next.stage, next.parity, count};
              });
}
