//===- MultistageKernel.cpp - Multistage GEMM with mma.sync ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The multistage kernel (cp.async pipeline, as in CUTLASS for sm_80): all warps
// of a block load, and all of them multiply. Instructions are block-scaled
// mma.sync, bf16 mma.sync behind a dequantization in registers, or mma.sync of
// bf16 or f16 operands as they are. With skip conditions it is also the kernel
// of exact recomputations.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Kernels.h"

#include "Fragments/AccLowering.h"
#include "Kernels/Gemm/Epilogue/Epilogue.h"
#include "Kernels/Gemm/Mainloop/FactorLoader.h"
#include "Kernels/Gemm/Mainloop/Multistage/KLoop.h"
#include "Kernels/Gemm/Mainloop/Multistage/StagePlan.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "Kernels/Gemm/Problem/ScalarSlice.h"
#include "Kernels/Gemm/TileScheduler/TileScheduler.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

static MultistageScheduleAttr getSchedule(const KernelProblem &problem) {
  auto schedule = cast<MultistageScheduleAttr>(problem.schedule);
  if (problem.skipConditions.empty())
    return schedule;
  // Values that are carried from tile to tile take registers, too: with larger
  // tiles ptxas spills.
  constexpr int64_t kMost = 64;
  int64_t tile[] = {std::min(schedule.getM(), kMost),
                    std::min(schedule.getN(), kMost), schedule.getK()};
  int64_t warps[] = {schedule.getWarpsM(), schedule.getWarpsN()};
  return MultistageScheduleAttr::get(schedule.getContext(), tile, warps,
                                     schedule.getStages());
}

static TileShape getTileShape(const KernelProblem &problem) {
  MultistageScheduleAttr schedule = getSchedule(problem);
  return {schedule.getM(), schedule.getN(), schedule.getK()};
}

static StagePlan makePlan(const KernelProblem &problem) {
  MultistageScheduleAttr schedule = getSchedule(problem);
  return StagePlan(problem, problem.instruction.getKind(),
                   getStageExtents(schedule), schedule.getStages());
}

/// An exact recomputation usually has nothing to do, so few blocks are launched
/// to find that out.
static BlockOrder getOrder(const KernelProblem &problem) {
  if (!problem.skipConditions.empty())
    return BlockOrder::Persistent;
  return problem.groups ? BlockOrder::Linear : BlockOrder::Grid;
}

/// Bytes of shared memory that a block needs, in any of its branches.
static int64_t getSharedBytes(const KernelProblem &problem) {
  int64_t bytes = 0;
  for (const AlignedProblem &branch :
       getAlignedProblems(problem, getTileShape(problem)))
    bytes = std::max(bytes, makePlan(branch.problem).getStages().getNumBytes());
  return bytes;
}

/// Whether any inexact flag in the skip conditions of `problem` is set, uniform
/// over the `numThreads` threads of the block, which read the flags together;
/// `thread` is the index of this one. With `ofAllGroups`, not those that are of
/// one group.
static Value emitIsNeeded(OpBuilder &b, gpu::GPUFuncOp kernel,
                          const KernelProblem &problem, Value thread,
                          int64_t numThreads, bool ofAllGroups = false) {
  Location loc = kernel.getLoc();
  Value zero = makeIndex(b, loc, 0);
  Value threads = makeIndex(b, loc, numThreads);
  Value any = makeWord(b, loc, 0);
  for (unsigned argument : problem.skipConditions) {
    Value flags = kernel.getArgument(argument);
    Value count = ofAllGroups
                      ? emitGroupFlag(b, loc, problem, kernel, flags, zero)
                      : memref::DimOp::create(b, loc, flags, zero);
    auto loop = scf::ForOp::create(b, loc, thread, count, threads, any);
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    Value word =
        memref::LoadOp::create(inner, loc, flags, loop.getInductionVar());
    Value both =
        arith::OrIOp::create(inner, loc, loop.getRegionIterArg(0), word);
    scf::YieldOp::create(inner, loc, both);
    any = loop.getResult(0);
  }
  auto reduction = NVVM::BarrierReductionAttr::get(b.getContext(),
                                                   NVVM::BarrierReduction::OR);
  any = NVVM::BarrierOp::create(b, loc, TypeRange(b.getI32Type()), Value(),
                                Value(), reduction, any)
            .getResult(0);
  Value none = makeWord(b, loc, 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, any, none);
}

