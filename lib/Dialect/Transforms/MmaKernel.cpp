//===- MmaKernel.cpp - A block of warps per tile --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeAccess.h"
#include "ElementwiseFusion.h"
#include "TileCopy.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Static shared memory that a kernel may have on every chip.
static constexpr int64_t kMaxStaticShared = 48 * 1024;

namespace {

class MmaKernel {
public:
  MmaKernel(gpu::GPUFuncOp kernel, const KernelProblem &problem)
      : kernel(kernel), problem(problem), schedule(problem.schedule),
        loc(kernel.getLoc()), stages(problem) {}

  void build() {
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    shared = makeSharedMemory(b);
    thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    batch = gpu::BlockIdOp::create(b, loc, gpu::Dimension::z);
    auto [blockM, blockN] = getBlock(b);
    firstRow = multiply(b, blockM, schedule.getM());
    firstColumn = multiply(b, blockN, schedule.getN());
    buildTile(b, !isAligned());
    gpu::ReturnOp::create(b, loc);
  }

private:
  Value index(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  Value multiply(OpBuilder &b, Value value, int64_t factor) {
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    return applyMap(b, loc, AffineMap::get(1, 0, d0 * factor), value)[0];
  }

  Value makeSharedMemory(OpBuilder &b) {
    MLIRContext *context = b.getContext();
    auto space =
        gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
    auto getType = [&](int64_t size) {
      return MemRefType::get({size}, b.getI8Type(), MemRefLayoutAttrInterface(),
                             space);
    };
    int64_t bytes = stages.getNumBytes();
    if (bytes > kMaxStaticShared)
      return gpu::DynamicSharedMemoryOp::create(b, loc,
                                                getType(ShapedType::kDynamic));
    Value memory = kernel.addWorkgroupAttribution(
        getType(std::max<int64_t>(bytes, 1)), loc);
    kernel.setWorkgroupAttributionAttr(kernel.getNumWorkgroupAttributions() - 1,
                                       LLVM::LLVMDialect::getAlignAttrName(),
                                       b.getI64IntegerAttr(kBankLineBytes));
    return memory;
  }

  /// No block reaches beyond the operands.
  bool isAligned() {
    return problem.getM() % schedule.getM() == 0 &&
           problem.getN() % schedule.getN() == 0 &&
           problem.getK() % schedule.getK() == 0;
  }

  /// The tile of this block, in M and N. Blocks that run at the same time are
  /// those of neighboring numbers: they take a few tiles along M by as many
  /// along N as it takes, not a long row of tiles, so that they share operands
  /// in the L2 cache.
  std::pair<Value, Value> getBlock(OpBuilder &b) {
    constexpr int64_t kGroup = 8;
    Value x = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value y = gpu::BlockIdOp::create(b, loc, gpu::Dimension::y);
    int64_t tilesM = llvm::divideCeilSigned(problem.getM(), schedule.getM());
    int64_t tilesN = llvm::divideCeilSigned(problem.getN(), schedule.getN());
    if (tilesM <= kGroup || tilesN == 1)
      return {x, y};
    AffineExpr d0, d1, d2, d3;
    bindDims(b.getContext(), d0, d1, d2, d3);
    AffineExpr number = d1 * tilesM + d0;
    int64_t perGroup = kGroup * tilesN;
    SmallVector<Value> at = applyMap(
        b, loc,
        AffineMap::get(2, 0,
                       {number.floorDiv(perGroup) * kGroup, number % perGroup},
                       b.getContext()),
        {x, y});
    if (tilesM % kGroup == 0) {
      SmallVector<Value> block =
          applyMap(b, loc,
                   AffineMap::get(2, 0, {d0 + d1 % kGroup, d1.floorDiv(kGroup)},
                                  b.getContext()),
                   at);
      return {block[0], block[1]};
    }
    // The last group has fewer tiles along M.
    Value left = arith::SubIOp::create(b, loc, index(b, tilesM), at[0]);
    Value rows = arith::MinUIOp::create(b, loc, left, index(b, kGroup));
    Value inGroup = arith::RemUIOp::create(b, loc, at[1], rows);
    Value blockM = arith::AddIOp::create(b, loc, at[0], inGroup);
    Value blockN = arith::DivUIOp::create(b, loc, at[1], rows);
    return {blockM, blockN};
  }

  void buildTile(OpBuilder &b, bool isGuarded) {
    SmallVector<Value> origin = {batch, firstRow, firstColumn};
    if (problem.resultType.getRank() == 2)
      origin.erase(origin.begin());
    auto accType =
        AccType::get(b.getContext(), schedule.getM(), schedule.getN(),
                     schedule.getWarpsM(), schedule.getWarpsN());
    Value acc;
    if (problem.producer)
      acc = buildProducer(b, accType, isGuarded);
    else if (problem.acc)
      acc = AccLoadOp::create(b, loc, accType, kernel.getArgument(*problem.acc),
                              origin, /*inBounds=*/!isGuarded);
    else
      acc = AccZeroOp::create(b, loc, accType);
    acc = buildLoop(b, acc, isGuarded);
    if (problem.consumer)
      buildConsumer(b, acc, isGuarded);
    else
      AccStoreOp::create(b, loc, acc, kernel.getArgument(problem.result),
                         origin, /*inBounds=*/!isGuarded);
  }

  //===--------------------------------------------------------------------===//
  // Elementwise ops
  //===--------------------------------------------------------------------===//

  SmallVector<Value> getPosition(Value row, Value column) {
    if (problem.resultType.getRank() == 2)
      return {row, column};
    return {batch, row, column};
  }

  /// The element of `fused` at (row, column); `product` is that of the product.
  Value buildElement(OpBuilder &b, const FusedElementwise &fused, Value row,
                     Value column, Value product) {
    return emitElement(
        b, fused.op, getPosition(row, column),
        [&](OpBuilder &at, unsigned i, ArrayRef<Value> indices) -> Value {
          if (i == fused.product)
            return product;
          return memref::LoadOp::create(
              at, loc, kernel.getArgument(fused.arguments[i]), indices);
        });
  }

  Value buildProducer(OpBuilder &b, AccType type, bool isGuarded) {
    Value m = index(b, problem.getM()), n = index(b, problem.getN());
    auto op = AccGenerateOp::create(b, loc, type, firstRow, firstColumn, m, n,
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

  void buildConsumer(OpBuilder &b, Value acc, bool isGuarded) {
    Value m = index(b, problem.getM()), n = index(b, problem.getN());
    auto op = AccForEachOp::create(b, loc, acc, firstRow, firstColumn, m, n,
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
  void copyStage(OpBuilder &b, Value offset, Value step, bool isGuarded) {
    auto getArgument = [&](unsigned i) -> Value {
      return kernel.getArgument(i);
    };
    CopyContext context = {loc,    getArgument, schedule.getNumThreads(),
                           thread, batch,       isGuarded};
    const Value origins[] = {firstRow, firstRow, firstColumn, firstColumn};
    // Elements first; for scales, some of the threads are enough.
    for (unsigned i : {0, 2, 1, 3})
      if (!stages.getTile(i).getShape().empty())
        stages.getTile(i).emit(b, context, getMemory(b, i, offset), origins[i],
                               step);
  }

  /// Tile number `i` of the stage at byte `offset`.
  Value getMemory(OpBuilder &b, unsigned i, Value offset) {
    const TileCopy &tile = stages.getTile(i);
    auto type = MemRefType::get(
        tile.getShape(), b.getI8Type(), MemRefLayoutAttrInterface(),
        cast<MemRefType>(shared.getType()).getMemorySpace());
    Value at = offset;
    if (int64_t inStage = stages.getOffset(i))
      at = arith::AddIOp::create(b, loc, offset, index(b, inStage));
    return memref::ViewOp::create(b, loc, type, shared, at, ValueRange());
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

  Value buildLoop(OpBuilder &b, Value acc, bool isGuarded) {
    int64_t numSteps = llvm::divideCeilSigned(problem.getK(), schedule.getK());
    // Steps that are on their way while one is multiplied.
    int64_t ahead = schedule.getStages() - 1;
    Value zero = index(b, 0), one = index(b, 1);
    Value steps = index(b, numSteps);
    int64_t stageBytes = stages.getStageBytes();
    for (int64_t i = 0; i != ahead; ++i) {
      if (i < numSteps)
        copyStage(b, index(b, i * stageBytes), index(b, i), isGuarded);
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
      copyStage(inner, current, step, isGuarded);
      commitToken = commit(inner);
      wait(inner, 0);
    } else {
      // All threads are done with the stage that is filled now: they multiplied
      // it in the step before.
      wait(inner, ahead - 1);
      Value aheadStep =
          arith::AddIOp::create(inner, loc, step, index(inner, ahead));
      Value isStep = arith::CmpIOp::create(
          inner, loc, arith::CmpIPredicate::ult, aheadStep, steps);
      auto guard = scf::IfOp::create(inner, loc, isStep);
      OpBuilder then = guard.getThenBodyBuilder();
      copyStage(then, filled, aheadStep, isGuarded);
      commit(inner);
    }
    Value sum = multiplyStage(inner, current, loop.getRegionIterArg(0));
    if (ahead == 0 && numSteps > 1)
      gpu::BarrierOp::create(inner, loc);
    scf::YieldOp::create(inner, loc,
                         ValueRange{sum, advance(inner, current), current});
    return loop.getResult(0);
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
  ScheduleAttr schedule;
  Location loc;
  SharedStages stages;
  Value shared, thread, batch, firstRow, firstColumn, commitToken;
};
} // namespace

KernelShape blockscale::getMmaKernelShape(const KernelProblem &problem) {
  ScheduleAttr schedule = problem.schedule;
  int64_t bytes = SharedStages(problem).getNumBytes();
  return {{llvm::divideCeilSigned(problem.getM(), schedule.getM()),
           llvm::divideCeilSigned(problem.getN(), schedule.getN()),
           problem.getBatch()},
          {schedule.getNumThreads(), 1, 1},
          bytes > kMaxStaticShared ? bytes : 0};
}

void blockscale::buildMmaKernel(gpu::GPUFuncOp kernel,
                                const KernelProblem &problem) {
  MmaKernel(kernel, problem).build();
}
