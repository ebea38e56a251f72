//===- RoleEmitter.cpp - What all roles have in common --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is made for the roles, the tiles that they go through, and where things
// are. Each role has a file of its own.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Tcgen05/RoleEmitter.h"

#include "Kernels/Staging/Stages.h"
#include "Utils/IndexValues.h"
#include "blockscale/Support/TensorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Workgroup memory of its own for `count` numbers.
static Value addNumbers(gpu::GPUFuncOp kernel, Type element, int64_t count) {
  auto space = gpu::AddressSpaceAttr::get(kernel.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type =
      MemRefType::get({count}, element, MemRefLayoutAttrInterface(), space);
  return kernel.addWorkgroupAttribution(type, kernel.getLoc());
}

static Value makeStages(OpBuilder &b, gpu::GPUFuncOp kernel, int64_t bytes) {
  Location loc = kernel.getLoc();
  Value memory = makeSharedMemory(b, kernel, bytes, kBarrierBytes);
  auto type = cast<MemRefType>(memory.getType());
  if (type.hasStaticShape())
    return memory;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return memref::ViewOp::create(b, loc,
                                MemRefType::get({bytes}, b.getI8Type(),
                                                MemRefLayoutAttrInterface(),
                                                type.getMemorySpace()),
                                memory, zero, ValueRange());
}

RoleEmitter::RoleEmitter(OpBuilder &b, gpu::GPUFuncOp kernel,
                         const KernelProblem &problem, const RingPlan &plan,
                         const RingOperands &operands)
    : b(b), kernel(kernel), problem(problem), plan(plan), operands(operands),
      loc(kernel.getLoc()), sizes(b, kernel, problem),
      shared(makeStages(b, kernel, plan.getSharedBytes())),
      slot(addNumbers(kernel, b.getI32Type(), 1)),
      barriers(addNumbers(kernel, b.getI64Type(), plan.getBarriers().count)),
      stages(loc, barriers, plan.getBarriers().fullStages,
             plan.getBarriers().emptyStages, plan.getSchedule().getStages()),
      sums(loc, barriers, plan.getBarriers().fullSums,
           plan.getBarriers().emptySums, plan.getHandedSums()) {}

Value RoleEmitter::index(OpBuilder &at, int64_t value) const {
  return arith::ConstantIndexOp::create(at, loc, value);
}

//===----------------------------------------------------------------------===//
// Around the roles
//===----------------------------------------------------------------------===//

static Block *getRole(RolesOp roles, unsigned number) {
  return &roles.getBodies()[number].emplaceBlock();
}

void RoleEmitter::emitInit() {
  auto first = RolesOp::create(b, loc, ArrayRef<int64_t>{1}, 1);
  OpBuilder at = OpBuilder::atBlockBegin(getRole(first, 0));
  emitElected(at, [&](OpBuilder &one) {
    // A stage is full when all its bytes are there, and each thread that fills
    // it has arrived; it is empty when a commit of the one who multiplies
    // arrives. Sums are empty when all have read them.
    constexpr int64_t kReaders = kTensorLanes;
    stages.emitInit(one, 1 + (hasFiller() ? kFillerWarps * kWarpLanes : 0), 1);
    sums.emitInit(one, 1, kReaders);
    NVVM::FenceMbarrierInitOp::create(one, loc);
  });
  TmemAllocOp::create(at, loc, slot, kTensorColumns);
  TmemRelinquishOp::create(at, loc);
  Tcgen05FenceOp::create(b, loc, Tcgen05FenceKind::Before);
  gpu::BarrierOp::create(b, loc);
  Tcgen05FenceOp::create(b, loc, Tcgen05FenceKind::After);
  tmem = TmemBaseOp::create(
      b, loc, TmemType::get(b.getContext(), kTensorColumns), slot);
}

void RoleEmitter::emitFree() {
  Tcgen05FenceOp::create(b, loc, Tcgen05FenceKind::Before);
  gpu::BarrierOp::create(b, loc);
  auto first = RolesOp::create(b, loc, ArrayRef<int64_t>{1}, 1);
  OpBuilder at = OpBuilder::atBlockBegin(getRole(first, 0));
  Tcgen05FenceOp::create(at, loc, Tcgen05FenceKind::After);
  TmemDeallocOp::create(at, loc, tmem);
}

void RoleEmitter::emit() {
  emitInit();
  // Up to here, nothing of a kernel in front is touched.
  NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::wait);
  // Those who store come first: a warp may read a quarter of tensor memory, by
  // its number.
  SmallVector<int64_t> warps = {4, 1, 1};
  if (hasFiller())
    warps.push_back(kFillerWarps);
  auto roles = RolesOp::create(b, loc, warps, warps.size());
  OpBuilder storer = OpBuilder::atBlockBegin(getRole(roles, 0));
  emitStorer(storer);
  OpBuilder producer = OpBuilder::atBlockBegin(getRole(roles, 1));
  emitProducer(producer);
  OpBuilder multiplier = OpBuilder::atBlockBegin(getRole(roles, 2));
  emitMultiplier(multiplier);
  if (hasFiller()) {
    OpBuilder filler = OpBuilder::atBlockBegin(getRole(roles, 3));
    emitFiller(filler);
  }
  emitFree();
}