/// Whether a tile of `group` is to be recomputed, where `areAll` says whether
/// all are.
static Value emitIsGroupNeeded(OpBuilder &b, gpu::GPUFuncOp kernel,
                               const KernelProblem &problem,
                               const RowGroup &group, Value areAll) {
  Location loc = kernel.getLoc();
  Value none = makeWord(b, loc, 0);
  for (unsigned argument : problem.skipConditions) {
    Value flags = kernel.getArgument(argument);
    Value flag = memref::LoadOp::create(
        b, loc, flags,
        emitGroupFlag(b, loc, problem, kernel, flags, group.number));
    Value isSet =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, flag, none);
    areAll = arith::OrIOp::create(b, loc, areAll, isSet);
  }
  return areAll;
}

/// Adds the product of the stage at byte `offset` of `shared` to `acc`.
static Value emitMultiply(OpBuilder &b, Location loc,
                          const KernelProblem &problem, const StagePlan &plan,
                          Value shared, Value offset, Value tensorScale,
                          Value acc) {
  PerOperand<Value> operands;
  for (GemmOperand i : kGemmOperands) {
    const KernelOperand &operand = problem[i];
    if (!problem.reads(i) && getInfo(i).isMetadata)
      continue;
    operands[i] =
        operand.splat
            ? Value(arith::ConstantIntOp::create(
                  b, loc, b.getI8Type(), static_cast<int8_t>(*operand.splat)))
            : plan.getStages().getMemory(b, loc, shared, offset, i);
  }
  MLIRContext *context = b.getContext();
  auto getLayout = [&](GemmOperand i) {
    return TileLayoutAttr::get(context, plan.getStages().getTile(i).layout);
  };
  auto getScaleLayout = [&](GemmOperand i) {
    if (!plan.getLoader(i))
      return ScaleTileLayoutAttr();
    return ScaleTileLayoutAttr::get(context, plan.getStages().getTile(i).order);
  };
  return TileMmaOp::create(
      b, loc, acc.getType(), operands[GemmOperand::A],
      operands[GemmOperand::SFA], operands[GemmOperand::B],
      operands[GemmOperand::SFB], acc, /*blocks=*/Value(), tensorScale,
      operands[GemmOperand::E],
      TypeCombinationAttr::get(context, problem.types), problem.instruction,
      getLayout(GemmOperand::A), getLayout(GemmOperand::B),
      getScaleLayout(GemmOperand::SFA), getScaleLayout(GemmOperand::SFB));
}

/// The fragments of step number `step` of the stage at byte `offset`, which a
/// lane needs for `acc`.
static Value emitLoadFragments(OpBuilder &b, Location loc,
                               const KernelProblem &problem,
                               const StagePlan &plan, Value shared,
                               Value offset, int64_t step, AccType acc) {
  MLIRContext *context = b.getContext();
  const Stages &stages = plan.getStages();
  auto getLayout = [&](GemmOperand i) {
    return TileLayoutAttr::get(context, stages.getTile(i).layout);
  };
  int64_t registers = 0;
  for (Operand operand : {Operand::A, Operand::B})
    registers +=
        LoadFragmentsOp::getNumRegisters(problem.instruction, acc, operand);
  Value a = stages.getMemory(b, loc, shared, offset, GemmOperand::A);
  Value other = stages.getMemory(b, loc, shared, offset, GemmOperand::B);
  return LoadFragmentsOp::create(b, loc, FragmentsType::get(context, registers),
                                 a, other, step, acc, problem.instruction,
                                 getLayout(GemmOperand::A),
                                 getLayout(GemmOperand::B));
}

