//===- MixedInputRoles.cpp - Warp roles of mixed input --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// K of a stage is sliced over MMA warpgroups. Each slice has stages of its own
// and a contiguous range of K, so that lanes load the scales of a step at once,
// one step ahead. The loop is not unrolled: ptxas would keep more addresses in
// registers than there are.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/MixedInput/MixedInputRoles.h"

#include "Kernels/Gemm/Problem/ScalarSlice.h"
#include "Utils/AccFragment.h"
#include "blockscale/Support/TensorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::blockscale;

MixedInputRoles::MixedInputRoles(const RoleContext &context)
    : WarpgroupRoles(context),
      accType(AccType::get(
          b.getContext(), getAccumulatorRows(plan.getSchedule()),
          plan.getSchedule().getM(),
          WarpColumnsAttr::get(b.getContext(), shares.getWarpsOfSlice()))),
      flag(addSharedArray(kernel, b.getI32Type(), 1)),
      areSlicesWhole(KernelProblem::isMultiple(problem.k, plan.getSliceK())) {}

std::optional<AccType>
MixedInputRoles::getTypeInRows(const SharedMemoryPlan &plan,
                               int64_t columnsOfWarp, int64_t interleave) {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  MLIRContext *context = schedule.getContext();
  int64_t rows = getAccumulatorRows(schedule), columns = schedule.getM();
  int64_t warps = WgmmaShares(schedule).getWarpsOfSlice();
  if (rows * getPitch(schedule) * kAccumulatorBytes > plan.getStagesBytes())
    return std::nullopt;
  for (int64_t across = 1; across <= warps; across *= 2)
    if (rows % (warps / across * getAccFragment().rows) == 0 &&
        columns % (across * columnsOfWarp) == 0)
      return AccType::get(context, rows, columns,
                          WarpsAttr::get(context, warps / across, across,
                                         /*interleave_m=*/1, interleave));
  return std::nullopt;
}

std::optional<AccType>
MixedInputRoles::getBlocksType(const SharedMemoryPlan &plan) {
  // The columns of the largest scale blocks.
  constexpr int64_t kBlock = 32;
  return getTypeInRows(plan, kBlock, /*interleave=*/1);
}

AccType
MixedInputRoles::getTransposedType(WarpSpecializedScheduleAttr schedule) {
  MLIRContext *context = schedule.getContext();
  return AccType::get(
      context, schedule.getM(), getAccumulatorRows(schedule),
      WarpsAttr::get(context, WgmmaShares(schedule).getWarpsOfSlice(), 1));
}

/// With more than two columns of a row in a lane, stores have whole sectors.
std::optional<AccType> MixedInputRoles::getRunsType() {
  constexpr int64_t kMost = 4, kLeast = 2, kMostBits = 128;
  Type element =
      getElementTypeOrSelf(kernel.getArgument(problem.result).getType());
  if (!element.isIntOrFloat())
    return std::nullopt;
  unsigned bits = element.getIntOrFloatBitWidth();
  int64_t columns = problem.hasPairs() ? kColumnsOfLane / 2 : kColumnsOfLane;
  for (int64_t interleave = kMost; interleave >= kLeast; interleave /= 2)
    if (interleave * columns * bits <= kMostBits)
      if (std::optional<AccType> type = getTypeInRows(
              plan, interleave * getAccFragment().columns, interleave))
        return type;
  return std::nullopt;
}

