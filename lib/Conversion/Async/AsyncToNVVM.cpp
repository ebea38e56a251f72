//===- AsyncToNVVM.cpp - Barriers and bulk copies -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts ops of asynchronous kernels, each of which is one NVVM instruction.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Predicates.h"
#include "Tcgen05/SharedAddress.h"
#include "blockscale/Conversion/Tcgen05ToNVVM.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The mbarrier operand of an op.
template <typename Op>
static Value getBarrier(OpBuilder &b, const LLVMTypeConverter &converter,
                        Op op) {
  return getSharedElement(b, op.getLoc(), converter, op.getBarriers(),
                          op.getIndex());
}

static LLVM::LLVMPointerType getClusterType(MLIRContext *context) {
  return LLVM::LLVMPointerType::get(
      context, static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
}

/// The same mbarrier in the CTA with the even rank of the pair: shared
/// addresses have the rank of the block from bit 24 on.
static Value getBarrierOfEven(OpBuilder &b, Location loc, Value barrier) {
  constexpr int64_t kOddBit = 1 << 24;
  Value address = LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), barrier);
  Value mask = makeI32(b, loc, ~kOddBit);
  address = LLVM::AndOp::create(b, loc, address, mask);
  return LLVM::IntToPtrOp::create(b, loc, barrier.getType(), address);
}

/// `nvvm.cp.async.bulk.tensor.shared.cluster.global` ignores the CTA group if
/// it has a predicate (LLVM 22).
static void loadOfPair(PatternRewriter &rewriter, TensorLoadOp op, Value memory,
                       Value barrier, ArrayRef<Value> coordinates, Value hint) {
  SmallVector<Value> operands = {memory, op.getMap()};
  auto add = [&](Value operand) {
    operands.push_back(operand);
    return "$" + std::to_string(operands.size() - 1);
  };
  std::string text = "cp.async.bulk.tensor." +
                     std::to_string(coordinates.size()) +
                     "d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes";
  if (op.getBlocks())
    text += ".multicast::cluster";
  text += ".cta_group::2";
  if (hint)
    text += ".L2::cache_hint";
  text += " [$0], [$1, {";
  for (auto [i, coordinate] : llvm::enumerate(coordinates))
    text += (i == 0 ? "" : ", ") + add(coordinate);
  Value address = LLVM::PtrToIntOp::create(rewriter, op.getLoc(),
                                           rewriter.getI32Type(), barrier);
  text += "}], [" + add(address) + "]";
  for (Value operand : {Value(op.getBlocks()), hint})
    if (operand)
      text += ", " + add(operand);
  rewriter.replaceOpWithNewOp<NVVM::InlinePtxOp>(
      op, /*resultTypes=*/TypeRange(), operands, /*readWriteArgs=*/ValueRange(),
      text + ";", getPredicate(op));
}

/// As `nvvm.mbarrier.try_wait.parity`, which has no scope.
static void waitInCluster(PatternRewriter &rewriter, BarrierWaitOp op,
                          Value barrier, Value ticks) {
  Location loc = op.getLoc();
  Value address =
      LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI32Type(), barrier);
  rewriter.replaceOpWithNewOp<NVVM::InlinePtxOp>(
      op, /*resultTypes=*/TypeRange(),
      ValueRange{address, op.getParity(), ticks},
      /*readWriteArgs=*/ValueRange(),
      "{\n\t.reg .pred P1; \n\tLAB_WAIT: \n\t"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
      "P1, [$0], $1, $2; \n\t@P1 bra.uni DONE; \n\tbra.uni LAB_WAIT; "
      "\n\tDONE: \n\t}",
      /*predicate=*/Value());
}

namespace {
struct ConvertBarrierInit final : SharedMemoryPattern<BarrierInitOp> {
  using SharedMemoryPattern::SharedMemoryPattern;

  LogicalResult matchAndRewrite(BarrierInitOp op,
                                PatternRewriter &rewriter) const override {
    Value barrier = getBarrier(rewriter, converter, op);
    Value count =
        makeI32(rewriter, op.getLoc(), static_cast<int64_t>(op.getCount()));
    rewriter.replaceOpWithNewOp<NVVM::MBarrierInitOp>(op, barrier, count,
                                                      /*predicate=*/Value());
    return success();
  }
};

struct ConvertBarrierArrive final : SharedMemoryPattern<BarrierArriveOp> {
  using SharedMemoryPattern::SharedMemoryPattern;