/// The rows of x that those of `tile` read, as i32 in shared memory; some row
/// of x for those that read none, and for those behind the group. A product
/// with a row that x does not have reads another one. Null if rows of x follow
/// each other.
static Value emitGatheredRows(OpBuilder &b, gpu::GPUFuncOp kernel,
                              const KernelProblem &problem,
                              const ProblemSizes &sizes, const WorkTile &tile) {
  if (!problem.groups || !problem.groups->gathersX)
    return {};
  Location loc = kernel.getLoc();
  MultistageScheduleAttr schedule = getSchedule(problem);
  // Scales are loaded for groups of 32 rows, also where the tile has fewer.
  int64_t size = llvm::alignTo(schedule.getM(), kWarpLanes);
  Value gathered = addSharedArray(kernel, b.getI32Type(), size);
  Value rows = kernel.getArgument(*problem.groups->rows);
  Value count = makeIndex(b, loc, size),
        threads = makeIndex(b, loc, schedule.getNumThreads());
  Value last = addIndex(b, loc, tile.group->end, -1);
  auto toWord = [&](OpBuilder &at, Value index) {
    return arith::IndexCastOp::create(at, loc, at.getI32Type(), index);
  };
  Value lastOfX = toWord(b, addIndex(b, loc, sizes.rowsOfX, -1));
  Value zero = makeWord(b, loc, 0);
  auto loop = scf::ForOp::create(b, loc, tile.thread, count, threads);
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  Value row =
      arith::AddIOp::create(inner, loc, tile.row, loop.getInductionVar());
  row = arith::MinUIOp::create(inner, loc, row, last);
  Value ofX = memref::LoadOp::create(inner, loc, rows, row);
  ofX = arith::MinSIOp::create(inner, loc, ofX, lastOfX);
  ofX = arith::MaxSIOp::create(inner, loc, ofX, zero);
  memref::StoreOp::create(inner, loc, ofX, gathered, loop.getInductionVar());
  gpu::BarrierOp::create(b, loc);
  return gathered;
}