Value MixedInputRoles::emitSliceStep(OpBuilder &at, const WorkTile &tile,
                                     Value of, Value step) const {
  AffineExpr d0, d1, d2;
  bindDims(at.getContext(), d0, d1, d2);
  Value result = applyExprs(at, loc, d0 * d1 + d2, {of, tile.steps, step})[0];
  if (!tile.firstStep)
    return result;
  return applyExprs(at, loc, d0 + d1 * shares.slicesOfK,
                    {result, tile.firstStep})[0];
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

int64_t MixedInputRoles::getNumEarly() const {
  constexpr int64_t kMost = 1;
  // A kernel for a dynamic K runs only if there is a step.
  if (ShapedType::isDynamic(problem.k) || ShapedType::isDynamic(problem.splitK))
    return kMost;
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  return std::min(kMost, problem.k / (schedule.getK() * problem.splitK));
}

void MixedInputRoles::emitStepCopies(OpBuilder &at, const WorkTile &tile,
                                     Value step, const PipelineState &state,
                                     Sides sides) {
  for (int64_t i = 0; i != shares.slicesOfK; ++i) {
    Value of = index(at, i);
    Pipeline pipeline = stages.getSlice(of);
    if (sides == Sides::Both)
      pipeline.emitWaitEmpty(at, state);
    Value sliceStep = emitSliceStep(at, tile, of, step);
    emitElected(at, [&](OpBuilder &one) {
      if (sides != Sides::B)
        emitExpected(one, pipeline, state);
      emitCopies(one, tile, sliceStep, pipeline, state, sides);
    });
  }
}

/// The copies of y for the first stage start before the kernel in front, which
/// writes the bf16 values of x, has ended. Copies complete in order: with y of
/// more stages in front, the copies of x would come late.
void MixedInputRoles::emitLoader(OpBuilder role) {
  forEachTile(role, {}, [&](OpBuilder &in, const WorkTile &tile, ValueRange) {
    OpBuilder at = in;
    if (tile.group) {
      // Rows of nobody have no steps.
      Value isStep = isBelow(in, loc, index(in, 0), tile.steps);
      at = scf::IfOp::create(in, loc, isStep).getThenBodyBuilder();
    }
    PipelineState state = stages.emitFirst(at);
    int64_t first = getNumEarly();
    auto emitRound = [&](Sides sides) {
      for (int64_t i = 0; i != first; ++i)
        emitStepCopies(at, tile, index(at, i), {word(at, i), state.parity},
                       sides);
    };
    emitRound(Sides::A);
    emitWait(at);
    emitRound(Sides::B);
    int64_t numStages = stages.getNumStages();
    state = {word(at, first % numStages), word(at, first / numStages)};
    Value count = toWord(at, addIndex(at, loc, tile.steps, -first));
    SmallVector<Value> none;
    emitSteps(at, state, count, /*isUnrolled=*/false, none,
              [&](OpBuilder &inner, Value step, const PipelineState &inside,
                  ValueRange) {
                emitStepCopies(
                    inner, tile,
                    addIndex(inner, loc, toIndex(inner, step), first), inside,
                    Sides::Both);
                return SmallVector<Value>();
              });
    return SmallVector<Value>();
  });
}

int64_t MixedInputRoles::getUnit(GemmOperand id) const {
  if (getInfo(id).isScale)
    return problem.quantizedB->blockSize;
  return getGranularityInfo(*problem.quantizedB->sparsity).elementsPerByte();
}

Value MixedInputRoles::emitBytesOfRow(OpBuilder &at, GemmOperand id) const {
  AffineExpr k = at.getAffineDimExpr(0);
  return applyExprs(at, loc, {k.floorDiv(getUnit(id))}, sizes.k)[0];
}

int64_t MixedInputRoles::getBytesOfSlice(GemmOperand id) const {
  return plan.getSliceK() / getUnit(id);
}

int64_t MixedInputRoles::getWidth(GemmOperand id) const {
  const KernelOperand &operand = problem[id];
  constexpr int64_t kMostBytes = 16;
  int64_t bytes = getBytesOfSlice(id), width = 1;
  if (operand.contiguity == Contiguity::Atoms)
    return std::min(bytes,
                    getInfo(id).isScale ? kBlocksOfWord : kMetadataAtomBytes);
  int64_t alignment = operand.getStrideAlignment();
  if (areSlicesWhole && ShapedType::isDynamic(problem.k))
    alignment = std::lcm(alignment, bytes);
  if (operand.contiguity == Contiguity::Columns)
    while (width < std::min(bytes, kMostBytes) && alignment % (2 * width) == 0)
      width *= 2;
  return width;
}

SmallVector<Value> MixedInputRoles::loadByteWords(OpBuilder &at, GemmOperand id,
                                                  ValueRange element) {
  const KernelOperand &operand = problem[id];
  int64_t bytes = getBytesOfSlice(id), width = getWidth(id);
  Type wordType = at.getI32Type();
  SmallVector<Value> words;
  AffineExpr d0 = at.getAffineDimExpr(0);
  for (int64_t byte = 0; byte != bytes; byte += width) {
    SmallVector<Value> from(element);
    from.back() = applyExprs(at, loc, {d0 + byte}, element.back())[0];
    if (!areSlicesWhole) {
      Value last = applyExprs(at, loc, {d0.ceilDiv(width) * width - width},
                              emitBytesOfRow(at, id))[0];
      from.back() = arith::MinUIOp::create(at, loc, from.back(), last);
    }
    int64_t inWord = byte % kBlocksOfWord;
    Value loaded =
        vector::LoadOp::create(at, loc, VectorType::get(width, at.getI8Type()),
                               kernel.getArgument(operand.argument),
                               applyMap(at, loc, operand.map, from),
                               /*nontemporal=*/false, llvm::MaybeAlign(width));
    int64_t count = std::max<int64_t>(width / kBlocksOfWord, 1);
    int64_t bits = std::min(width, kBlocksOfWord) * 8;
    loaded = vector::BitCastOp::create(
        at, loc, VectorType::get(count, at.getIntegerType(bits)), loaded);
    for (int64_t i = 0; i != count; ++i) {
      Value word = vector::ExtractOp::create(at, loc, loaded, i);
      word = at.createOrFold<arith::ExtUIOp>(loc, wordType, word);
      if (inWord == 0) {
        words.push_back(word);
        continue;
      }
      word =
          arith::ShLIOp::create(at, loc, word, makeWord(at, loc, 8 * inWord));
      words.back() = arith::OrIOp::create(at, loc, words.back(), word);
    }
  }
  return words;
}

SmallVector<Value> MixedInputRoles::loadScalesAndMetadata(OpBuilder &at,
                                                          const WorkTile &tile,
                                                          Value step) {
  SmallVector<Value> words = loadBytes(at, tile, step, GemmOperand::SFA);
  if (problem.quantizedB->sparsity)
    llvm::append_range(words, loadBytes(at, tile, step, GemmOperand::E));
  return words;
}

SmallVector<Value> MixedInputRoles::loadBytes(OpBuilder &at,
                                              const WorkTile &tile, Value step,
                                              GemmOperand id) {
  const KernelOperand &operand = problem[id];
  int64_t bytes = getBytesOfSlice(id);
  if (operand.splat) {
    constexpr uint32_t kBytes = 0x01010101;
    Value word = makeWord(at, loc, *operand.splat * kBytes);
    return SmallVector<Value>(
        kRowsOfLane * llvm::divideCeilSigned(bytes, kBlocksOfWord), word);
  }
  AffineExpr d0, d1, d2;
  bindDims(at.getContext(), d0, d1, d2);
  Value row =
      applyExprs(at, loc,
                 d0 +
                     d1.floorDiv(int64_t(kWarpLanes)) %
                         shares.getWarpsOfSlice() * getAccFragment().rows +
                     getAccPosition(d2, /*reg=*/0).row,
                 {tile.row, thread, lane})[0];
  // Elements beyond the operand are multiplied with zeros: any bytes will do.
  auto limit = [&](Value value, Value size, int64_t least) {
    Value last = addIndex(at, loc, size, -least);
    return at.createOrFold<arith::MinUIOp>(loc, value, last);
  };
  Value first = applyExprs(at, loc, {d0 * bytes}, step)[0];
  if (areSlicesWhole &&
      (ShapedType::isDynamic(problem.splitK) ||
       ShapedType::isDynamic(problem.k) ||
       problem.k % (plan.getSchedule().getK() * problem.splitK) != 0))
    first = limit(first, emitBytesOfRow(at, id), bytes);
  Value batch = getOperandBatch(at, kernel, operand, tile.matrix);
  SmallVector<Value> rows;
  for (int64_t i = 0; i != kRowsOfLane; ++i) {
    Value from = addIndex(at, loc, row, i * kGroupRows);
    if (!KernelProblem::isMultiple(problem.m, plan.getSchedule().getM()))
      from = limit(from, sizes.m, 1);
    rows.push_back(from);
  }
  SmallVector<Value> words;
  for (Value from : rows)
    llvm::append_range(words, loadByteWords(at, id, {batch, from, first}));
  return words;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value MixedInputRoles::emitStart(OpBuilder &at, const WorkTile &) {
  return word(at, 0);
}

SmallVector<Value> MixedInputRoles::emitProducts(OpBuilder &at,
                                                 const WorkTile &, Value,
                                                 const PipelineState &state,
                                                 Value quantized,
                                                 ValueRange values) {
  MLIRContext *context = at.getContext();
  int64_t rows = plan.getSchedule().getN();
  Value bTile =
      emitView(at,
               {plan.getBytes(GemmOperand::B) / (rows * kSwizzleRowBytes), rows,
                kSwizzleRowBytes},
               at.getI8Type(),
               emitStageOffset(at, stages.getSlice(slice), state,
                               plan.getOffset(GemmOperand::B)));
  // Scales, and the metadata behind them.
  ValueRange words = values.drop_front(2);
  auto numScales = static_cast<size_t>(
      kRowsOfLane *
      llvm::divideCeilSigned(getBytesOfSlice(GemmOperand::SFA), kBlocksOfWord));
  auto product = WarpgroupMmaMixedOp::create(
      at, loc, accType, at.getI32Type(), quantized, bTile, values[0], values[1],
      words.take_front(numScales), words.drop_front(numScales), tensorScale,
      TypeCombinationAttr::get(context, *problem.quantizedB), getInstruction(),
      TileLayoutAttr::get(context, getElements(/*isA=*/false).layout));
  auto wait = WarpgroupWaitOp::create(at, loc, TypeRange(accType),
                                      product.getResult(), /*pending=*/0);
  return {wait.getResult(0), product.getAllInexact()};
}

SmallVector<Value> MixedInputRoles::emitStep(OpBuilder &at,
                                             const WorkTile &tile, Value step,
                                             const PipelineState &state,
                                             ValueRange values) {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  step = toIndex(at, step);
  // The last step loads its own scales again.
  Value next = arith::MinUIOp::create(at, loc, addIndex(at, loc, step, 1),
                                      addIndex(at, loc, tile.steps, -1));
  SmallVector<Value> scales =
      loadScalesAndMetadata(at, tile, emitSliceStep(at, tile, slice, next));

  Pipeline pipeline = stages.getSlice(slice);
  pipeline.emitWaitFull(at, state);
  int64_t chunkBytes = schedule.getM() * kQuantizedChunkBytes;
  Value quantized = emitView(
      at,
      {plan.getBytes(GemmOperand::A) / chunkBytes, schedule.getM(),
       kQuantizedChunkBytes},
      at.getI8Type(),
      emitStageOffset(at, pipeline, state, plan.getOffset(GemmOperand::A)));
  SmallVector<Value> results =
      emitProducts(at, tile, step, state, quantized, values);
  emitElected(at, [&](OpBuilder &one) {
    BarrierArriveOp::create(one, loc, barriers, pipeline.emitEmpty(one, state),
                            IntegerAttr());
  });
  llvm::append_range(results, scales);
  return results;
}

static void emitBarrier(OpBuilder &at, Location loc, Value barrier,
                        Value threads) {
  NVVM::BarrierOp::create(at, loc, TypeRange(), barrier, threads,
                          NVVM::BarrierReductionAttr(), Value());
}

void MixedInputRoles::emitMmaBarrier(OpBuilder &at) {
  // Barrier 0 is the one of all warps.
  constexpr int64_t kBarrier = 1;
  emitBarrier(at, loc, word(at, kBarrier),
              word(at, shares.getWarps() * int64_t(kWarpLanes)));
}

void MixedInputRoles::emitSliceBarrier(OpBuilder &at) {
  constexpr int64_t kBarrier = 2;
  emitBarrier(at, loc, word(at, kBarrier),
              word(at, shares.getWarpsOfSlice() * int64_t(kWarpLanes)));
}

void MixedInputRoles::emitFirst(OpBuilder &one) {
  memref::StoreOp::create(one, loc, word(one, 0), flag, index(one, 0));
}

void MixedInputRoles::emitInexact(OpBuilder &at, Value inexact) {
  // All threads that store have the same value.
  Value isInexact = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ne,
                                          inexact, word(at, 0));
  Value isAny = NVVM::VoteSyncOp::create(at, loc, at.getI1Type(), word(at, -1),
                                         isInexact, NVVM::VoteSyncKind::any);
  OpBuilder then = scf::IfOp::create(at, loc, isAny).getThenBodyBuilder();
  memref::AtomicRMWOp::create(then, loc, then.getI32Type(),
                              arith::AtomicRMWKind::ori, word(then, 1), flag,
                              index(then, 0));
  emitMmaBarrier(at);
}

void MixedInputRoles::emitFlagEpilogue(OpBuilder &at, const WorkTile &tile) {
  Value zero = index(at, 0);
  Value isFirst = isEqual(at, loc, thread, zero);
  OpBuilder then = scf::IfOp::create(at, loc, isFirst).getThenBodyBuilder();
  Value any = memref::LoadOp::create(then, loc, flag, index(then, 0));
  Value isAny = arith::CmpIOp::create(then, loc, arith::CmpIPredicate::ne, any,
                                      word(then, 0));
  // One that the kernel in front has set may stay, so one is enough.
  OpBuilder set = scf::IfOp::create(then, loc, isAny).getThenBodyBuilder();
  Value flags = kernel.getArgument(problem.getInexactFlags());
  Value number = tile.group ? emitGroupFlag(set, loc, problem, kernel, flags,
                                            tile.group->number)
                            : zero;
  memref::StoreOp::create(set, loc, any, flags, number);
}

Value MixedInputRoles::emitPartialsView(OpBuilder &at, int64_t count) {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  return emitView(at, {count, getAccumulatorRows(schedule), getPitch(schedule)},
                  at.getF32Type(), index(at, 0));
}

Value MixedInputRoles::emitInRows(OpBuilder &at, Value sums, AccType type) {
  Value memory = emitPartialsView(at, 1), zero = index(at, 0);
  SmallVector<Value> start(3, zero);
  // A lane stores where it has read the partial accumulators of another slice.
  AccStoreOp::create(at, loc, sums, memory, start, /*in_bounds=*/true);
  emitSliceBarrier(at);
  return AccLoadOp::create(at, loc, type, memory, start, /*in_bounds=*/true);
}

void MixedInputRoles::emitTransposedSums(OpBuilder &at, const WorkTile &tile,
                                         Value sums) {
  Value result = AccTransposeOp::create(
      at, loc, getTransposedType(plan.getSchedule()), sums);
  // Values inside of the result are stored in pairs.
  emitByBounds(at, tile, KernelProblem::isMultiple(problem.n, kColumnsOfLane),
               [&](OpBuilder &path, bool isGuarded) {
                 BlockTile inResult = tile;
                 inResult.isGuarded = isGuarded;
                 emitStore(path, sizes, inResult, result);
               });
}

void MixedInputRoles::emitSums(OpBuilder &at, const WorkTile &tile,
                               Value sums) {
  if (!plan.getSchedule().getSwapAb())
    return emitTransposedSums(at, tile, sums);
  auto store = [&](OpBuilder &path, Value of, bool isGuarded,
                   bool hasAlignedRows) {
    BlockTile inResult = tile;
    inResult.isGuarded = isGuarded;
    inResult.hasAlignedRows = hasAlignedRows;
    std::swap(inResult.row, inResult.column);
    ProblemSizes ofResult = sizes;
    std::swap(ofResult.m, ofResult.n);
    emitStore(path, ofResult, inResult, of);
  };
  // With GEMV, only one row of the accumulator is inside of the result.
  if (plan.isGemv())
    return store(at, sums, /*isGuarded=*/true, /*hasAlignedRows=*/false);
  auto storeByBounds = [&](OpBuilder &path, Value of) {
    emitByBounds(path, tile, /*isAligned=*/true,
                 [&](OpBuilder &inner, bool isGuarded) {
                   store(inner, of, isGuarded, /*hasAlignedRows=*/false);
                 });
  };
  if (problem.quantizer)
    return storeByBounds(at, emitInRows(at, sums, *getBlocksType(plan)));
  constexpr int64_t kAligned = 8;
  std::optional<AccType> runs = getRunsType();
  // With pairs, rows are whole blocks of them.
  bool isDynamic = ShapedType::isDynamic(problem.m) && !problem.hasPairs();
  if (!runs || (!isDynamic && !problem.hasPairs() && problem.m % kAligned != 0))
    return storeByBounds(at, sums);
  auto storeRuns = [&](OpBuilder &path) {
    Value inRows = emitInRows(path, sums, *runs);
    emitByBounds(path, tile, /*isAligned=*/true,
                 [&](OpBuilder &inner, bool isGuarded) {
                   store(inner, inRows, isGuarded, /*hasAlignedRows=*/true);
                 });
  };
  if (!isDynamic)
    return storeRuns(at);
  AffineExpr d0 = at.getAffineDimExpr(0);
  Value rest = applyExprs(at, loc, {d0 % kAligned}, sizes.m)[0];
  auto branch = scf::IfOp::create(at, loc, isEqual(at, loc, rest, index(at, 0)),
                                  /*withElseRegion=*/true);
  OpBuilder aligned = branch.getThenBodyBuilder(),
            other = branch.getElseBodyBuilder();
  storeRuns(aligned);
  store(other, sums, /*isGuarded=*/true, /*hasAlignedRows=*/false);
}

Value MixedInputRoles::emitSum(OpBuilder &at, Value sums) {
  Value memory = emitPartialsView(at, shares.slicesOfK - 1);
  Value zero = index(at, 0);
  Value isOther =
      arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ne, slice, zero);
  OpBuilder then = scf::IfOp::create(at, loc, isOther).getThenBodyBuilder();
  AccStoreOp::create(then, loc, sums, memory,
                     ValueRange{addIndex(then, loc, slice, -1), zero, zero},
                     /*in_bounds=*/true);
  emitMmaBarrier(at);
  return memory;
}

