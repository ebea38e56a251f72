//===- Producer.cpp - The TMA producer ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The producer warp: it waits until a stage is empty, tells the full mbarrier
// how many bytes to expect, and starts the TMA copies of the stage. In
// clusters, copies are multicast. With 2-CTA, the mbarriers of the leader count
// for both blocks.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/RoleEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

void RoleEmitter::emitExpected(OpBuilder &at, const Pipeline &pipeline,
                               const PipelineState &state) {
  int64_t bytes = 0;
  for (const StagedOperand &operand : operands)
    if (operand.tensor)
      bytes += operand.tensor->getCountedBytes() *
               plan.getSchedule().getBlocksOfProduct();
  Value full = pipeline.emitFull(at, state);
  BarrierArriveOp::create(at, loc, barriers, full, at.getI64IntegerAttr(bytes));
}

/// Keeps copies of metadata inside of it. Outside, they would bring zeros,
/// which are no legal fields. In a cluster, a tile may be wholly outside of the
/// result: it gets the metadata of the last rows. Of a stage, a part may be
/// behind the end of K.
void RoleEmitter::emitMetadataBounds(OpBuilder &at, TileOrigin &from) const {
  AffineExpr d0 = at.getAffineDimExpr(0);
  auto getLast = [&](Value size, int64_t unit) {
    return applyExprs(at, loc, {(d0 - 1).floorDiv(unit) * unit}, size)[0];
  };
  int64_t blocks = cluster.getSize().m;
  if (blocks != 1 &&
      !KernelProblem::isMultiple(problem.m, plan.getRowsOfSubTiles() * blocks))
    from.row = arith::MinUIOp::create(at, loc, from.row,
                                      getLast(sizes.m, kMetadataAtomRows));
  if (!KernelProblem::isMultiple(problem.k, plan.getSchedule().getK()))
    from.mostColumn = getLast(sizes.metadata, kMetadataAtomBytes);
}

void RoleEmitter::emitCopies(OpBuilder &at, const WorkTile &tile, Value step,
                             const Pipeline &pipeline,
                             const PipelineState &state, Sides sides) {
  Value full = pipeline.emitFull(at, state);
  int64_t k = plan.getSliceK();
  AffineExpr d0 = at.getAffineDimExpr(0);
  unsigned map = problem.result + problem.getNumResults();
  for (GemmOperand id : kGemmOperands) {
    const StagedOperand &operand = operands[id];
    if (!operand.tensor)
      continue;
    auto [isA, isScale, isMetadata, letter, name] = getInfo(id);
    Value mapPointer = kernel.getArgument(map++);
    if (sides != Sides::Both && isA != (sides == Sides::A))
      continue;
    int64_t columns = problem.getColumns(id, k);
    TileOrigin from;
    from.batch = getOperandBatch(at, kernel, problem[id], tile.matrix);
    from.row = emitRow(at, tile, id);
    if (isScale && isOfGroups(isA))
      from.row = emitRowInAtoms(at, *tile.group, from.row);
    from.column = applyExprs(at, loc, {d0 * columns}, step)[0];
    if (isMetadata)
      emitMetadataBounds(at, from);
    operand.tensor->emit(
        at, loc, mapPointer, from, shared,
        emitStageOffset(at, pipeline, state, plan.getOffset(id)), barriers,
        full, cluster);
  }
}

void RoleEmitter::fillStages(OpBuilder &role, bool isUnrolled,
                             EmitTileStep body) {
  PipelineState first = stages.emitFirst(role);
  forEachTile(role, {first.stage, first.parity},
              [&](OpBuilder &at, const WorkTile &tile, ValueRange values) {
                SmallVector<Value> none;
                PipelineState end =
                    emitSteps(at, {values[0], values[1]},
                              toWord(at, tile.steps), isUnrolled, none,
                              [&](OpBuilder &inner, Value step,
                                  const PipelineState &state, ValueRange) {
                                stages.emitWaitEmpty(inner, state);
                                step =
                                    addIndices(inner, loc, toIndex(inner, step),
                                               tile.firstStep);
                                body(inner, tile, step, state);
                                return SmallVector<Value>();
                              });
                return SmallVector<Value>{end.stage, end.parity};
              });
}

void RoleEmitter::emitProducer(OpBuilder role) {
  fillStages(role, /*isUnrolled=*/true,
             [&](OpBuilder &at, const WorkTile &tile, Value step,
                 const PipelineState &state) {
               if (!cluster.hasPairs()) {
                 emitElected(at, [&](OpBuilder &one) {
                   emitExpected(one, stages, state);
                   emitCopies(one, tile, step, stages, state);
                 });
                 return;
               }
               // The leader expects the bytes of both blocks. Some may arrive
               // before it does, but none of the next phase, see
               // emitStageBarriers.
               Value isElected = emitElection(at);
               Value isOfLeader = arith::AndIOp::create(at, loc, isElected,
                                                        cluster.isLeader());
               emitElected(at, isOfLeader, [&](OpBuilder &one) {
                 emitExpected(one, stages, state);
               });
               emitElected(at, isElected, [&](OpBuilder &one) {
                 emitCopies(one, tile, step, stages, state);
               });
             });
}
