//===- MmaWarp.cpp - The MMA warp of tcgen05 ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread of the MMA warp waits for a full stage, copies its scale factors
// and metadata, if it has any, to tensor memory (tcgen05.cp), and starts
// tcgen05.mma. Commits tell the producer that a stage is empty, and the
// epilogue warps that an accumulator is complete.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Tcgen05/Tcgen05Roles.h"

#include "blockscale/Support/ScaleLayout.h"
#include "blockscale/Support/TensorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Scales and metadata
//===----------------------------------------------------------------------===//

/// The column of the stage of `state` that is `first` in the first one.
Value Tcgen05Roles::emitColumnOfStage(OpBuilder &at, const PipelineState &state,
                                      int64_t first) {
  Value columns = index(at, tmemPlan.getColumnsOfStage());
  Value slot = stages.emitStage(at, state);
  if (tmemPlan.getColumnSlots() != stages.getNumStages())
    slot = at.createOrFold<arith::RemUIOp>(
        loc, slot, index(at, tmemPlan.getColumnSlots()));
  Value column = at.createOrFold<arith::MulIOp>(loc, slot, columns);
  return addIndex(at, loc, column, first);
}

/// The metadata of the stage of `state` in tensor memory; null for a dense A.
Value Tcgen05Roles::emitMetadata(OpBuilder &at, const PipelineState &state) {
  if (!problem.types.sparsity)
    return Value();
  auto type = TmemMetadataType::get(at.getContext(), kMetadataAtomRows,
                                    plan.getMetadataBytes());
  return TmemMetadataOp::create(
      at, loc, type, tmem,
      emitColumnOfStage(at, state, tmemPlan.getMetadataColumn()));
}

/// Copies the metadata of the stage of `state` to tensor memory.
void Tcgen05Roles::emitMetadataCopies(OpBuilder &at,
                                      const PipelineState &state) {
  constexpr int64_t kAtomBytes = kMetadataAtomRows * kMetadataAtomBytes;
  Value metadata = emitMetadata(at, state);
  if (!metadata)
    return;
  int64_t atoms = plan.getBytes(GemmOperand::E) / kAtomBytes;
  for (int64_t atom = 0; atom != atoms; ++atom) {
    int64_t byte = plan.getOffset(GemmOperand::E) + atom * kAtomBytes;
    CopyMetadataOp::create(at, loc, shared, emitStageOffset(at, state, byte),
                           metadata, atom, getCtaGroup());
  }
}

/// The scales of the stage of `state` in tensor memory, `shift` columns (null
/// for 0) further; null without scales.
Value Tcgen05Roles::emitScales(OpBuilder &at, const PipelineState &state,
                               bool isA, Value shift) {
  if (!problem.hasScales())
    return Value();
  Value column = emitColumnOfStage(at, state, tmemPlan.getScaleColumn(isA));
  if (shift)
    column = addIndices(at, loc, column, shift);
  auto type = TmemScalesType::get(
      at.getContext(), plan.getRowAtoms(isA) * kScaleAtomRows,
      plan.getScaleWords() * kBlocksOfWord, tmemPlan.getScaleCopies(isA));
  return TmemScalesOp::create(at, loc, type, tmem, column);
}

void Tcgen05Roles::emitScaleCopies(OpBuilder &at, const PipelineState &state) {
  if (!problem.hasScales())
    return;
  for (bool isA : {true, false}) {
    Value scales = emitScales(at, state, isA, {});
    // With fewer copies, one copy takes all atoms, which lie side by side.
    int64_t together = kScaleCopies / tmemPlan.getScaleCopies(isA);
    for (int64_t atom = 0; atom < plan.getRowAtoms(isA); atom += together)
      for (int64_t word = 0; word != plan.getScaleWords(); ++word) {
        int64_t byte = plan.getOffset(getScalesOf(isA)) +
                       atom * plan.getRowAtomBytes(isA) +
                       word * plan.getWordBytes(isA);
        CopyScalesOp::create(at, loc, shared, emitStageOffset(at, state, byte),
                             scales, atom, word, getCtaGroup());
      }
  }
}

/// The stages of the other block of a 2-CTA pair, in its shared memory.
Value Tcgen05Roles::emitPeerMemory(OpBuilder &at) const {
  Value peer = arith::AddIOp::create(at, loc, cluster.getLeader(), word(at, 1));
  auto space = at.getI64IntegerAttr(
      static_cast<int64_t>(NVVM::NVVMMemorySpace::SharedCluster));
  MemRefType type = MemRefType::Builder(cast<MemRefType>(shared.getType()))
                        .setMemorySpace(space);
  return BlockMemoryOp::create(at, loc, type, shared, peer);
}