SmallVector<Value> MixedInputRoles::emitMainloop(OpBuilder &at,
                                                 const WorkTile &tile,
                                                 const PipelineState &first) {
  SmallVector<Value> scales = loadScalesAndMetadata(
      at, tile, emitSliceStep(at, tile, slice, index(at, 0)));
  SmallVector<Value> values = {AccZeroOp::create(at, loc, accType),
                               emitStart(at, tile)};
  llvm::append_range(values, scales);
  emitSteps(at, first, toWord(at, tile.steps), /*isUnrolled=*/false, values,
            [&](OpBuilder &inner, Value step, const PipelineState &state,
                ValueRange before) {
              return emitStep(inner, tile, step, state, before);
            });
  return SmallVector<Value>(ArrayRef(values).take_front(2));
}

/// Two mainloops for a dynamic K: where it has whole slices, scales are loaded
/// as with a static K. A branch around each load would cost more.
SmallVector<Value> MixedInputRoles::emitMainloops(OpBuilder &at,
                                                  const WorkTile &tile,
                                                  const PipelineState &first) {
  if (!ShapedType::isDynamic(problem.k))
    return emitMainloop(at, tile, first);
  AffineExpr k = at.getAffineDimExpr(0);
  Value rest = applyExprs(at, loc, {k % plan.getSliceK()}, sizes.k)[0];
  auto branch = scf::IfOp::create(at, loc, TypeRange{accType, at.getI32Type()},
                                  isEqual(at, loc, rest, index(at, 0)),
                                  /*withElseRegion=*/true);
  for (bool isWhole : {true, false}) {
    OpBuilder inner =
        isWhole ? branch.getThenBodyBuilder() : branch.getElseBodyBuilder();
    areSlicesWhole = isWhole;
    scf::YieldOp::create(inner, loc, emitMainloop(inner, tile, first));
  }
  return llvm::to_vector_of<Value>(branch.getResults());
}