/// The mainloop and the epilogue of one tile.
static void emitTile(OpBuilder &b, gpu::GPUFuncOp kernel,
                     const KernelProblem &problem, const ProblemSizes &sizes,
                     Value shared, const WorkTile &tile, Value gathered,
                     Value tensorScale) {
  Location loc = kernel.getLoc();
  MultistageScheduleAttr schedule = getSchedule(problem);
  StagePlan plan = makePlan(problem);
  PerOperand<Value> batches;
  for (GemmOperand i : kGemmOperands)
    batches[i] = getOperandBatch(b, kernel, problem[i], tile.matrix);
  auto getGroups = [&](GemmOperand i) {
    const SharedTile &elements = plan.getStages().getTile(i);
    return getInterleave(problem.instruction.getKind(), elements.layout,
                         elements.slot);
  };
  auto layout =
      WarpsAttr::get(b.getContext(), schedule.getWarpsM(), schedule.getWarpsN(),
                     getGroups(GemmOperand::A), getGroups(GemmOperand::B));
  auto accType =
      AccType::get(b.getContext(), schedule.getM(), schedule.getN(), layout);
  auto emitInitial = [&]() {
    return emitInitialAccumulator(b, kernel, problem, sizes, tile, accType);
  };
  // Whole sums are multiplied before the accumulator is added to them.
  bool isAddedLast = problem.promotion && problem.promotion->isWhole;
  Value acc =
      isAddedLast ? Value(AccZeroOp::create(b, loc, accType)) : emitInitial();

  auto getArgument = [&](unsigned i) -> Value { return kernel.getArgument(i); };
  FillContext context = {loc, getArgument, schedule.getNumThreads(),
                         tile.thread, tile.isGuarded};
  auto fill = [&](OpBuilder &at, Value offset, Value step) {
    step = addIndices(at, loc, step, tile.firstStep);
    Value columnsOfA = sizes.keptK ? sizes.keptK : sizes.k;
    plan.fill(
        at, context, shared, offset,
        {{batches[GemmOperand::A], sizes.rowsOfX, columnsOfA, tile.row, step,
          gathered},
         {batches[GemmOperand::SFA], sizes.rowsOfX, sizes.blocks, tile.row,
          step, gathered},
         {batches[GemmOperand::B], sizes.n, sizes.k, tile.column, step},
         {batches[GemmOperand::SFB], sizes.n, sizes.blocks, tile.column, step},
         {batches[GemmOperand::E], sizes.m, sizes.metadata, tile.row, step}});
  };
  auto multiply = [&](OpBuilder &at, Value offset, Value sums) {
    return emitMultiply(at, loc, problem, plan, shared, offset, tensorScale,
                        sums);
  };
  StageSync sync(loc, plan.hasAsyncCopies());
  auto load = [&](OpBuilder &at, Value offset, int64_t step) {
    return emitLoadFragments(at, loc, problem, plan, shared, offset, step,
                             accType);
  };
  auto multiplyFragments = [&](OpBuilder &at, Value fragments,
                               Value sums) -> Value {
    return FragmentsMmaOp::create(at, loc, sums.getType(), fragments, sums,
                                  problem.instruction);
  };
  KLoop loop = {loc, plan.getStages(), sync, fill, multiply, std::nullopt};
  // Only fragments that need no dequantization fit into registers beside those
  // of the next step.
  if (!problem.instruction.hasScales())
    loop.parts = {schedule.getK() / problem.instruction.getK(), load,
                  multiplyFragments};
  std::optional<FactorLoader> factors;
  auto loadFactors = [&](OpBuilder &at, Value step, int64_t interval) {
    step = addIndices(at, loc, step, tile.firstStep);
    Value k = applyExpr(at, loc,
                        at.getAffineDimExpr(0) * schedule.getK() +
                            interval * problem.promotion->interval,
                        step);
    return factors->load(at, k);
  };
  auto start = [&](OpBuilder &at) -> Value {
    return AccZeroOp::create(at, loc, accType);
  };
  auto promote = [&](OpBuilder &at, Value sums, Value partials,
                     const FactorLoader::Factors &loaded) {
    return factors->promote(at, sums, partials, factors->prepare(at, loaded));
  };
  if (problem.promotion) {
    factors.emplace(kernel, problem, sizes, accType, tile, gathered);
    loop.promotion = {problem.promotion->interval / problem.instruction.getK(),
                      loadFactors, start, promote};
  }
  auto emitSums = [&](OpBuilder &at) {
    Value sums = loop.emit(at, tile.steps, acc);
    return isAddedLast ? factors->finish(at, sums) : sums;
  };
  if (tile.group) {
    // Tiles of rows of nobody have no steps, and maybe no factors.
    Value isStep = isBelow(b, loc, makeIndex(b, loc, 0), tile.steps);
    auto guard =
        scf::IfOp::create(b, loc, accType, isStep, /*withElseRegion=*/true);
    OpBuilder then = guard.getThenBodyBuilder();
    scf::YieldOp::create(then, loc, emitSums(then));
    OpBuilder otherwise = guard.getElseBodyBuilder();
    scf::YieldOp::create(otherwise, loc, acc);
    acc = guard.getResult(0);
  } else {
    acc = emitSums(b);
  }
  if (isAddedLast)
    acc = AccAddOp::create(b, loc, emitInitial(), acc);
  emitEpilogue(b, kernel, problem, sizes, tile, acc);
}

