//===- WgmmaDenseKernel.cpp - Dense GEMM with wgmma -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The warp-specialized kernel for bf16 and f16 operands, and for block-scaled
// ones that kernels in front have dequantized. Both operands are read from
// shared memory (SS), and accumulators are in registers. A stage is empty again
// as soon as the wgmma that read it are complete.
//
// Sums that are promoted have a second accumulator, for the current interval
// along K. Two warpgroups take turns then: while one promotes, the wgmma of the
// other one run. The factors of a step are loaded in the step before.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Kernels.h"

#include "Fragments/AccLowering.h"
#include "Kernels/Gemm/Mainloop/FactorLoader.h"
#include "Kernels/Gemm/Mma/Wgmma/WarpgroupRoles.h"
#include "Kernels/Gemm/Mma/Wgmma/WgmmaKernel.h"
#include "Utils/AccFragment.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class DenseRoles final : public WarpgroupRoles {
public:
  using WarpgroupRoles::WarpgroupRoles;

  /// The accumulator of one instruction of all warpgroups.
  static AccType getAccType(WarpSpecializedScheduleAttr schedule) {
    MLIRContext *context = schedule.getContext();
    WgmmaShares shares(schedule);
    return AccType::get(context, shares.getRows(), schedule.getN(),
                        WarpsAttr::get(context, shares.getWarps(), 1));
  }