bool RoleEmitter::hasFiller() const {
  return llvm::any_of(operands, [](const RingOperand &operand) {
    return operand.filler != nullptr;
  });
}

bool RoleEmitter::hasMask() const {
  return !KernelProblem::isMultiple(problem.k,
                                    problem.instruction.getInstruction().k);
}

Value RoleEmitter::toWord(OpBuilder &at, Value value) const {
  return at.createOrFold<arith::IndexCastUIOp>(loc, at.getI32Type(), value);
}

Value RoleEmitter::word(OpBuilder &at, int64_t value) const {
  return arith::ConstantOp::create(
      at, loc, at.getI32IntegerAttr(static_cast<int32_t>(value)));
}

void RoleEmitter::emitElected(OpBuilder &at,
                              function_ref<void(OpBuilder &)> body) const {
  Value isElected = NVVM::ElectSyncOp::create(at, loc, at.getI1Type(), Value());
  auto guard = scf::IfOp::create(at, loc, isElected);
  OpBuilder then = guard.getThenBodyBuilder();
  body(then);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void RoleEmitter::forEachTile(OpBuilder &at, SmallVector<Value> values,
                              EmitTile body) {
  RingScheduleAttr schedule = plan.getSchedule();
  Value first = gpu::BlockIdOp::create(at, loc, gpu::Dimension::x);
  Value step = gpu::GridDimOp::create(at, loc, gpu::Dimension::x);
  TileShape shape = {schedule.getM(), schedule.getN(), schedule.getK()};
  TileCount count = emitTileCount(at, loc, sizes, shape);
  Value tiles = count.perMatrix, matrices;
  if (problem.resultType.getRank() == 3) {
    matrices =
        memref::DimOp::create(at, loc, kernel.getArgument(problem.result), 0);
    tiles = at.createOrFold<arith::MulIOp>(loc, tiles, matrices);
  }
  auto loop = scf::ForOp::create(at, loc, first, tiles, step, values);
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  RingTile tile;
  tile.isGuarded = true;
  Value number = loop.getInductionVar();
  tile.batch = index(inner, 0);
  if (matrices) {
    tile.batch =
        inner.createOrFold<arith::DivUIOp>(loc, number, count.perMatrix);
    number = inner.createOrFold<arith::RemUIOp>(loc, number, count.perMatrix);
  }
  auto [tileM, tileN] =
      emitTilePosition(inner, loc, number, count, schedule.getGroup());
  AffineExpr d0 = inner.getAffineDimExpr(0);
  tile.row = applyExprs(inner, loc, {d0 * shape.m}, tileM)[0];
  tile.column = applyExprs(inner, loc, {d0 * shape.n}, tileN)[0];
  emitPartOfK(inner, tile, matrices);
  SmallVector<Value> next = body(inner, tile, loop.getRegionIterArgs());
  if (!next.empty())
    scf::YieldOp::create(inner, loc, next);
}

//===----------------------------------------------------------------------===//
// Steps along K
//===----------------------------------------------------------------------===//

void RoleEmitter::emitPartOfK(OpBuilder &at, RingTile &tile, Value matrices) {
  AffineExpr d0 = at.getAffineDimExpr(0);
  int64_t k = plan.getSchedule().getK();
  Value steps = applyExprs(at, loc, {d0.ceilDiv(k)}, sizes.k)[0];
  tile.matrix = tile.batch;
  tile.endStep = steps;
  if (problem.splits == 1)
    return;
  // As many parts as the host has made room for: no part is empty.
  Value parts = index(at, problem.splits), one = index(at, 1);
  if (ShapedType::isDynamic(problem.k)) {
    parts = arith::MinUIOp::create(at, loc, steps, parts);
    parts = arith::MaxUIOp::create(at, loc, parts, one);
  }
  Value part = tile.batch;
  tile.matrix = index(at, 0);
  if (problem.hasBatch) {
    Value batch = at.createOrFold<arith::DivUIOp>(loc, matrices, parts);
    tile.matrix = at.createOrFold<arith::RemUIOp>(loc, part, batch);
    part = at.createOrFold<arith::DivUIOp>(loc, part, batch);
  }
  // Parts that differ by a step at most.
  auto getFirst = [&](Value number) {
    Value before = at.createOrFold<arith::MulIOp>(loc, number, steps);
    return at.createOrFold<arith::DivUIOp>(loc, before, parts);
  };
  tile.firstStep = getFirst(part);
  tile.endStep = getFirst(at.createOrFold<arith::AddIOp>(loc, part, one));
}

std::optional<RoleEmitter::StepCount> RoleEmitter::getStepCount() const {
  if (ShapedType::isDynamic(problem.k))
    return std::nullopt;
  int64_t steps = llvm::divideCeilSigned(problem.k, plan.getSchedule().getK());
  return StepCount{llvm::divideCeilSigned(steps, problem.splits),
                   steps % problem.splits == 0};
}

/// Stages whose steps are one step of a loop: all of them, or else as many as
/// divide their number. Code grows with it.
static int64_t getStagesOfRound(int64_t stages) {
  constexpr int64_t kMost = 7;
  int64_t count = std::min(stages, kMost);
  while (stages % count != 0)
    --count;
  return count;
}

RingPlace RoleEmitter::emitSteps(OpBuilder &at, RingPlace place, Value count,
                                 bool isUnrolled, EmitStep body) {
  int64_t numStages = stages.getNumStages();
  int64_t round = getStagesOfRound(numStages);
  auto emitLoop = [&](Value from, Value to, int64_t steps) {
    auto loop = scf::ForOp::create(at, loc, from, to, word(at, steps),
                                   ValueRange{place.stage, place.parity});
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    RingPlace first = {loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
    if (steps == numStages)
      first.stage = word(inner, 0);
    for (int64_t i = 0; i != steps; ++i) {
      auto plus = [&](Value value) {
        return inner.createOrFold<arith::AddIOp>(loc, value, word(inner, i));
      };
      body(inner, plus(loop.getInductionVar()),
           {plus(first.stage), first.parity});
    }
    RingPlace next = stages.emitNext(inner, first, steps);
    scf::YieldOp::create(inner, loc, ValueRange{next.stage, next.parity});
    place = {loop.getResult(0), loop.getResult(1)};
  };

  // Where each tile takes whole rounds, each starts with one.
  std::optional<StepCount> known = getStepCount();
  bool isWhole = known && known->isSame && known->most % round == 0;
  Value zero = word(at, 0);
  if (!isUnrolled || round == 1 ||
      (known && !isWhole && known->most < 2 * round)) {
    emitLoop(zero, count, 1);
    return place;
  }
  Value size = word(at, round), first = zero;
  if (!isWhole) {
    Value inRound = arith::RemUIOp::create(at, loc, place.stage, size);
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
  return place;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value RoleEmitter::emitStageOffset(OpBuilder &at, const RingPlace &place,
                                   int64_t plus) const {
  Value bytes = index(at, plan.getStageBytes());
  Value offset =
      at.createOrFold<arith::MulIOp>(loc, stages.emitStage(at, place), bytes);
  return addIndex(at, loc, offset, plus);
}

/// Which of two accumulators the tile number `count` (i32) has, as an index.
Value RoleEmitter::emitWindow(OpBuilder &at, Value count) const {
  if (plan.getSchedule().getAccumulators() == 1)
    return index(at, 0);
  Value one = arith::ConstantOp::create(at, loc, at.getI32IntegerAttr(1));
  Value odd = arith::AndIOp::create(at, loc, count, one);
  return arith::IndexCastUIOp::create(at, loc, at.getIndexType(), odd);
}

Value RoleEmitter::emitAcc(OpBuilder &at, Value window) const {
  RingScheduleAttr schedule = plan.getSchedule();
  Value distance = index(at, plan.getAccColumn(1));
  Value column = at.createOrFold<arith::MulIOp>(loc, window, distance);
  auto type =
      TmemAccType::get(at.getContext(), schedule.getM(), schedule.getN());
  return TmemAccOp::create(at, loc, type, tmem, column);
}