void MixedInputRoles::emitTile(OpBuilder &at, const WorkTile &tile,
                               const PipelineState &first) {
  SmallVector<Value> values = emitMainloops(at, tile, first);
  // All stages have been read behind this.
  emitInexact(at, values[1]);
  emitFlagEpilogue(at, tile);
  Value own = emitEnd(at, values[0]);
  if (shares.slicesOfK == 1)
    return emitSums(at, tile, emitFinal(at, own));
  Value memory = emitSum(at, own);
  Value isFirst = isEqual(at, loc, slice, index(at, 0));
  OpBuilder then = scf::IfOp::create(at, loc, isFirst).getThenBodyBuilder();
  Value sums = own, start = index(then, 0);
  for (int64_t i = 1; i != shares.slicesOfK; ++i) {
    Value others = AccLoadOp::create(
        then, loc, accType, memory,
        ValueRange{index(then, i - 1), start, start}, /*in_bounds=*/true);
    sums = AccAddOp::create(then, loc, sums, others);
  }
  emitSums(then, tile, emitFinal(then, sums));
}

void MixedInputRoles::emitConsumer(OpBuilder role) {
  // The kernel behind, an exact recomputation, usually has nothing to do.
  NVVM::GriddepcontrolOp::create(role, loc,
                                 NVVM::GridDepActionKind::launch_dependents);
  emitWait(role);
  tensorScale = emitScalar(role, kernel, problem.tensorScale);
  thread = gpu::ThreadIdOp::create(role, loc, gpu::Dimension::x);
  lane = gpu::LaneIdOp::create(role, loc, /*upperBound=*/IntegerAttr());
  AffineExpr d0 = role.getAffineDimExpr(0);
  // Tells ptxas that all lanes of a warp have the same K slice: then it keeps
  // descriptors in uniform registers, without moves for each wgmma.
  constexpr int32_t kAllLanes = -1, kWholeWarp = 31;
  Value number = toWord(
      role,
      applyExprs(role, loc,
                 {d0.floorDiv(int64_t(kWarpLanes) * shares.getWarpsOfSlice())},
                 thread)[0]);
  number = NVVM::ShflOp::create(
      role, loc, role.getI32Type(), word(role, kAllLanes), number,
      word(role, 0), word(role, kWholeWarp), NVVM::ShflKind::idx, UnitAttr());
  slice = arith::IndexCastUIOp::create(role, loc, role.getIndexType(), number);
  PipelineState first = stages.emitFirst(role);
  forEachTile(role, {}, [&](OpBuilder &at, const WorkTile &tile, ValueRange) {
    emitTile(at, tile, first);
    return SmallVector<Value>();
  });
}