private:
  void emitConsumer(OpBuilder role) override {
    PipelineState first = stages.emitFirst(role);
    if (hasTurns())
      emitFirstTurn(role);
    forEachTile(role, {first.stage, first.parity},
                [&](OpBuilder &at, const WorkTile &tile, ValueRange values) {
                  return problem.promotion ? emitPromoted(at, tile, values)
                                           : emitProducts(at, tile, values);
                });
    if (hasTurns())
      emitLastTurn(role);
  }

  /// The mainloop and the epilogue of a tile; `values` are the pipeline state.
  SmallVector<Value> emitProducts(OpBuilder &at, const WorkTile &tile,
                                  ValueRange values) {
    SmallVector<Value> sums;
    for (int64_t i = 0; i != shares.mInstructions; ++i)
      sums.push_back(
          AccZeroOp::create(at, loc, getAccType(plan.getSchedule())));
    PipelineState state = emitSteps(
        at, {values[0], values[1]}, toWord(at, tile.steps),
        /*isUnrolled=*/true, sums,
        [&](OpBuilder &inner, Value, const PipelineState &inside,
            ValueRange before) { return emitStep(inner, inside, before); });
    emitTileEpilogue(at, tile, sums);
    return {state.stage, state.parity};
  }

  /// The accumulators plus the products of the stage of `state`.
  SmallVector<Value> emitStep(OpBuilder &at, const PipelineState &state,
                              ValueRange sums) {
    stages.emitWaitFull(at, state);
    return emitWait(at, state, emitMultiply(at, state, sums));
  }

  /// Starts the products of a stage, which `scaleD` says about whether they
  /// are added to `sums` (null for always).
  SmallVector<Value> emitMultiply(OpBuilder &at, const PipelineState &state,
                                  ValueRange sums, Value scaleD = {}) {
    MLIRContext *context = at.getContext();
    InstructionAttr instruction = getInstruction();
    Value y = emitTile(at, state, /*isA=*/false);
    MemRefType all = getTileType(/*isA=*/true);
    SmallVector<int64_t> shape(all.getShape());
    // The tile has rows, or columns of 64 rows.
    shape[0] /= shares.mInstructions;
    MemRefType part = MemRefType::Builder(all).setShape(shape);
    SmallVector<Value> products;
    for (auto [i, sum] : llvm::enumerate(sums)) {
      int64_t byte = plan.getOffset(GemmOperand::A) +
                     static_cast<int64_t>(i) * part.getNumElements();
      Value x = emitView(at, part, emitStageOffset(at, state, byte));
      products.push_back(WarpgroupMmaOp::create(
          at, loc, sum.getType(), x, y, sum, scaleD, instruction,
          TileLayoutAttr::get(context, getElements(true).layout),
          TileLayoutAttr::get(context, getElements(false).layout)));
    }
    return products;
  }

  /// Waits for `products`, which empties their stage.
  SmallVector<Value> emitWait(OpBuilder &at, const PipelineState &state,
                              ValueRange products) {
    auto wait = WarpgroupWaitOp::create(at, loc, products.getTypes(), products,
                                        /*pending=*/0);
    emitElected(at, [&](OpBuilder &one) { emitEmptied(one, state); });
    return llvm::to_vector_of<Value>(wait.getResults());
  }

  //===--------------------------------------------------------------------===//
  // Promotion
  //===--------------------------------------------------------------------===//

  /// The steps along K of an interval.
  int64_t getStepsOfInterval() const {
    return problem.promotion->interval / plan.getSchedule().getK();
  }

  /// The same as `emitProducts`. The schedule has one instruction along M.
  SmallVector<Value> emitPromoted(OpBuilder &at, const WorkTile &tile,
                                  ValueRange values) {
    AccType acc = getAccType(plan.getSchedule());
    FactorLoader loader(kernel, problem, sizes, acc, tile);
    Value zero = AccZeroOp::create(at, loc, acc);
    // The sums, and those of an interval of several steps; and the factors of
    // the next step.
    SmallVector<Value> carried(getStepsOfInterval() == 1 ? 1 : 2, zero);
    loader.load(at, emitK(at, tile, word(at, 0))).appendTo(carried);
    if (waitsAhead())
      emitWaitIfStep(at, tile, word(at, 0), {values[0], values[1]});
    PipelineState state = emitSteps(
        at, {values[0], values[1]}, toWord(at, tile.steps),
        /*isUnrolled=*/false, carried,
        [&](OpBuilder &inner, Value step, const PipelineState &inside,
            ValueRange before) {
          return emitPromotedStep(inner, tile, step, inside, before, loader);
        });
    Value sums = loader.finish(at, carried.front());
    emitTileEpilogue(at, tile, sums);
    return {state.stage, state.parity};
  }

  /// Whether a step waits for the stage of the next one, while wgmma run. That
  /// stage must be another one.
  bool waitsAhead() const { return stages.getNumStages() > 1; }

  /// Waits for the stage of step `step` of `tile`, if there is such a step.
  void emitWaitIfStep(OpBuilder &at, const WorkTile &tile, Value step,
                      const PipelineState &state) {
    Value isStep = isBelow(at, loc, toIndex(at, step), tile.steps);
    OpBuilder then = scf::IfOp::create(at, loc, isStep).getThenBodyBuilder();
    stages.emitWaitFull(then, state);
  }

  /// One step of it: from `before` to the values behind it.
  SmallVector<Value> emitPromotedStep(OpBuilder &at, const WorkTile &tile,
                                      Value step, const PipelineState &state,
                                      ValueRange before,
                                      const FactorLoader &loader) {
    bool isWhole = getStepsOfInterval() == 1;
    // In front of the barriers, so that ptxas cannot load the next ones first:
    // the wait for these would be one for all loads that have started.
    FactorLoader::Prepared factors =
        loader.prepare(at, loader.getFactors(before.drop_front(isWhole ? 1 : 2),
                                             emitK(at, tile, step)));
    if (!waitsAhead())
      stages.emitWaitFull(at, state);
    Value sums = before.front(), partial;
    Value scaleD = arith::ConstantIntOp::create(at, loc, at.getI1Type(), 0);
    if (isWhole) {
      partial = AccZeroOp::create(at, loc, sums.getType());
    } else {
      partial = before[1];
      scaleD = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ne,
                                     emitStepOfInterval(at, step), word(at, 0));
    }
    if (hasTurns())
      emitTurn(at);
    SmallVector<Value> products = emitMultiply(at, state, partial, scaleD);
    if (hasTurns())
      emitHandOver(at);
    // These take less time than the products.
    Value following = arith::AddIOp::create(at, loc, step, word(at, 1));
    FactorLoader::Factors next = loader.load(at, emitK(at, tile, following));
    if (waitsAhead())
      emitWaitIfStep(at, tile, following, stages.emitNext(at, state));
    partial = emitWait(at, state, products).front();
    sums = emitIfLastOfInterval(
        at, tile, step,
        [&](OpBuilder &here) {
          return loader.promote(here, sums, partial, factors);
        },
        sums);
    SmallVector<Value> after = {sums};
    if (!isWhole)
      after.push_back(partial);
    next.appendTo(after);
    return after;
  }

  /// The first element along K of step `step` of `tile`.
  Value emitK(OpBuilder &at, const WorkTile &tile, Value step) {
    Value index = addIndices(at, loc, toIndex(at, step), tile.firstStep);
    return applyExpr(at, loc,
                     at.getAffineDimExpr(0) * plan.getSchedule().getK(), index);
  }

  Value emitStepOfInterval(OpBuilder &at, Value step) {
    return arith::RemUIOp::create(at, loc, step,
                                  word(at, getStepsOfInterval()));
  }

  /// What `body` returns, if an interval ends with this step; else `otherwise`.
  Value emitIfLastOfInterval(OpBuilder &at, const WorkTile &tile, Value step,
                             function_ref<Value(OpBuilder &)> body,
                             Value otherwise) {
    if (getStepsOfInterval() == 1)
      return body(at);
    Value following = arith::AddIOp::create(at, loc, step, word(at, 1));
    auto isEqualTo = [&](Value lhs, Value rhs) -> Value {
      return arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, lhs, rhs);
    };
    Value isLast =
        arith::OrIOp::create(at, loc,
                             isEqualTo(emitStepOfInterval(at, step),
                                       word(at, getStepsOfInterval() - 1)),
                             isEqualTo(following, toWord(at, tile.steps)));
    auto guard = scf::IfOp::create(at, loc, otherwise.getType(), isLast,
                                   /*withElseRegion=*/true);
    OpBuilder then = guard.getThenBodyBuilder();
    scf::YieldOp::create(then, loc, body(then));
    OpBuilder rest = guard.getElseBodyBuilder();
    scf::YieldOp::create(rest, loc, otherwise);
    return guard.getResult(0);
  }

  //===--------------------------------------------------------------------===//
  // Turns
  //===--------------------------------------------------------------------===//

  /// Without turns, both warpgroups would promote at the same time, and no
  /// wgmma would run then. Three gain nothing by turns (measured on an H200).
  bool hasTurns() const { return problem.promotion && shares.groups == 2; }

  /// The number of the hardware barrier of the turns of a warpgroup: this one,
  /// or the next one. Barrier 0 is that of the block.
  Value emitTurnBarrier(OpBuilder &at, bool isNext) {
    AffineExpr d0 = at.getAffineDimExpr(0);
    AffineExpr group = d0.floorDiv(kWarpgroupWarps * kWarpLanes);
    if (isNext)
      group = (group + 1) % shares.groups;
    Value thread = gpu::ThreadIdOp::create(at, loc, gpu::Dimension::x);
    return toWord(at, applyExpr(at, loc, group + 1, thread));
  }
  /// Of the warpgroup that waits, and of the one that arrives.
  Value emitTurnThreads(OpBuilder &at) {
    return word(at, 2 * kWarpgroupWarps * kWarpLanes);
  }

  /// Waits until the warpgroup in front has handed over.
  void emitTurn(OpBuilder &at) {
    NVVM::BarrierOp::create(at, loc, TypeRange(),
                            emitTurnBarrier(at, /*isNext=*/false),
                            emitTurnThreads(at), {}, {});
  }
  void emitHandOver(OpBuilder &at) {
    NVVM::BarrierArriveOp::create(at, loc, emitTurnBarrier(at, /*isNext=*/true),
                                  emitTurnThreads(at));
  }

  /// The first warpgroup begins, as if the last one had handed over; and it
  /// takes what is handed over last, so that arrivals and waits are as many.
  void emitFirstTurn(OpBuilder &at) {
    emitIfGroup(at, shares.groups - 1,
                [&](OpBuilder &then) { emitHandOver(then); });
  }
  void emitLastTurn(OpBuilder &at) {
    emitIfGroup(at, 0, [&](OpBuilder &then) { emitTurn(then); });
  }
  void emitIfGroup(OpBuilder &at, int64_t group,
                   function_ref<void(OpBuilder &)> body) {
    Value isThis =
        isEqual(at, loc, toIndex(at, emitTurnBarrier(at, /*isNext=*/false)),
                index(at, group + 1));
    OpBuilder then = scf::IfOp::create(at, loc, isThis).getThenBodyBuilder();
    body(then);
  }

  //===--------------------------------------------------------------------===//
  // Epilogue
  //===--------------------------------------------------------------------===//

  void emitTileEpilogue(OpBuilder &at, const WorkTile &tile, ValueRange sums) {
    // Elements are stored in pairs, or in longer runs, where rows of the result
    // are aligned to these.
    std::optional<AccType> runs = getRunsType();
    int64_t run = runs ? kRun : kColumnsOfLane;
    bool isKnown = KernelProblem::isMultiple(problem.n, run);
    // Beside 128 sums, there are no registers for what more than one way needs.
    constexpr int64_t kMostSums = 96;
    WarpSpecializedScheduleAttr schedule = plan.getSchedule();
    bool areMany = schedule.getM() * schedule.getN() >
                   kMostSums * shares.getWarps() * kWarpLanes;
    if (isKnown || !ShapedType::isDynamic(problem.n) || !storesElements() ||
        areMany)
      return emitStores(at, tile, sums, isKnown, isKnown ? runs : std::nullopt);
    Value rest = applyExpr(at, loc, at.getAffineDimExpr(0) % run, sizes.n);
    auto branch =
        scf::IfOp::create(at, loc, isEqual(at, loc, rest, index(at, 0)),
                          /*withElseRegion=*/true);
    OpBuilder aligned = branch.getThenBodyBuilder(),
              other = branch.getElseBodyBuilder();
    emitStores(aligned, tile, sums, /*areAligned=*/true, runs);
    emitStores(other, tile, sums, /*areAligned=*/false, std::nullopt);
  }

  /// Stores `sums`; if rows are aligned, a run of elements, of `runs` or a
  /// pair, is inside of the result or outside as a whole.
  void emitStores(OpBuilder &at, const WorkTile &tile, ValueRange sums,
                  bool areAligned, std::optional<AccType> runs) {
    bool isStatic = !ShapedType::isDynamic(problem.n);
    emitByBounds(at, tile, areAligned, [&](OpBuilder &path, bool isGuarded) {
      for (auto [i, sum] : llvm::enumerate(sums)) {
        BlockTile subTile = tile;
        subTile.row = addIndex(path, loc, tile.row,
                               static_cast<int64_t>(i) * shares.getRows());
        subTile.isGuarded = isGuarded;
        subTile.hasAlignedRows =
            areAligned && storesElements() && (runs || isGuarded || !isStatic);
        Value stored = sum;
        if (runs)
          stored = AccInterleaveOp::create(path, loc, *runs, sum);
        emitStore(path, sizes, subTile, stored);
      }
    });
  }

  /// Whether the epilogue stores elements at their positions.
  bool storesElements() const {
    return !problem.quantizer && !problem.hasPairs();
  }

  /// The 16-bit elements of a store of 16 bytes.
  static constexpr int64_t kRun = 8;
  /// The accumulator of an instruction for stores of 16 bytes, if the result
  /// has 16-bit elements in aligned rows: pairs of them are half a sector for
  /// the lanes of a row. (Pairs of f32 are a whole one.)
  std::optional<AccType> getRunsType() {
    constexpr unsigned kBits = 16;
    constexpr int64_t kInterleave = kRun / kColumnsOfLane;
    auto result =
        dyn_cast<MemRefType>(kernel.getArgument(problem.result).getType());
    AccType type = getAccType(plan.getSchedule());
    bool areAligned = ShapedType::isDynamic(problem.n) ||
                      KernelProblem::isMultiple(problem.n, kRun);
    if (!storesElements() || !areAligned || !result ||
        !result.getElementType().isIntOrFloat() ||
        result.getElementTypeBitWidth() != kBits ||
        type.getN() % (kInterleave * getAccFragment().columns) != 0)
      return std::nullopt;
    return AccType::get(type.getContext(), type.getM(), type.getN(),
                        WarpsAttr::get(type.getContext(), shares.getWarps(), 1,
                                       /*interleave_m=*/1, kInterleave));
  }
};

class WgmmaDenseKernel final : public WgmmaKernel {
public:
  bool takesGroups() const override { return true; }
  bool takesPromotion() const override { return true; }
  OperandTransforms getTransforms(InstructionAttr) const override {
    return {OperandTransform::DequantizedInFront,
            OperandTransform::DequantizedInFront};
  }
  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    WarpSpecializedScheduleAttr schedule = getSchedule(problem);
    return ResultTile{
        schedule.getM(), schedule.getN(), {DenseRoles::getAccType(schedule)}};
  }

  bool holdsPairs(const KernelProblem &problem) const override {
    AccType type = DenseRoles::getAccType(getSchedule(problem));
    return getAccLowering(type).getPairs(type).has_value();
  }

protected:
  std::unique_ptr<SharedMemoryPlan>
  makePlan(const KernelProblem &problem) const override {
    return std::make_unique<SharedMemoryPlan>(
        problem.instruction.getInstruction(), getSchedule(problem));
  }
  void emitRoles(const RoleContext &context) const override {
    DenseRoles(context).emit();
  }
};
} // namespace

const GemmKernel &blockscale::getWgmmaDenseKernel() {
  static const WgmmaDenseKernel kernel;
  return kernel;
}
