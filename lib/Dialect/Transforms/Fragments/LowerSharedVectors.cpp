//===- LowerSharedVectors.cpp - Shared vectors in lanes -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers vectors that a warp shares, which kernels of users use as
// accumulators, to the elements that one lane holds.
//
//===----------------------------------------------------------------------===//

#include "Fragments/LanePatterns.h"
#include "Fragments/VectorOperands.h"
#include "Fragments/VectorTransfer.h"
#include "Fragments/WarpMultiply.h"
#include "Utils/PackedElements.h"
#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
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
  matchAndRewrite(MmaScaledOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 2)
      return rewriter.notifyMatchFailure(op, "expected vectors of rank 2");
    // Loops whose results are distributed have been replaced, so the multiples
    // of their induction variables are those of the new loops.
    auto isMultiple = [&](Value value, int64_t divisor) {
      Value remapped = rewriter.getRemappedValue(value);
      return remapped && remapped != value &&
             isKnownMultiple(remapped, divisor);
    };
    FailureOr<OperandFragments> a =
        loadVectorOperand(rewriter, op, Operand::A, lane, isMultiple);
    FailureOr<OperandFragments> b =
        loadVectorOperand(rewriter, op, Operand::B, lane, isMultiple);
    if (failed(a) || failed(b))
      return failure();
    auto instruction = op->getAttrOfType<InstructionAttr>(kInstructionAttrName);
    const WarpMultiply &multiply = getWarpMultiply(instruction.getPath());
    rewriter.replaceOpWithMultiple(
        op, {multiply.emitVectors(
                rewriter, {op.getLoc(), op.getTypes(), instruction, lane}, *a,
                *b, {type.getDimSize(0), type.getDimSize(1), {}, {}},
                adaptor.getAcc())});
    return success();
  }
};

/// Calls `body` for each element of a transfer's vector that the lane holds,
/// with its index, its position in memory, and whether to transfer it (null for
/// always).
static void forEachTransferElement(
    OpBuilder &builder, VectorTransferOpInterface op, Value lane,
    function_ref<void(int64_t index, ArrayRef<Value> position, Value inside)>
        body) {
  VectorType type = op.getVectorType();
  int64_t m = type.getDimSize(0), n = type.getDimSize(1);
  Location loc = op.getLoc();
  const FragmentLayout &layout = getAccFragment();
  AffineExpr d0 = getAffineDimExpr(0, builder.getContext());
  forEachAccRun(
      builder, op.getLoc(), lane, {m, n, {}, {}},
      [&](int64_t index, Value row, Value firstColumn) {
        for (int64_t i = 0; i != kColumnsOfLane; ++i) {
          Value column = applyMap(builder, loc, AffineMap::get(1, 0, d0 + i),
                                  firstColumn)[0];
          TransferAddress address(builder, op);
          auto [position, inside] = address.at({row, column});
          inside = TransferAddress::both(
              builder, loc, inside,
              TransferAddress::isBelow(builder, loc, row, m, layout.rows));
          inside = TransferAddress::both(
              builder, loc, inside,
              TransferAddress::isBelow(builder, loc, column, n,
                                       layout.columns));
          body(index + i, position, inside);
        }
      });
}

struct LowerTransferRead final : LanePattern<vector::TransferReadOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(vector::TransferReadOp op, OneToNOpAdaptor adaptor,
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
    rewriter.replaceOpWithMultiple(op, {elements});
    return success();
  }
};

struct LowerTransferWrite final : LanePattern<vector::TransferWriteOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(vector::TransferWriteOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    // Other lanes may still read memory that this overwrites, and may read it
    // afterwards.
    syncWarp(rewriter, loc);
    SmallVector<Value> elements(adaptor.getValueToStore());
    forEachTransferElement(
        rewriter, cast<VectorTransferOpInterface>(op.getOperation()), lane,
        [&](int64_t index, ArrayRef<Value> position, Value inside) {
          Value element = elements[index];
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

/// Applies an elementwise op to each element.
struct LowerElementwise final : ConversionPattern {
  LowerElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions() != 0)
      return rewriter.notifyMatchFailure(op, "expected an elementwise op");
    if (op->getNumResults() != 1)
      return rewriter.notifyMatchFailure(op, "expected one result");
    SmallVector<Type> types;
    if (failed(
            getTypeConverter()->convertType(op->getResult(0).getType(), types)))
      return failure();
    SmallVector<Value> elements;
    for (auto [i, type] : llvm::enumerate(types)) {
      SmallVector<Value> ofElement;
      for (auto [operand, values] :
           llvm::zip_equal(op->getOperands(), operands)) {
        // A scalar, such as the condition of a select, is for all elements.
        bool isWhole = !isa<VectorType>(operand.getType());
        ofElement.push_back(values[isWhole ? 0 : i]);
      }
      OperationState state(op->getLoc(), op->getName(), ofElement, type,
                           op->getAttrs());
      elements.push_back(rewriter.create(state)->getResult(0));
    }
    rewriter.replaceOpWithMultiple(op, {elements});
    return success();
  }
};

/// `element` for each element of `op`'s result.
static LogicalResult replaceByElements(Operation *op, Value element,
                                       const TypeConverter &converter,
                                       ConversionPatternRewriter &rewriter) {
  SmallVector<Type> types;
  if (failed(converter.convertType(op->getResult(0).getType(), types)))
    return failure();
  SmallVector<Value> elements(types.size(), element);
  rewriter.replaceOpWithMultiple(op, {elements});
  return success();
}

struct LowerConstant final : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto attr = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!attr || !attr.isSplat() || !isa<VectorType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "expected a splat");
    Value element = arith::ConstantOp::create(rewriter, op.getLoc(),
                                              attr.getSplatValue<TypedAttr>());
    return replaceByElements(op, element, *getTypeConverter(), rewriter);
  }
};

struct LowerBroadcast final : OpConversionPattern<vector::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(vector::BroadcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<VectorType>(op.getSourceType()))
      return rewriter.notifyMatchFailure(op, "expected a scalar");
    return replaceByElements(op, op.getSource(), *getTypeConverter(), rewriter);
  }
};

} // namespace

void blockscale::populateSharedVectorPatterns(const TypeConverter &converter,
                                              RewritePatternSet &patterns,
                                              Value lane) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerMmaScaled, LowerTransferRead, LowerTransferWrite>(
      converter, context, lane);
  patterns.add<LowerElementwise, LowerConstant, LowerBroadcast>(converter,
                                                                context);
}