/// Sets the scales behind the end of K to 0x00 in the u32 that K ends in:
/// padding could be a NaN, while elements there are 0. All lanes of the warp
/// take part.
void Tcgen05Roles::emitMask(OpBuilder &at, const PipelineState &state) {
  constexpr int64_t kWordBytes = 4, kByteBits = 8;
  AffineExpr d0 = at.getAffineDimExpr(0);
  int64_t blocks = plan.getSchedule().getK() / problem.types.blockSize;
  // Scale blocks in the last stage, the u32 that they end in, and bits of it.
  SmallVector<Value> last =
      applyExprs(at, loc,
                 {(d0 % blocks).floorDiv(kBlocksOfWord),
                  (d0 % blocks) % kBlocksOfWord * kByteBits},
                 sizes.blocks);
  Type i32 = at.getI32Type();
  Value one = word(at, 1);
  Value bits = at.createOrFold<arith::IndexCastUIOp>(loc, i32, last[1]);
  Value power = at.createOrFold<arith::ShLIOp>(loc, one, bits);
  Value mask = at.createOrFold<arith::SubIOp>(loc, power, one);
  // If K ends with a whole u32, there is nothing to mask.
  Value isCut = at.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ne,
                                               last[1], index(at, 0));
  auto guard = scf::IfOp::create(at, loc, isCut);
  OpBuilder then = guard.getThenBodyBuilder();
  Value lane = gpu::LaneIdOp::create(then, loc, /*upperBound=*/IntegerAttr());
  auto bytesType = VectorType::get(kScaleAtomInner, then.getI8Type());
  auto wordsType = VectorType::get(kScaleAtomInner / kWordBytes, i32);
  Value masks = vector::BroadcastOp::create(then, loc, wordsType, mask);
  // With 2-CTA, the leader masks in both blocks.
  SmallVector<Value> memories = {shared};
  if (cluster.hasPairs())
    memories.push_back(emitPeerMemory(then));
  for (Value memory : memories)
    for (bool isA : {true, false})
      for (int64_t atom = 0; atom != plan.getRowAtoms(isA); ++atom) {
        int64_t byte =
            plan.getOffset(getScalesOf(isA)) + atom * plan.getRowAtomBytes(isA);
        Value offset = emitStageOffset(then, state, byte);
        SmallVector<Value> inside = applyExprs(
            then, loc,
            {getAffineDimExpr(0, then.getContext()) * plan.getWordBytes(isA) +
             getAffineDimExpr(1, then.getContext()) * kScaleAtomInner},
            {last[0], lane});
        offset = addIndices(then, loc, offset, inside[0]);
        const llvm::MaybeAlign alignment(kScaleAtomInner);
        Value atomRow =
            vector::LoadOp::create(then, loc, bytesType, memory, offset,
                                   /*nontemporal=*/false, alignment);
        Value words = vector::BitCastOp::create(then, loc, wordsType, atomRow);
        words = arith::AndIOp::create(then, loc, words, masks);
        atomRow = vector::BitCastOp::create(then, loc, bytesType, words);
        vector::StoreOp::create(then, loc, atomRow, memory, offset,
                                /*nontemporal=*/false, alignment);
      }
  emitProxyFence(then, cluster.hasPairs() ? NVVM::SharedSpace::shared_cluster
                                          : NVVM::SharedSpace::shared_cta);
  constexpr int32_t kAllLanes = -1;
  NVVM::SyncWarpOp::create(then, loc, word(then, kAllLanes));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Columns between the start of an atom of scales and those of a tile of A or B
/// that starts in the middle of it; null if none does, and without scales.
Value Tcgen05Roles::emitShift(OpBuilder &at, const BlockTile &tile,
                              bool isA) const {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  if (!problem.hasScales() ||
      (isA ? schedule.getM() : schedule.getN()) % kScaleAtomRows == 0)
    return Value();
  AffineExpr d0 = at.getAffineDimExpr(0);
  Value row = isA ? tile.row : tile.column;
  if (isOfGroups(isA))
    row = emitRowInAtoms(at, *tile.group, row);
  return applyExpr(at, loc, (d0 % kScaleAtomRows).floorDiv(kTensorWarpLanes),
                   row);
}

void Tcgen05Roles::emitProduct(OpBuilder &at, const BlockTile &tile,
                               const PipelineState &state, Value acc,
                               Value step, Value steps) {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  MLIRContext *context = at.getContext();
  emitScaleCopies(at, state);
  emitMetadataCopies(at, state);
  Value a = emitTile(at, state, true), other = emitTile(at, state, false);
  Value aScales = emitScales(at, state, true, emitShift(at, tile, true));
  Value bScales = emitScales(at, state, false, emitShift(at, tile, false));
  // The first step overwrites the accumulator.
  Value accumulate = at.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::ne, step, word(at, 0));
  const Instruction &row = problem.instruction.getInstruction();
  auto instruction = InstructionAttr::get(
      context, row.path, schedule.getM() * getCtaGroup(), schedule.getN(),
      row.k, row.kind, getElements(true).format, getElements(false).format,
      row.scale, row.scaleVec, row.sparsity);
  // With `steps`, the last stage is shorter than a swizzle row may be.
  int64_t wideK = steps ? 0 : schedule.getInstructionK();
  AsyncTileMmaOp::create(
      at, loc, a, aScales, other, bScales, acc, accumulate,
      emitMetadata(at, state), steps, instruction,
      TileLayoutAttr::get(context, getElements(true).layout),
      TileLayoutAttr::get(context, getElements(false).layout),
      wideK ? at.getI64IntegerAttr(wideK) : IntegerAttr());
  Tcgen05CommitOp::create(at, loc, barriers, stages.emitEmpty(at, state),
                          cluster.getNeighborRanks(), getCtaGroup());
}

