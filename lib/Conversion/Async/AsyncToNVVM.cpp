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

#include "Tcgen05/SharedAddress.h"
#include "blockscale/Conversion/Tcgen05ToNVVM.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

static Value makeI32(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(
      b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

/// Element number `index` of `memory`, in shared memory.
static Value getElement(OpBuilder &b, Location loc,
                        const LLVMTypeConverter &converter, Value memory,
                        Value index) {
  Value base = getSharedPointer(b, loc, converter, memory);
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  // 32 bits are enough there.
  Value number =
      b.createOrFold<arith::IndexCastUIOp>(loc, b.getI32Type(), index);
  return LLVM::GEPOp::create(b, loc, base.getType(), element, base, number);
}

namespace {
template <typename Op>
struct BulkPattern : OpRewritePattern<Op> {
  BulkPattern(MLIRContext *context, const LLVMTypeConverter &converter)
      : OpRewritePattern<Op>(context), converter(converter) {}

  Value getBarrier(OpBuilder &b, Op op) const {
    return getElement(b, op.getLoc(), converter, op.getBarriers(),
                      op.getIndex());
  }

  const LLVMTypeConverter &converter;
};

struct ConvertBarrierInit final : BulkPattern<BarrierInitOp> {
  using BulkPattern::BulkPattern;

  LogicalResult matchAndRewrite(BarrierInitOp op,
                                PatternRewriter &rewriter) const override {
    Value barrier = getBarrier(rewriter, op);
    Value count =
        makeI32(rewriter, op.getLoc(), static_cast<int64_t>(op.getCount()));
    rewriter.replaceOpWithNewOp<NVVM::MBarrierInitOp>(op, barrier, count,
                                                      /*predicate=*/Value());
    return success();
  }
};

struct ConvertBarrierArrive final : BulkPattern<BarrierArriveOp> {
  using BulkPattern::BulkPattern;

  LogicalResult matchAndRewrite(BarrierArriveOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value barrier = getBarrier(rewriter, op);
    if (std::optional<uint64_t> bytes = op.getBytes()) {
      Value count = makeI32(rewriter, loc, static_cast<int64_t>(*bytes));
      NVVM::MBarrierArriveExpectTxOp::create(
          rewriter, loc, /*resultTypes=*/TypeRange(), barrier, count,
          NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
    } else {
      NVVM::MBarrierArriveOp::create(rewriter, loc, rewriter.getI64Type(),
                                     barrier, /*count=*/Value());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertBarrierWait final : BulkPattern<BarrierWaitOp> {
  using BulkPattern::BulkPattern;

  LogicalResult matchAndRewrite(BarrierWaitOp op,
                                PatternRewriter &rewriter) const override {
    // How long a thread may sleep, in nanoseconds, before it looks again.
    constexpr int64_t kTicks = 10000000;
    Location loc = op.getLoc();
    Value barrier = getBarrier(rewriter, op);
    Value ticks = makeI32(rewriter, loc, kTicks);
    rewriter.replaceOpWithNewOp<NVVM::MBarrierTryWaitParityOp>(
        op, barrier, op.getParity(), ticks);
    return success();
  }
};

struct ConvertTensorLoad final : BulkPattern<TensorLoadOp> {
  using BulkPattern::BulkPattern;

  LogicalResult matchAndRewrite(TensorLoadOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value memory =
        getElement(rewriter, loc, converter, op.getMemory(), op.getOffset());
    // As an address of the cluster, it is this block's.
    auto clusterType = LLVM::LLVMPointerType::get(
        getContext(),
        static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
    memory = LLVM::AddrSpaceCastOp::create(rewriter, loc, clusterType, memory);
    Value barrier = getBarrier(rewriter, op);
    Value hint;
    if (std::optional<uint64_t> policy = op.getHint())
      hint = arith::ConstantOp::create(
          rewriter, loc,
          rewriter.getI64IntegerAttr(static_cast<int64_t>(*policy)));
    SmallVector<Value> coordinates(llvm::reverse(op.getCoordinates()));
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        rewriter, loc, memory, op.getMap(), coordinates, barrier,
        /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(), hint,
        NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void blockscale::populateAsyncToNVVMConversionPatterns(
    const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertBarrierInit, ConvertBarrierArrive, ConvertBarrierWait,
               ConvertTensorLoad>(patterns.getContext(), converter);
}
