//===- WarpsKernel.cpp - A block of warps per tile ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel of the paths whose instructions are those of a warp: what other
// kernels have too is called, what is left is who multiplies.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Warps/WarpsKernel.h"

#include "Kernels/BlockTile.h"
#include "Kernels/Staging/KLoop.h"
#include "Kernels/TileSums.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

static MmaSyncScheduleAttr getSchedule(const KernelProblem &problem) {
  return cast<MmaSyncScheduleAttr>(problem.schedule);
}

static TileShape getTileShape(const KernelProblem &problem) {
  MmaSyncScheduleAttr schedule = getSchedule(problem);
  return {schedule.getM(), schedule.getN(), schedule.getK()};
}

static StagePlan makePlan(const KernelProblem &problem) {
  MmaSyncScheduleAttr schedule = getSchedule(problem);
  return StagePlan(problem, problem.instruction.getKind(),
                   getStageExtents(schedule), schedule.getStages());
}

/// Bytes of shared memory that a block needs whichever way it takes.
static int64_t getSharedBytes(const KernelProblem &problem) {
  std::optional<KernelProblem> aligned =
      getAligned(problem, getTileShape(problem));
  int64_t bytes = aligned ? makePlan(*aligned).getStages().getNumBytes() : 0;
  if (!aligned || isDynamic(problem))
    bytes = std::max(bytes, makePlan(problem).getStages().getNumBytes());
  return bytes;
}

/// Adds the product of the stage at byte `offset` of `shared` to `acc`.
static Value emitMultiply(OpBuilder &b, Location loc,
                          const KernelProblem &problem, const StagePlan &plan,
                          Value shared, Value offset, Value acc) {
  std::array<Value, kNumOperands> operands;
  for (unsigned i = 0; i != kNumOperands; ++i) {
    const KernelOperand &operand = problem.getOperand(i);
    operands[i] =
        operand.splat
            ? Value(arith::ConstantIntOp::create(
                  b, loc, b.getI8Type(), static_cast<int8_t>(*operand.splat)))
            : plan.getStages().getMemory(b, loc, shared, offset, i);
  }
  MLIRContext *context = b.getContext();
  auto getLayout = [&](unsigned i) {
    return TileLayoutAttr::get(context, plan.getStages().getTile(i).layout);
  };
  auto getScaleLayout = [&](unsigned i) {
    if (!plan.getFiller(i))
      return ScaleTileLayoutAttr();
    return ScaleTileLayoutAttr::get(context, plan.getStages().getTile(i).order);
  };
  return TileMmaOp::create(
      b, loc, acc.getType(), operands[0], operands[1], operands[2], operands[3],
      acc, RowAttr::get(context, problem.row), problem.instruction,
      getLayout(0), getLayout(2), getScaleLayout(1), getScaleLayout(3));
}

/// All that a block does for its tile.
static void emitTile(OpBuilder &b, gpu::GPUFuncOp kernel,
                     const KernelProblem &problem, const ProblemSizes &sizes,
                     Value shared, const BlockTile &tile) {
  Location loc = kernel.getLoc();
  MmaSyncScheduleAttr schedule = getSchedule(problem);
  StagePlan plan = makePlan(problem);
  std::array<Value, kNumOperands> batches;
  for (unsigned i = 0; i != kNumOperands; ++i)
    batches[i] = getOperandBatch(b, kernel, problem.getOperand(i), tile.batch);
  auto getGroups = [&](unsigned i) {
    const SharedTile &elements = plan.getStages().getTile(i);
    return getInterleave(problem.instruction.getKind(), elements.layout,
                         elements.slot);
  };
  auto layout =
      WarpsAttr::get(b.getContext(), schedule.getWarpsM(), schedule.getWarpsN(),
                     getGroups(0), getGroups(2));
  auto accType =
      AccType::get(b.getContext(), schedule.getM(), schedule.getN(), layout);
  Value acc = emitFirstSums(b, kernel, problem, sizes, tile, accType);

  auto getArgument = [&](unsigned i) -> Value { return kernel.getArgument(i); };
  FillContext context = {loc, getArgument, schedule.getNumThreads(),
                         tile.thread, tile.isGuarded};
  auto fill = [&](OpBuilder &at, Value offset, Value step) {
    plan.fill(at, context, shared, offset,
              {{batches[0], sizes.m, sizes.k, tile.row, step},
               {batches[1], sizes.m, sizes.blocks, tile.row, step},
               {batches[2], sizes.n, sizes.k, tile.column, step},
               {batches[3], sizes.n, sizes.blocks, tile.column, step}});
  };
  auto multiply = [&](OpBuilder &at, Value offset, Value sums) {
    return emitMultiply(at, loc, problem, plan, shared, offset, sums);
  };
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value steps = applyExprs(b, loc, {d0.ceilDiv(schedule.getK())}, sizes.k)[0];
  GroupSync sync(loc, plan.hasAsyncCopies());
  KLoop loop = {loc, plan.getStages(), sync, fill, multiply};
  acc = loop.emit(b, steps, acc);
  emitLastSums(b, kernel, problem, sizes, tile, acc);
}

KernelShape WarpsBackend::getShape(const KernelProblem &problem) const {
  TileShape tile = getTileShape(problem);
  KernelShape shape;
  shape.tile = {tile.m, tile.n, 1};
  shape.threads = {getSchedule(problem).getNumThreads(), 1, 1};
  shape.shared = getDynamicBytes(getSharedBytes(problem));
  return shape;
}

void WarpsBackend::build(gpu::GPUFuncOp kernel,
                         const KernelProblem &problem) const {
  Location loc = kernel.getLoc();
  TileShape shape = getTileShape(problem);
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value shared = makeSharedMemory(b, kernel, getSharedBytes(problem));
  BlockTile tile;
  tile.thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  tile.batch = gpu::BlockIdOp::create(b, loc, gpu::Dimension::z);
  ProblemSizes sizes(b, kernel, problem);
  auto [tileM, tileN] = emitRasterization(b, loc, sizes, shape);
  AffineExpr d0 = b.getAffineDimExpr(0);
  tile.row = applyExprs(b, loc, {d0 * shape.m}, tileM)[0];
  tile.column = applyExprs(b, loc, {d0 * shape.n}, tileN)[0];
  forEachAlignment(
      b, loc, problem, sizes, shape,
      [&](OpBuilder &at, const KernelProblem &known, bool isGuarded) {
        tile.isGuarded = isGuarded;
        emitTile(at, kernel, known, sizes, shared, tile);
      });
  gpu::ReturnOp::create(b, loc);
}
