//===- VectorToFragments.cpp - Shared vectors in lanes --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FragmentEmitter.h"
#include "ToFragments.h"
#include "VectorOperands.h"
#include "VectorTransfer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {

struct LowerMmaScaled final : LanePattern<MmaScaledOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(MmaScaledOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 2)
      return rewriter.notifyMatchFailure(op, "expected vectors of rank 2");
    FailureOr<OperandFragments> a =
        loadVectorOperand(rewriter, op, Operand::A, lane);
    FailureOr<OperandFragments> b =
        loadVectorOperand(rewriter, op, Operand::B, lane);
    if (failed(a) || failed(b))
      return failure();
    rewriter.replaceOp(op, emitMmas(rewriter, op.getLoc(), op.getRow(), lane,
                                    *a, *b, adaptor.getAcc()));
    return success();
  }
};

/// Calls `body` for each element that the lane holds of a transfer's vector:
/// its number, its position in memory, and whether it is to be transferred
/// (null for always).
static void forEachTransferElement(
    OpBuilder &builder, VectorTransferOpInterface op, Value lane,
    function_ref<void(int64_t index, ArrayRef<Value> position, Value inside)>
        body) {
  VectorType type = op.getVectorType();
  int64_t m = type.getDimSize(0), n = type.getDimSize(1);
  Location loc = op.getLoc();
  const FragmentLayout &layout = getFragmentLayout(Operand::C, 32);
  forEachAccElement(
      builder, op.getLoc(), lane, {m, n, {}, {}},
      [&](int64_t index, Value row, Value column) {
        TransferAddress address(builder, op);
        auto [position, inside] = address.at({row, column});
        inside = TransferAddress::both(
            builder, loc, inside,
            TransferAddress::isBelow(builder, loc, row, m, layout.rows));
        inside = TransferAddress::both(
            builder, loc, inside,
            TransferAddress::isBelow(builder, loc, column, n, layout.columns));
        body(index, position, inside);
      });
}

struct LowerTransferRead final : LanePattern<vector::TransferReadOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(vector::TransferReadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> elements;
    forEachTransferElement(
        rewriter, cast<VectorTransferOpInterface>(op.getOperation()), lane,
        [&](int64_t, ArrayRef<Value> position, Value inside) {
          elements.push_back(emitLoadIf(
              rewriter, loc, inside,
              [&](OpBuilder &then) -> Value {
                return memref::LoadOp::create(then, loc, op.getBase(),
                                              position);
              },
              op.getPadding()));
        });
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(
        op,
        cast<VectorType>(getTypeConverter()->convertType(op.getVectorType())),
        elements);
    return success();
  }
};

struct LowerTransferWrite final : LanePattern<vector::TransferWriteOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(vector::TransferWriteOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    // Lanes may have read what this overwrites, and may read what it writes.
    syncWarp(rewriter, loc);
    forEachTransferElement(
        rewriter, cast<VectorTransferOpInterface>(op.getOperation()), lane,
        [&](int64_t index, ArrayRef<Value> position, Value inside) {
          Value element = vector::ExtractOp::create(
              rewriter, loc, adaptor.getValueToStore(), index);
          OpBuilder b(rewriter);
          if (inside)
            b = scf::IfOp::create(rewriter, loc, inside).getThenBodyBuilder();
          memref::StoreOp::create(b, loc, element, op.getBase(), position);
        });
    syncWarp(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void syncWarp(OpBuilder &b, Location loc) {
    Value allLanes = arith::ConstantIntOp::create(b, loc, b.getI32Type(), -1);
    NVVM::SyncWarpOp::create(b, loc, allLanes);
  }
};

/// Elementwise ops do to the fragment what they do to the whole.
struct LowerElementwise final : ConversionPattern {
  LowerElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions() != 0)
      return rewriter.notifyMatchFailure(op, "expected an elementwise op");
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    OperationState state(op->getLoc(), op->getName(), operands, types,
                         op->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct LowerConstant final : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto attr = dyn_cast<DenseElementsAttr>(op.getValue());
    auto type =
        dyn_cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    if (!attr || !attr.isSplat() || !type)
      return rewriter.notifyMatchFailure(op, "expected a splat");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, attr.resizeSplat(type));
    return success();
  }
};

struct LowerBroadcast final : OpConversionPattern<vector::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(vector::BroadcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<VectorType>(op.getSourceType()))
      return rewriter.notifyMatchFailure(op, "expected a scalar");
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(
        op, getTypeConverter()->convertType(op.getType()), op.getSource());
    return success();
  }
};

} // namespace

void blockscale::populateVectorToFragmentsPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns, Value lane) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerMmaScaled, LowerTransferRead, LowerTransferWrite>(
      converter, context, lane);
  patterns.add<LowerElementwise, LowerConstant, LowerBroadcast>(converter,
                                                                context);
}
