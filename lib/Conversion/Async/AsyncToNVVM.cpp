//===- AsyncToNVVM.cpp - Barriers and bulk copies -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of asynchronous kernels that are an instruction of the NVVM dialect each.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Predicates.h"
#include "Tcgen05/SharedAddress.h"
#include "blockscale/Conversion/Tcgen05ToNVVM.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The mbarrier that an op names.
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

/// The same mbarrier of the block of the pair whose rank is even: shared
/// addresses have the rank of the block from bit 24 on.
static Value getBarrierOfEven(OpBuilder &b, Location loc, Value barrier) {
  constexpr int64_t kOddBit = 1 << 24;
  Value address = LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), barrier);
  Value mask = makeI32(b, loc, ~kOddBit);
  address = LLVM::AndOp::create(b, loc, address, mask);
  return LLVM::IntToPtrOp::create(b, loc, barrier.getType(), address);
}

/// The same as `nvvm.mbarrier.try_wait.parity`, which has no scope.
static void waitInCluster(PatternRewriter &rewriter, BarrierWaitOp op,
                          Value barrier, Value ticks) {
  Location loc = op.getLoc();
  Value address =
      LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI32Type(), barrier);
  rewriter.replaceOpWithNewOp<NVVM::InlinePtxOp>(
      op, /*resultTypes=*/TypeRange(),
      ValueRange{address, op.getParity(), ticks},
      /*readWriteArgs=*/ValueRange(),
      "{\n\t.reg .pred is_over;\n\tagain:\n\t"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
      "is_over, [$0], $1, $2;\n\t@!is_over bra.uni again;\n\t}",
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
      // In the scope of the cluster ptxas 13.0 puts a MEMBAR in front of each,
      // for which a thread would wait between two products: only for those who
      // need that order.
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
    // How long a thread may sleep, in nanoseconds, before it looks again.
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

struct ConvertTensorLoad final : SharedMemoryPattern<TensorLoadOp> {
  using SharedMemoryPattern::SharedMemoryPattern;

  LogicalResult matchAndRewrite(TensorLoadOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value memory = getSharedElement(rewriter, loc, converter, op.getMemory(),
                                    op.getOffset());
    // As an address of the cluster, it is this block's (PTX ISA, "State
    // spaces"). A cast of pointers would go through a generic address.
    memory =
        LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI64Type(), memory);
    memory = LLVM::IntToPtrOp::create(rewriter, loc,
                                      getClusterType(getContext()), memory);
    Value barrier = getBarrier(rewriter, converter, op);
    NVVM::CTAGroupKindAttr group;
    if (op.getGroup() == 2) {
      barrier = getBarrierOfEven(rewriter, loc, barrier);
      group =
          NVVM::CTAGroupKindAttr::get(getContext(), NVVM::CTAGroupKind::CTA_2);
    }
    Value hint;
    if (std::optional<uint64_t> policy = op.getHint())
      hint = arith::ConstantOp::create(
          rewriter, loc,
          rewriter.getI64IntegerAttr(static_cast<int64_t>(*policy)));
    SmallVector<Value> coordinates(llvm::reverse(op.getCoordinates()));
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        rewriter, loc, memory, op.getMap(), coordinates, barrier,
        /*im2colOffsets=*/ValueRange(), op.getBlocks(), hint,
        NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, group, getPredicate(op));
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
               ConvertTensorLoad>(patterns.getContext(), converter);
}
