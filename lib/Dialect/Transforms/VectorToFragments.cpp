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
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {

struct LowerMmaScaled final : OpConversionPattern<MmaScaledOp> {
  LowerMmaScaled(const TypeConverter &converter, MLIRContext *context,
                 Value lane)
      : OpConversionPattern(converter, context), lane(lane) {}

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

private:
  Value lane;
};

struct LowerTransferRead final : OpConversionPattern<vector::TransferReadOp> {
  LowerTransferRead(const TypeConverter &converter, MLIRContext *context,
                    Value lane)
      : OpConversionPattern(converter, context), lane(lane) {}

  LogicalResult
  matchAndRewrite(vector::TransferReadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto transfer = cast<VectorTransferOpInterface>(op.getOperation());
    VectorType type = op.getVectorType();
    Location loc = op.getLoc();
    const FragmentLayout &layout = getFragmentLayout(Operand::C, 32);
    SmallVector<Value> elements;
    forEachAccElement(
        rewriter, loc, lane, {type.getDimSize(0), type.getDimSize(1), {}, {}},
        [&](int64_t, Value row, Value column) {
          TransferAddress address(rewriter, transfer);
          auto [position, inside] = address.at({row, column});
          ArrayRef<Value> indices = position;
          inside = address.both(
              inside, address.isBelow(row, type.getDimSize(0), layout.rows));
          inside =
              address.both(inside, address.isBelow(column, type.getDimSize(1),
                                                   layout.columns));
          elements.push_back(emitLoadIf(
              rewriter, loc, inside,
              [&](OpBuilder &then) -> Value {
                return memref::LoadOp::create(then, loc, op.getBase(), indices);
              },
              op.getPadding()));
        });
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(
        op, cast<VectorType>(getTypeConverter()->convertType(type)), elements);
    return success();
  }

private:
  Value lane;
};

struct LowerTransferWrite final : OpConversionPattern<vector::TransferWriteOp> {
  LowerTransferWrite(const TypeConverter &converter, MLIRContext *context,
                     Value lane)
      : OpConversionPattern(converter, context), lane(lane) {}

  LogicalResult
  matchAndRewrite(vector::TransferWriteOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto transfer = cast<VectorTransferOpInterface>(op.getOperation());
    VectorType type = op.getVectorType();
    Location loc = op.getLoc();
    const FragmentLayout &layout = getFragmentLayout(Operand::C, 32);
    forEachAccElement(
        rewriter, loc, lane, {type.getDimSize(0), type.getDimSize(1), {}, {}},
        [&](int64_t index, Value row, Value column) {
          TransferAddress address(rewriter, transfer);
          auto [position, inside] = address.at({row, column});
          inside = address.both(
              inside, address.isBelow(row, type.getDimSize(0), layout.rows));
          inside =
              address.both(inside, address.isBelow(column, type.getDimSize(1),
                                                   layout.columns));
          Value element = vector::ExtractOp::create(
              rewriter, loc, adaptor.getValueToStore(), index);
          OpBuilder b(rewriter);
          if (inside)
            b = scf::IfOp::create(rewriter, loc, inside).getThenBodyBuilder();
          memref::StoreOp::create(b, loc, element, op.getBase(), position);
        });
    rewriter.eraseOp(op);
    return success();
  }

private:
  Value lane;
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