/// The mainloop of a tile; `values` are the state of the pipeline of stages,
/// the state of the pipeline of accumulators, and the number of the tile.
SmallVector<Value> Tcgen05Roles::emitProducts(OpBuilder &at,
                                              const WorkTile &tile,
                                              ValueRange values) {
  PipelineState accumulatorState = {values[2], values[3]};
  Value acc = emitAcc(at, emitAccumulatorStage(at, values[4]));
  accumulators.emitWaitEmpty(at, accumulatorState,
                             /*isCluster=*/cluster.hasPairs());
  Tcgen05FenceOp::create(at, loc, Tcgen05FenceKind::After);

  int64_t k = plan.getSchedule().getK();
  int64_t stepK = problem.instruction.getInstruction().k;
  AffineExpr d0 = at.getAffineDimExpr(0);
  SmallVector<Value> counts =
      applyExprs(at, loc, {d0.floorDiv(k), (d0 % k).ceilDiv(stepK)}, sizes.k);
  auto multiply = [&](OpBuilder &inner, Value step, const PipelineState &state,
                      Value steps) {
    // MMAs may still read what was copied before: PTX does not order a copy
    // behind them ("Pipelined tcgen05 instructions").
    if (tmemPlan.getColumnSlots() != stages.getNumStages())
      stages.emitWaitDone(inner, state, tmemPlan.getColumnSlots());
    stages.emitWaitFull(inner, state,
                        /*isCluster=*/cluster.hasPairs() &&
                            hasSoftwareProducer());
    Tcgen05FenceOp::create(inner, loc, Tcgen05FenceKind::After);
    if (steps && hasMask())
      emitMask(inner, state);
    emitElected(inner, [&](OpBuilder &one) {
      emitProduct(one, tile, state, acc, step, steps);
    });
  };
  Value whole = counts[0], mostWhole = whole;
  if (tile.firstStep)
    mostWhole = arith::SubIOp::create(at, loc, whole, tile.firstStep);
  // Rows of nobody have no steps.
  if (tile.firstStep || problem.groups)
    whole = arith::MinUIOp::create(at, loc, tile.steps, mostWhole);
  whole = toWord(at, whole);
  SmallVector<Value> none;
  PipelineState state =
      emitSteps(at, {values[0], values[1]}, whole, /*isUnrolled=*/true, none,
                [&](OpBuilder &inner, Value step, const PipelineState &inside,
                    ValueRange) {
                  multiply(inner, step, inside, {});
                  return SmallVector<Value>();
                });

  // K may end inside of a stage.
  if (getConstantIntValue(counts[1]) != 0) {
    Value isLeft = at.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ne,
                                                  counts[1], index(at, 0));
    if (tile.firstStep || problem.groups)
      isLeft = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ugt,
                                     tile.steps, mostWhole);
    Type types[] = {state.stage.getType(), state.parity.getType()};
    auto rest = scf::IfOp::create(at, loc, types, isLeft,
                                  /*withElseRegion=*/true);
    OpBuilder then = rest.getThenBodyBuilder();
    multiply(then, whole, state, counts[1]);
    PipelineState end = stages.emitNext(then, state);
    scf::YieldOp::create(then, loc, ValueRange{end.stage, end.parity});
    OpBuilder other = rest.getElseBodyBuilder();
    scf::YieldOp::create(other, loc, ValueRange{state.stage, state.parity});
    state = {rest.getResult(0), rest.getResult(1)};
  }
  emitElected(at, [&](OpBuilder &one) {
    Tcgen05CommitOp::create(one, loc, barriers,
                            accumulators.emitFull(one, accumulatorState),
                            cluster.getPairRanks(), getCtaGroup());
  });
  PipelineState nextAccumulator = accumulators.emitNext(at, accumulatorState);
  Value number = arith::AddIOp::create(at, loc, values[4], word(at, 1));
  return {state.stage, state.parity, nextAccumulator.stage,
          nextAccumulator.parity, number};
}

void Tcgen05Roles::emitMmaWarp(OpBuilder role) {
  PipelineState first = stages.emitFirst(role),
                firstAccumulator = accumulators.emitFirst(role);
  forEachTile(role,
              {first.stage, first.parity, firstAccumulator.stage,
               firstAccumulator.parity, word(role, 0)},
              [&](OpBuilder &at, const WorkTile &tile, ValueRange values) {
                return emitProducts(at, tile, values);
              });
}