namespace {
class MultistageKernel final : public GemmKernel {
public:
  KernelKind getKind() const override { return KernelKind::Multistage; }
  bool takesGroups() const override { return true; }
  bool takesPromotion() const override { return true; }
  RowGather getRowGather() const override { return RowGather::InLoads; }
  OperandTransforms getTransforms(InstructionAttr instruction) const override {
    constexpr auto kInRegisters = OperandTransform::DequantizedInRegisters;
    if (takesQuantizedB(instruction))
      return {OperandTransform::None, kInRegisters};
    if (instruction.getInstruction().scaling == Scaling::OnOperands)
      return {kInRegisters, kInRegisters};
    return {};
  }

  SplitKRule getSplitK(const KernelProblem &problem) const override {
    MultistageScheduleAttr schedule = getSchedule(problem);
    return {schedule.getSplitK(), schedule.getK()};
  }

  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    MultistageScheduleAttr schedule = getSchedule(problem);
    MLIRContext *context = schedule.getContext();
    auto layout =
        WarpsAttr::get(context, schedule.getWarpsM(), schedule.getWarpsN());
    // If columns are interleaved, then within the share of each warp.
    return ResultTile{
        schedule.getM(),
        schedule.getN(),
        {AccType::get(context, schedule.getM(), schedule.getN(), layout)}};
  }

  bool holdsPairs(const KernelProblem &problem) const override {
    AccType type = getResultTile(problem)->accumulators.front();
    return getSchedule(problem).getSplitK() == 1 &&
           getAccLowering(type).getPairs(type);
  }

  KernelShape getShape(const KernelProblem &problem) const override {
    TileShape tile = getTileShape(problem);
    KernelShape shape;
    shape.tile = {tile.m, tile.n, 1};
    shape.threads = {getSchedule(problem).getNumThreads(), 1, 1};
    shape.shared = getDynamicBytes(getSharedBytes(problem));
    shape.order = getOrder(problem);
    return shape;
  }

  void build(gpu::GPUFuncOp kernel,
             const KernelProblem &problem) const override {
    Location loc = kernel.getLoc();
    TileShape shape = getTileShape(problem);
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Value shared = makeSharedMemory(b, kernel, getSharedBytes(problem));
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    ProblemSizes sizes(b, kernel, problem);
    Value tensorScale = emitScalar(b, kernel, problem.tensorScale);
    OpBuilder body = b;
    if (!problem.skipConditions.empty()) {
      Value isNeeded = emitIsNeeded(b, kernel, problem, thread,
                                    getSchedule(problem).getNumThreads());
      body = scf::IfOp::create(b, loc, isNeeded).getThenBodyBuilder();
    }
    Value areAll;
    if (problem.groups && !problem.skipConditions.empty())
      areAll = emitIsNeeded(body, kernel, problem, thread,
                            getSchedule(problem).getNumThreads(),
                            /*ofAllGroups=*/true);
    TileScheduler tiles(kernel, problem, sizes, shape, {getOrder(problem)});
    tiles.forEachTile(
        body, ValueRange(), [&](OpBuilder &in, WorkTile tile, ValueRange) {
          OpBuilder at = in;
          if (areAll)
            at = scf::IfOp::create(in, loc,
                                   emitIsGroupNeeded(in, kernel, problem,
                                                     *tile.group, areAll))
                     .getThenBodyBuilder();
          // The previous tile may still read the stages.
          if (tiles.hasNextTile())
            gpu::BarrierOp::create(at, loc);
          tile.thread = thread;
          Value gathered = emitGatheredRows(at, kernel, problem, sizes, tile);
          forEachAlignment(at, loc, problem, sizes, shape,
                           [&](OpBuilder &branch, const KernelProblem &known,
                               bool isGuarded) {
                             tile.isGuarded = isGuarded;
                             emitTile(branch, kernel, known, sizes, shared,
                                      tile, gathered, tensorScale);
                           });
          return SmallVector<Value>();
        });
    gpu::ReturnOp::create(b, loc);
  }
};
} // namespace

const GemmKernel &blockscale::getMultistageKernel() {
  static const MultistageKernel kernel;
  return kernel;
}
