//===- RoleEmitter.cpp - What all roles share -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Barriers, the loop over tiles, the loop over steps along K, and offsets. Each
// role has a file of its own.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/RoleEmitter.h"

#include "Kernels/Gemm/Mainloop/Multistage/Stages.h"
#include "Utils/PaddedTiles.h"
#include "blockscale/Support/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

static Value makeStages(OpBuilder &b, gpu::GPUFuncOp kernel, int64_t bytes) {
  Location loc = kernel.getLoc();
  Value memory = makeSharedMemory(b, kernel, bytes, kBarrierBytes);
  auto type = cast<MemRefType>(memory.getType());
  if (type.hasStaticShape())
    return memory;
  Value zero = makeIndex(b, loc, 0);
  return memref::ViewOp::create(b, loc,
                                MemRefType::get({bytes}, b.getI8Type(),
                                                MemRefLayoutAttrInterface(),
                                                type.getMemorySpace()),
                                memory, zero, ValueRange());
}

RoleEmitter::RoleEmitter(const RoleContext &context, int64_t numBarriers)
    : RoleContext(context), loc(kernel.getLoc()), sizes(b, kernel, problem),
      shared(makeStages(b, kernel, plan.getSharedBytes())),
      barriers(addSharedArray(kernel, b.getI64Type(), numBarriers)),
      cluster(b, loc, plan.getSchedule().getCluster(),
              plan.getSchedule().getTwoCta()),
      stages(loc, barriers, plan.getFullStages(), plan.getEmptyStages(),
             plan.getSchedule().getStages(), plan.getSlices()) {}

//===----------------------------------------------------------------------===//
// Around the roles
//===----------------------------------------------------------------------===//

OpBuilder RoleEmitter::getRole(RolesOp roles, unsigned number) {
  return OpBuilder::atBlockBegin(&roles.getBodies()[number].emplaceBlock());
}

void RoleEmitter::emitStageBarriers(OpBuilder &at, int64_t emptyCount) {
  // Copies of other blocks may arrive before this block has told the mbarrier
  // how many bytes to expect. They still count in the same phase. It cannot end
  // without that arrival; and they are not started before the previous phase
  // has ended here, since the stage is emptied after that.
  int64_t loaders =
      hasSoftwareProducer() ? kSoftwareProducerWarps * kWarpLanes : 0;
  stages.emitInit(at, 1 + loaders * plan.getSchedule().getBlocksOfProduct(),
                  emptyCount * cluster.getNumReaders());
}

void RoleEmitter::emitAllBarrier(OpBuilder &at) {
  if (cluster.hasOthers())
    ClusterBarrierOp::create(at, loc);
  else
    gpu::BarrierOp::create(at, loc);
}

void RoleEmitter::emitEmptied(OpBuilder &at, const PipelineState &state) {
  // MMAs have read the stage by now, and nothing was written for other blocks,
  // so an arrival with CTA scope is enough.
  Value empty = stages.emitEmpty(at, state);
  if (!cluster.hasOthers())
    BarrierArriveOp::create(at, loc, barriers, empty, IntegerAttr());
  for (Value rank : cluster.getNeighbors())
    BarrierArriveOp::create(at, loc, barriers, empty, rank, IntegerAttr(),
                            UnitAttr());
}

void RoleEmitter::emitArriveAtLeader(OpBuilder &at, Value barrier) {
  if (cluster.hasPairs())
    BarrierArriveOp::create(at, loc, barriers, barrier, cluster.getLeader(),
                            IntegerAttr(), at.getUnitAttr());
  else
    BarrierArriveOp::create(at, loc, barriers, barrier, IntegerAttr());
}

void RoleEmitter::emitProxyFence(OpBuilder &at, NVVM::SharedSpace space) {
  MLIRContext *context = at.getContext();
  NVVM::FenceProxyOp::create(
      at, loc, NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(context, space));
}

bool RoleEmitter::areTilesInside() const {
  // Groups of rows end anywhere.
  if (problem.groups)
    return false;
  // A tile of a cluster may be wholly outside of the result.
  ClusterSize size = cluster.getSize();
  return KernelProblem::isMultiple(problem.m,
                                   plan.getRowsOfSubTiles() * size.m) &&
         KernelProblem::isMultiple(problem.n,
                                   plan.getSchedule().getN() * size.n);
}

bool RoleEmitter::hasSoftwareProducer() const {
  return llvm::any_of(operands, [](const StagedOperand &operand) {
    return operand.loader != nullptr;
  });
}