  LogicalResult matchAndRewrite(BarrierArriveOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value barrier = getBarrier(rewriter, converter, op);
    if (Value block = op.getBlock()) {
      // In the scope of the cluster, ptxas 13.0 inserts a MEMBAR before each
      // arrival, for which a thread would wait between two products. So this
      // scope is only for arrivals that need its order.
      Value mapped = NVVM::MapaOp::create(
          rewriter, loc, getClusterType(getContext()), barrier, block);
      NVVM::MBarrierArriveOp::create(
          rewriter, loc, /*resultTypes=*/TypeRange(), mapped,
          /*count=*/Value(),
          op.getCluster() ? NVVM::MemScopeKind::CLUSTER
                          : NVVM::MemScopeKind::CTA,
          /*relaxed=*/false);
    } else if (std::optional<uint64_t> bytes = op.getBytes()) {
      Value count = makeI32(rewriter, loc, static_cast<int64_t>(*bytes));
      NVVM::MBarrierArriveExpectTxOp::create(
          rewriter, loc, /*resultTypes=*/TypeRange(), barrier, count,
          NVVM::MemScopeKind::CTA, /*relaxed=*/false, getPredicate(op));
    } else {
      NVVM::MBarrierArriveOp::create(rewriter, loc, rewriter.getI64Type(),
                                     barrier, /*count=*/Value());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertBarrierWait final : SharedMemoryPattern<BarrierWaitOp> {
  using SharedMemoryPattern::SharedMemoryPattern;

  LogicalResult matchAndRewrite(BarrierWaitOp op,
                                PatternRewriter &rewriter) const override {
    // How long a thread may sleep, in nanoseconds, before it tests again.
    constexpr int64_t kTicks = 10000000;
    Location loc = op.getLoc();
    Value barrier = getBarrier(rewriter, converter, op);
    Value ticks = makeI32(rewriter, loc, kTicks);
    if (op.getCluster()) {
      waitInCluster(rewriter, op, barrier, ticks);
      return success();
    }
    rewriter.replaceOpWithNewOp<NVVM::MBarrierTryWaitParityOp>(
        op, barrier, op.getParity(), ticks);
    return success();
  }
};

struct ConvertBlockMemory final : SharedMemoryPattern<BlockMemoryOp> {
  using SharedMemoryPattern::SharedMemoryPattern;

  LogicalResult matchAndRewrite(BlockMemoryOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value own = getSharedPointer(rewriter, loc, converter, op.getMemory());
    Value mapped = NVVM::MapaOp::create(
        rewriter, loc, getClusterType(getContext()), own, op.getBlock());
    auto type = cast<MemRefType>(op.getType());
    Value memory = MemRefDescriptor::fromStaticShape(rewriter, loc, converter,
                                                     type, mapped);
    rewriter.replaceOpWithNewOp<UnrealizedConversionCastOp>(op, type, memory);
    return success();
  }
};

/// Whether `op` copies only to its own block, on a chip whose PTX has that
/// form. (With an address of the cluster, ptxas emits a check of its block, and
/// a call of a missing function, on chips that cannot copy to other blocks.)
static bool isToOwnBlock(TensorLoadOp op) {
  constexpr unsigned kLowestCapability = 120;
  FailureOr<TargetAttr> target = lookupTarget(op);
  return succeeded(target) && *target && !op.getBlocks() &&
         (*target).getFinalChip().capability >= kLowestCapability;
}

/// Emits a copy to the own block. (The NVVM op for it has no predicate.)
static void emitToOwnBlock(PatternRewriter &rewriter, TensorLoadOp op,
                           Value memory, ValueRange coordinates, Value barrier,
                           Value hint) {
  SmallVector<Value> operands = {memory, op.getMap()};
  auto add = [&](Value value) {
    operands.push_back(value);
    return ("$" + Twine(operands.size() - 1)).str();
  };
  std::string position;
  for (Value coordinate : coordinates)
    position += (position.empty() ? "" : ", ") + add(coordinate);
  std::string text =
      ("cp.async.bulk.tensor." + Twine(coordinates.size()) +
       "d.shared::cta.global.mbarrier::complete_tx::bytes" +
       (hint ? ".L2::cache_hint" : "") + " [$0], [$1, {" + position + "}], [")
          .str();
  text += add(barrier) + "]";
  if (hint)
    text += ", " + add(hint);
  NVVM::InlinePtxOp::create(rewriter, op.getLoc(), /*resultTypes=*/TypeRange(),
                            operands, /*readWriteArgs=*/ValueRange(),
                            text + ";", getPredicate(op));
}

struct ConvertTensorLoad final : SharedMemoryPattern<TensorLoadOp> {
  using SharedMemoryPattern::SharedMemoryPattern;

  LogicalResult matchAndRewrite(TensorLoadOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value memory = getSharedElement(rewriter, loc, converter, op.getMemory(),
                                    op.getOffset());
    // As an address of the cluster, it refers to this block (PTX ISA, "State
    // spaces"). A cast of pointers would use a generic address.
    bool isOwn = isToOwnBlock(op);
    if (!isOwn) {
      memory = LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI64Type(),
                                        memory);
      memory = LLVM::IntToPtrOp::create(rewriter, loc,
                                        getClusterType(getContext()), memory);
    }
    Value barrier = getBarrier(rewriter, converter, op);
    Value hint;
    if (std::optional<uint64_t> policy = op.getHint())
      hint = arith::ConstantOp::create(
          rewriter, loc,
          rewriter.getI64IntegerAttr(static_cast<int64_t>(*policy)));
    SmallVector<Value> coordinates(llvm::reverse(op.getCoordinates()));
    if (op.getGroup() == 2) {
      loadOfPair(rewriter, op, memory, getBarrierOfEven(rewriter, loc, barrier),
                 coordinates, hint);
      return success();
    }
    if (isOwn)
      emitToOwnBlock(rewriter, op, memory, coordinates, barrier, hint);
    else
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
          rewriter, loc, memory, op.getMap(), coordinates, barrier,
          /*im2colOffsets=*/ValueRange(), op.getBlocks(), hint,
          NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
          /*group=*/NVVM::CTAGroupKindAttr(), getPredicate(op));
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertClusterBarrier final : OpRewritePattern<ClusterBarrierOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ClusterBarrierOp op,
                                PatternRewriter &rewriter) const override {
    UnitAttr aligned = rewriter.getUnitAttr();
    NVVM::ClusterArriveOp::create(rewriter, op.getLoc(), aligned);
    rewriter.replaceOpWithNewOp<NVVM::ClusterWaitOp>(op, aligned);
    return success();
  }
};
} // namespace

void blockscale::populateAsyncToNVVMConversionPatterns(
    const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertClusterBarrier>(patterns.getContext());
  patterns.add<ConvertBarrierInit, ConvertBarrierArrive, ConvertBarrierWait,
               ConvertBlockMemory, ConvertTensorLoad>(patterns.getContext(),
                                                      converter);
}
