//===- MmaTile.cpp - The tile of a block ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/MmaSync/MmaTile.h"

#include "Kernels/ElementwiseFusion.h"
#include "Kernels/SharedTiles/TileCopy.h"
#include "Utils/StoredCodes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// Emits the code of one tile.
class TileBuilder {
public:
  TileBuilder(OpBuilder &b, gpu::GPUFuncOp kernel, const KernelProblem &problem,
              const ProblemSizes &sizes, const MmaTile &tile, bool isGuarded)
      : kernel(kernel), problem(problem), sizes(sizes), tile(tile),
        isGuarded(isGuarded), schedule(problem.schedule), loc(kernel.getLoc()),
        stages(problem) {
    for (unsigned i = 0; i != batches.size(); ++i)
      batches[i] =
          getOperandBatch(b, kernel, problem.getOperand(i), tile.batch);
  }

  void build(OpBuilder &b) {
    SmallVector<Value> origin = {tile.batch, tile.row, tile.column};
    if (problem.resultType.getRank() == 2)
      origin.erase(origin.begin());
    auto accType =
        AccType::get(b.getContext(), schedule.getM(), schedule.getN(),
                     schedule.getWarpsM(), schedule.getWarpsN());
    Value acc;
    if (problem.producer)
      acc = buildProducer(b, accType);
    else if (problem.acc)
      acc = AccLoadOp::create(b, loc, accType, kernel.getArgument(*problem.acc),
                              origin, /*inBounds=*/!isGuarded);
    else
      acc = AccZeroOp::create(b, loc, accType);
    acc = buildLoop(b, acc);
    if (problem.consumer)
      buildConsumer(b, acc);
    else
      AccStoreOp::create(b, loc, acc, kernel.getArgument(problem.result),
                         origin, /*inBounds=*/!isGuarded);
  }

private:
  Value index(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  //===--------------------------------------------------------------------===//
  // Elementwise ops
  //===--------------------------------------------------------------------===//

  SmallVector<Value> getPosition(Value row, Value column) {
    if (problem.resultType.getRank() == 2)
      return {row, column};
    return {tile.batch, row, column};
  }

  /// The element of `fused` at (row, column); `product` is that of the product.
  Value buildElement(OpBuilder &b, const FusedElementwise &fused, Value row,
                     Value column, Value product) {
    return emitElement(
        b, fused.op, getPosition(row, column),
        [&](OpBuilder &at, Value input, ArrayRef<Value> indices) -> Value {
          if (input == fused.product)
            return product;
          Value argument = kernel.getArgument(fused.getArgument(input));
          if (!isa<MemRefType>(argument.getType()))
            return argument;
          return memref::LoadOp::create(at, loc, argument, indices);
        });
  }

  Value buildProducer(OpBuilder &b, AccType type) {
    auto op = AccGenerateOp::create(b, loc, type, tile.row, tile.column,
                                    sizes.m, sizes.n,
                                    /*inBounds=*/!isGuarded);
    Type indexType = b.getIndexType();
    OpBuilder::InsertionGuard guard(b);
    Block *body =
        b.createBlock(&op.getBody(), {}, {indexType, indexType}, {loc, loc});
    Value element = buildElement(b, *problem.producer, body->getArgument(0),
                                 body->getArgument(1), {});
    YieldOp::create(b, loc, element);
    return op;
  }

  void buildConsumer(OpBuilder &b, Value acc) {
    auto op = AccForEachOp::create(b, loc, acc, tile.row, tile.column, sizes.m,
                                   sizes.n,
                                   /*inBounds=*/!isGuarded);
    Type indexType = b.getIndexType();
    OpBuilder::InsertionGuard guard(b);
    Block *body =
        b.createBlock(&op.getBody(), {}, {b.getF32Type(), indexType, indexType},
                      {loc, loc, loc});
    Value row = body->getArgument(1), column = body->getArgument(2);
    Value element =
        buildElement(b, *problem.consumer, row, column, body->getArgument(0));
    memref::StoreOp::create(b, loc, element, kernel.getArgument(problem.result),
                            getPosition(row, column));
    YieldOp::create(b, loc);
  }

  //===--------------------------------------------------------------------===//
  // The loop along K
  //===--------------------------------------------------------------------===//

  /// Starts the copies of step number `step` to the stage at byte `offset`.
  void copyStage(OpBuilder &b, Value offset, Value step) {
    auto getArgument = [&](unsigned i) -> Value {
      return kernel.getArgument(i);
    };
    CopyContext context = {loc, getArgument, schedule.getNumThreads(),
                           tile.thread, isGuarded};
    const CopySource sources[] = {
        {batches[0], sizes.m, sizes.k, tile.row, step},
        {batches[1], sizes.m, sizes.blocks, tile.row, step},
        {batches[2], sizes.n, sizes.k, tile.column, step},
        {batches[3], sizes.n, sizes.blocks, tile.column, step}};
    // Elements first; for scales, some of the threads are enough.
    for (unsigned i : {0, 2, 1, 3})
      if (!stages.getTile(i).getShape().empty())
        stages.getTile(i).emit(b, context, getMemory(b, i, offset), sources[i]);
  }

  /// Tile number `i` of the stage at byte `offset`.
  Value getMemory(OpBuilder &b, unsigned i, Value offset) {
    const TileCopy &copy = stages.getTile(i);
    auto type = MemRefType::get(
        copy.getShape(), b.getI8Type(), MemRefLayoutAttrInterface(),
        cast<MemRefType>(tile.shared.getType()).getMemorySpace());
    Value at = offset;
    if (int64_t inStage = stages.getOffset(i))
      at = arith::AddIOp::create(b, loc, offset, index(b, inStage));
    return memref::ViewOp::create(b, loc, type, tile.shared, at, ValueRange());
  }

  Value multiplyStage(OpBuilder &b, Value offset, Value acc) {
    std::array<Value, 4> operands;
    for (unsigned i = 0; i != operands.size(); ++i) {
      const KernelOperand &operand = problem.getOperand(i);
      operands[i] =
          operand.splat
              ? Value(arith::ConstantIntOp::create(
                    b, loc, b.getI8Type(), static_cast<int8_t>(*operand.splat)))
              : getMemory(b, i, offset);
    }
    MLIRContext *context = b.getContext();
    auto getLayout = [&](unsigned i) {
      return TileLayoutAttr::get(context, stages.getTile(i).getLayout());
    };
    return TileMmaOp::create(b, loc, acc.getType(), operands[0], operands[1],
                             operands[2], operands[3], acc,
                             RowAttr::get(context, problem.row), getLayout(0),
                             getLayout(2));
  }

  /// Ends the group of copies that were started; null if there are none.
  Value commit(OpBuilder &b) {
    if (!stages.hasAsyncCopies())
      return {};
    return nvgpu::DeviceAsyncCreateGroupOp::create(
        b, loc, nvgpu::DeviceAsyncTokenType::get(b.getContext()), ValueRange());
  }

  /// Waits until at most `left` groups of this thread are on their way, and for
  /// all other threads to have waited.
  void wait(OpBuilder &b, int64_t left) {
    if (commitToken)
      nvgpu::DeviceAsyncWaitOp::create(
          b, loc, commitToken, b.getI32IntegerAttr(static_cast<int32_t>(left)));
    gpu::BarrierOp::create(b, loc);
  }

  Value buildLoop(OpBuilder &b, Value acc) {
    AffineExpr d0 = b.getAffineDimExpr(0);
    Value steps = applyMap(
        b, loc, AffineMap::get(1, 0, d0.ceilDiv(schedule.getK())), sizes.k)[0];
    // Steps that are on their way while one is multiplied.
    int64_t ahead = schedule.getStages() - 1;
    Value zero = index(b, 0), one = index(b, 1);
    int64_t stageBytes = stages.getStageBytes();
    for (int64_t i = 0; i != ahead; ++i) {
      Value step = index(b, i);
      emitIfBelow(b, step, steps, [&](OpBuilder &then) {
        copyStage(then, index(then, i * stageBytes), step);
      });
      commitToken = commit(b);
    }
    // The stages that are multiplied and filled next. What is filled is what
    // was multiplied in the step before.
    Value first = zero, next = index(b, ahead * stageBytes);
    auto loop = scf::ForOp::create(b, loc, zero, steps, one,
                                   ValueRange{acc, first, next});
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    Value step = loop.getInductionVar();
    Value current = loop.getRegionIterArg(1), filled = loop.getRegionIterArg(2);
    if (ahead == 0) {
      copyStage(inner, current, step);
      commitToken = commit(inner);
      wait(inner, 0);
    } else {
      // All threads are done with the stage that is filled now: they multiplied
      // it in the step before.
      wait(inner, ahead - 1);
      Value aheadStep =
          arith::AddIOp::create(inner, loc, step, index(inner, ahead));
      emitIfBelow(inner, aheadStep, steps,
                  [&](OpBuilder &then) { copyStage(then, filled, aheadStep); });
      commit(inner);
    }
    Value sum = multiplyStage(inner, current, loop.getRegionIterArg(0));
    if (ahead == 0 && getConstantIntValue(steps) != 1)
      gpu::BarrierOp::create(inner, loc);
    scf::YieldOp::create(inner, loc,
                         ValueRange{sum, advance(inner, current), current});
    return loop.getResult(0);
  }

  /// `body` where `step` is below `steps`; nothing to ask where both are known,
  /// and for the first step, which there always is.
  void emitIfBelow(OpBuilder &b, Value step, Value steps,
                   function_ref<void(OpBuilder &)> body) {
    std::optional<int64_t> known = getConstantIntValue(step);
    std::optional<int64_t> limit = getConstantIntValue(steps);
    if (known == 0 || (known && limit && *known < *limit))
      return body(b);
    if (known && limit)
      return;
    Value isStep =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, step, steps);
    auto guard = scf::IfOp::create(b, loc, isStep);
    OpBuilder then = guard.getThenBodyBuilder();
    body(then);
  }

  /// The stage after the one at byte `offset`, in a circle.
  Value advance(OpBuilder &b, Value offset) {
    if (schedule.getStages() == 1)
      return offset;
    int64_t stageBytes = stages.getStageBytes();
    Value next = arith::AddIOp::create(b, loc, offset, index(b, stageBytes));
    Value isEnd =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next,
                              index(b, stageBytes * schedule.getStages()));
    return arith::SelectOp::create(b, loc, isEnd, index(b, 0), next);
  }

  gpu::GPUFuncOp kernel;
  const KernelProblem &problem;
  const ProblemSizes &sizes;
  const MmaTile &tile;
  bool isGuarded;
  ScheduleAttr schedule;
  Location loc;
  SharedStages stages;
  std::array<Value, 4> batches;
  Value commitToken;
};
} // namespace

void blockscale::buildMmaTile(OpBuilder &builder, gpu::GPUFuncOp kernel,
                              const KernelProblem &problem,
                              const ProblemSizes &sizes, const MmaTile &tile,
                              bool isGuarded) {
  TileBuilder(builder, kernel, problem, sizes, tile, isGuarded).build(builder);
}