Value RoleEmitter::toWord(OpBuilder &at, Value value) const {
  return at.createOrFold<arith::IndexCastUIOp>(loc, at.getI32Type(), value);
}

Value RoleEmitter::toIndex(OpBuilder &at, Value value) const {
  return at.createOrFold<arith::IndexCastUIOp>(loc, at.getIndexType(), value);
}

Value RoleEmitter::emitRow(OpBuilder &at, const BlockTile &tile,
                           GemmOperand operand) const {
  auto [isA, isScale, isMetadata, letter, name] = getInfo(operand);
  Value row = isA ? tile.row : tile.column;
  if (isA || isScale || !cluster.hasPairs())
    return row;
  AffineExpr d0 = at.getAffineDimExpr(0), d1 = at.getAffineDimExpr(1);
  return applyExprs(at, loc, d0 + d1 * plan.getRows(/*isA=*/false),
                    {row, cluster.getRankInPair()})[0];
}

bool RoleEmitter::isOfGroups(bool isA) const {
  return problem.groups && problem.groups->areColumns != isA;
}

Value RoleEmitter::emitRowInAtoms(OpBuilder &at, const RowGroup &group,
                                  Value row) const {
  AffineExpr d0, d1, d2;
  bindDims(at.getContext(), d0, d1, d2);
  AffineExpr start =
      getFirstPaddedTile(d0, d1, kScaleAtomRows) * kScaleAtomRows;
  return applyExpr(at, loc, start + d2 - d0, {group.first, group.number, row});
}

void RoleEmitter::emitElected(OpBuilder &at,
                              function_ref<void(OpBuilder &)> body) const {
  emitElected(at, emitElection(at), body);
}

Value RoleEmitter::emitElection(OpBuilder &at) const {
  return NVVM::ElectSyncOp::create(at, loc, at.getI1Type(), Value());
}

