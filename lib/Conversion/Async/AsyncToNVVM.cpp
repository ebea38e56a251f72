//===- AsyncToNVVM.cpp - Barriers and bulk copies -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

static LogicalResult convertBarrierInit(BarrierInitOp op,
                                        PatternRewriter &rewriter,
                                        const LLVMTypeConverter &converter) {
  Value barrier = getBarrier(rewriter, converter, op);
  Value count =
      makeI32(rewriter, op.getLoc(), static_cast<int64_t>(op.getCount()));
  rewriter.replaceOpWithNewOp<NVVM::MBarrierInitOp>(op, barrier, count,
                                                    /*predicate=*/Value());
  return success();
}

static LogicalResult convertBarrierArrive(BarrierArriveOp op,
                                          PatternRewriter &rewriter,
                                          const LLVMTypeConverter &converter) {
  Location loc = op.getLoc();
  Value barrier = getBarrier(rewriter, converter, op);
  if (Value block = op.getBlock()) {
    // In the scope of the cluster, ptxas 13.0 inserts a MEMBAR before each
    // arrival, for which a thread would wait between two products. So this
    // scope is only for arrivals that need its order.
    Value mapped = NVVM::MapaOp::create(
        rewriter, loc, getClusterType(rewriter.getContext()), barrier, block);
    NVVM::MBarrierArriveOp::create(
        rewriter, loc, /*resultTypes=*/TypeRange(), mapped,
        /*count=*/Value(),
        op.getCluster() ? NVVM::MemScopeKind::CLUSTER : NVVM::MemScopeKind::CTA,
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

static LogicalResult convertBarrierWait(BarrierWaitOp op,
                                        PatternRewriter &rewriter,
                                        const LLVMTypeConverter &converter) {
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

static LogicalResult convertBlockMemory(BlockMemoryOp op,
                                        PatternRewriter &rewriter,
                                        const LLVMTypeConverter &converter) {
  Location loc = op.getLoc();
  Value own = getSharedPointer(rewriter, loc, converter, op.getMemory());
  Value mapped = NVVM::MapaOp::create(
      rewriter, loc, getClusterType(rewriter.getContext()), own, op.getBlock());
  auto type = cast<MemRefType>(op.getType());
  Value memory =
      MemRefDescriptor::fromStaticShape(rewriter, loc, converter, type, mapped);
  rewriter.replaceOpWithNewOp<UnrealizedConversionCastOp>(op, type, memory);
  return success();
}

/// Whether `op` copies only to its own block, on a chip whose PTX has that
/// form. (With an address of the cluster, ptxas emits a check of its block, and
/// a call of a missing function, on chips that cannot copy to other blocks.)
static bool isToOwnBlock(TensorLoadOp op) {
  constexpr unsigned kLowestCapability = 120;
  FailureOr<TargetAttr> target = lookupTarget(op);
  return succeeded(target) && *target && !op.getBlocks() &&
         (*target).getFinalChip().capability >= kLowestCapability;
}

/// Emits a copy as PTX, in the state spaces and with the completion of `form`.
/// The NVVM op of a copy to the own block has no predicate; the op of other
/// copies ignores the CTA group if it has a predicate (LLVM 22).
static void emitTensorLoad(PatternRewriter &rewriter, TensorLoadOp op,
                           const Twine &form, Value memory,
                           ValueRange coordinates, Value barrier, Value hint) {
  SmallVector<Value> operands = {memory, op.getMap()};
  auto add = [&](Value operand) {
    operands.push_back(operand);
    return "$" + std::to_string(operands.size() - 1);
  };
  std::string text =
      ("cp.async.bulk.tensor." + Twine(coordinates.size()) + "d." + form +
       (hint ? ".L2::cache_hint" : "") + " [$0], [$1, {")
          .str();
  for (auto [i, coordinate] : llvm::enumerate(coordinates))
    text += (i == 0 ? "" : ", ") + add(coordinate);
  text += "}], [" + add(barrier) + "]";
  for (Value operand : {Value(op.getBlocks()), hint})
    if (operand)
      text += ", " + add(operand);
  NVVM::InlinePtxOp::create(rewriter, op.getLoc(), /*resultTypes=*/TypeRange(),
                            operands, /*readWriteArgs=*/ValueRange(),
                            text + ";", getPredicate(op));
}

static LogicalResult convertTensorLoad(TensorLoadOp op,
                                       PatternRewriter &rewriter,
                                       const LLVMTypeConverter &converter) {
  Location loc = op.getLoc();
  Value memory = getSharedElement(rewriter, loc, converter, op.getMemory(),
                                  op.getOffset());
  // As an address of the cluster, it refers to this block (PTX ISA, "State
  // spaces"). A cast of pointers would use a generic address.
  bool isOwn = isToOwnBlock(op);
  if (!isOwn) {
    memory =
        LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI64Type(), memory);
    memory = LLVM::IntToPtrOp::create(
        rewriter, loc, getClusterType(rewriter.getContext()), memory);
  }
  Value barrier = getBarrier(rewriter, converter, op);
  Value hint;
  if (std::optional<uint64_t> policy = op.getHint())
    hint = arith::ConstantOp::create(
        rewriter, loc,
        rewriter.getI64IntegerAttr(static_cast<int64_t>(*policy)));
  SmallVector<Value> coordinates(llvm::reverse(op.getCoordinates()));
  if (op.getGroup() == 2) {
    barrier = getBarrierOfEven(rewriter, loc, barrier);
    Value address =
        LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI32Type(), barrier);
    emitTensorLoad(
        rewriter, op,
        Twine("shared::cluster.global.tile.mbarrier::complete_tx::bytes") +
            (op.getBlocks() ? ".multicast::cluster" : "") + ".cta_group::2",
        memory, coordinates, address, hint);
  } else if (isOwn) {
    emitTensorLoad(rewriter, op,
                   "shared::cta.global.mbarrier::complete_tx::bytes", memory,
                   coordinates, barrier, hint);
  } else {
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        rewriter, loc, memory, op.getMap(), coordinates, barrier,
        /*im2colOffsets=*/ValueRange(), op.getBlocks(), hint,
        NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        /*group=*/NVVM::CTAGroupKindAttr(), getPredicate(op));
  }
  rewriter.eraseOp(op);
  return success();
}

static LogicalResult convertClusterBarrier(ClusterBarrierOp op,
                                           PatternRewriter &rewriter) {
  UnitAttr aligned = rewriter.getUnitAttr();
  NVVM::ClusterArriveOp::create(rewriter, op.getLoc(), aligned);
  rewriter.replaceOpWithNewOp<NVVM::ClusterWaitOp>(op, aligned);
  return success();
}

void blockscale::populateAsyncToNVVMConversionPatterns(
    const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add(convertClusterBarrier);
  addPatterns(patterns, converter, convertBarrierInit, convertBarrierArrive,
              convertBarrierWait, convertBlockMemory, convertTensorLoad);
}