void RoleEmitter::emitElected(OpBuilder &at, Value isElected,
                              function_ref<void(OpBuilder &)> body) const {
  auto guard = scf::IfOp::create(at, loc, isElected);
  OpBuilder then = guard.getThenBodyBuilder();
  body(then);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void RoleEmitter::forEachTile(OpBuilder &at, SmallVector<Value> values,
                              EmitTile body) {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  TileScheduler tiles(
      kernel, problem, sizes,
      {plan.getRowsOfSubTiles(), schedule.getN(), schedule.getK()},
      {getBlockOrder(schedule, problem), schedule.getRasterGroup(), cluster});
  tiles.forEachTile(
      at, values,
      [&](OpBuilder &inner, const WorkTile &tile, ValueRange carried) {
        return forEachMSubTile(inner, tile, carried, body);
      });
}

SmallVector<Value> RoleEmitter::forEachMSubTile(OpBuilder &at, WorkTile tile,
                                                ValueRange values,
                                                EmitTile body) {
  int64_t subTiles = plan.getMSubTiles();
  if (subTiles == 1)
    return body(at, tile, values);
  auto loop = scf::ForOp::create(at, loc, index(at, 0), index(at, subTiles),
                                 index(at, 1), values);
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  AffineExpr d0 = at.getAffineDimExpr(0), d1 = at.getAffineDimExpr(1);
  tile.row = applyExprs(inner, loc, d0 + d1 * plan.getSchedule().getM(),
                        {tile.row, loop.getInductionVar()})[0];
  scf::YieldOp::create(inner, loc, body(inner, tile, loop.getRegionIterArgs()));
  return llvm::to_vector_of<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Steps along K
//===----------------------------------------------------------------------===//

std::optional<RoleEmitter::StepCount> RoleEmitter::getStepCount() const {
  if (ShapedType::isDynamic(problem.k) || ShapedType::isDynamic(problem.splitK))
    return std::nullopt;
  int64_t steps = llvm::divideCeilSigned(problem.k, plan.getSchedule().getK());
  return StepCount{llvm::divideCeilSigned(steps, problem.splitK),
                   steps % problem.splitK == 0};
}

/// How many steps are unrolled into one iteration: one for each stage, or a
/// divisor of that, since code grows with it.
static int64_t getStagesOfRound(int64_t stages) {
  constexpr int64_t kMost = 7;
  int64_t count = std::min(stages, kMost);
  while (stages % count != 0)
    --count;
  return count;
}

PipelineState RoleEmitter::emitSteps(OpBuilder &at, PipelineState state,
                                     Value count, bool isUnrolled,
                                     SmallVector<Value> &values,
                                     EmitStep body) {
  int64_t numStages = stages.getNumStages();
  int64_t round = getStagesOfRound(numStages);
  auto emitLoop = [&](Value from, Value to, int64_t steps) {
    SmallVector<Value> carried = {state.stage, state.parity};
    llvm::append_range(carried, values);
    auto loop = scf::ForOp::create(at, loc, from, to, word(at, steps), carried);
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    PipelineState first = {loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
    SmallVector<Value> inside(loop.getRegionIterArgs().drop_front(2));
    if (steps == numStages)
      first.stage = word(inner, 0);
    for (int64_t i = 0; i != steps; ++i) {
      // Without overflow, LLVM knows that only the first step may be step 0,
      // which overwrites accumulators.
      auto plus = [&](Value value) {
        return inner.createOrFold<arith::AddIOp>(
            loc, value, word(inner, i), arith::IntegerOverflowFlags::nuw);
      };
      inside = body(inner, plus(loop.getInductionVar()),
                    {plus(first.stage), first.parity}, inside);
    }
    PipelineState next = stages.emitNext(inner, first, steps);
    inside.insert(inside.begin(), {next.stage, next.parity});
    scf::YieldOp::create(inner, loc, inside);
    state = {loop.getResult(0), loop.getResult(1)};
    values = llvm::to_vector_of<Value>(loop.getResults().drop_front(2));
  };

  // If each tile takes whole rounds, each tile starts with stage 0.
  std::optional<StepCount> known = getStepCount();
  bool isWhole = known && known->isSame && known->most % round == 0;
  Value zero = word(at, 0);
  if (!isUnrolled || round == 1 ||
      (known && !isWhole && known->most < 2 * round)) {
    emitLoop(zero, count, 1);
    return state;
  }
  Value size = word(at, round), first = zero;
  if (!isWhole) {
    Value inRound = arith::RemUIOp::create(at, loc, state.stage, size);
    Value left = arith::SubIOp::create(at, loc, size, inRound);
    left = arith::RemUIOp::create(at, loc, left, size);
    first = arith::MinUIOp::create(at, loc, left, count);
    emitLoop(zero, first, 1);
  }
  Value rest = at.createOrFold<arith::SubIOp>(loc, count, first);
  Value over = at.createOrFold<arith::RemUIOp>(loc, rest, size);
  Value end = at.createOrFold<arith::SubIOp>(loc, count, over);
  emitLoop(first, end, round);
  if (getConstantIntValue(over) != 0)
    emitLoop(end, count, 1);
  return state;
}

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

Value RoleEmitter::emitStageOffset(OpBuilder &at, const Pipeline &pipeline,
                                   const PipelineState &state,
                                   int64_t plus) const {
  Value bytes = index(at, plan.getStageBytes());
  Value offset =
      at.createOrFold<arith::MulIOp>(loc, pipeline.emitStage(at, state), bytes);
  return addIndex(at, loc, offset, plus);
}

MemRefType RoleEmitter::getTileType(bool isA) const {
  int64_t rows = plan.getRows(isA), columns = plan.getColumns(isA);
  SmallVector<int64_t> shape = {columns, rows, kSwizzleRowBytes};
  if (columns == 1)
    shape.erase(shape.begin());
  if (getElements(isA).layout.major == Major::MN) {
    int64_t rowBytes =
        rows * getElementBytes(problem.instruction.getInstruction());
    int64_t bytes = getColumnBytes(rowBytes);
    shape = {rowBytes / bytes, plan.getElementsOfK(isA), bytes};
  }
  auto space = cast<MemRefType>(shared.getType()).getMemorySpace();
  return MemRefType::get(shape, b.getI8Type(), MemRefLayoutAttrInterface(),
                         space);
}

Value RoleEmitter::emitTile(OpBuilder &at, const PipelineState &state,
                            bool isA) const {
  return emitView(
      at, getTileType(isA),
      emitStageOffset(at, state, plan.getOffset(getElementsOf(isA))));
}

Value RoleEmitter::emitView(OpBuilder &at, MemRefType type,
                            Value offset) const {
  return memref::ViewOp::create(at, loc, type, shared, offset, ValueRange());
}

Value RoleEmitter::emitView(OpBuilder &at, ArrayRef<int64_t> shape,
                            Type element, Value offset) const {
  auto space = cast<MemRefType>(shared.getType()).getMemorySpace();
  return emitView(
      at, MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space),
      offset);
}
