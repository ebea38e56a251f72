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
#include "Fragments/VectorTransfer.h"
#include "Fragments/WarpMultiply.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blockscale;

static FailureOr<LaneResults>
lowerMmaScaled(MmaScaledOp op, LaneOperands<MmaScaledOp> operands, Value lane,
               ConversionPatternRewriter &rewriter) {
  auto type = dyn_cast<VectorType>(op.getType());
  if (!type || type.getRank() != 2)
    return rewriter.notifyMatchFailure(op, "expected vectors of rank 2");
  // Loops whose results are distributed have been replaced, so the multiples
  // of their induction variables are those of the new loops.
  auto isMultiple = [&](Value value, int64_t divisor) {
    Value remapped = rewriter.getRemappedValue(value);
    return remapped && remapped != value && isKnownMultiple(remapped, divisor);
  };
  FailureOr<OperandFragments> a =
      loadVectorOperand(rewriter, op, Operand::A, lane, isMultiple);
  FailureOr<OperandFragments> b =
      loadVectorOperand(rewriter, op, Operand::B, lane, isMultiple);
  if (failed(a) || failed(b))
    return failure();
  auto instruction = op->getAttrOfType<InstructionAttr>(kInstructionAttrName);
  const WarpMultiply &multiply = getWarpMultiply(instruction);
  return LaneResults{multiply.emitVectors(
      rewriter, {op.getLoc(), op.getTypes(), instruction, lane}, *a, *b,
      {type.getDimSize(0), type.getDimSize(1), {}, {}}, operands.getAcc())};
}

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
  forEachAccRun(builder, op.getLoc(), lane, {m, n, {}, {}},
                [&](int64_t index, Value row, Value firstColumn) {
                  for (int64_t i = 0; i != kColumnsOfLane; ++i) {
                    Value column = addIndex(builder, loc, firstColumn, i);
                    TransferAddress address(builder, op);
                    auto [position, inside] = address.at({row, column});
                    inside = emitBoth(builder, loc, inside,
                                      TransferAddress::isBelow(
                                          builder, loc, row, m, layout.rows));
                    inside =
                        emitBoth(builder, loc, inside,
                                 TransferAddress::isBelow(builder, loc, column,
                                                          n, layout.columns));
                    body(index + i, position, inside);
                  }
                });
}

static FailureOr<LaneResults>
lowerTransferRead(vector::TransferReadOp op,
                  LaneOperands<vector::TransferReadOp>, Value lane,
                  ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  SmallVector<Value> elements;
  forEachTransferElement(
      b, cast<VectorTransferOpInterface>(op.getOperation()), lane,
      [&](int64_t, ArrayRef<Value> position, Value inside) {
        elements.push_back(emitLoadIf(
            b, loc, inside,
            [&](OpBuilder &then) -> Value {
              return memref::LoadOp::create(then, loc, op.getBase(), position);
            },
            op.getPadding()));
      });
  return LaneResults{elements};
}

static void syncWarp(OpBuilder &b, Location loc) {
  Value allLanes = arith::ConstantIntOp::create(b, loc, b.getI32Type(), -1);
  NVVM::SyncWarpOp::create(b, loc, allLanes);
}

static FailureOr<LaneResults>
lowerTransferWrite(vector::TransferWriteOp op,
                   LaneOperands<vector::TransferWriteOp> operands, Value lane,
                   ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  // Other lanes may still read memory that this overwrites, and may read it
  // afterwards.
  syncWarp(b, loc);
  forEachTransferElement(
      b, cast<VectorTransferOpInterface>(op.getOperation()), lane,
      [&](int64_t index, ArrayRef<Value> position, Value inside) {
        emitIf(b, loc, inside, [&] {
          memref::StoreOp::create(b, loc, operands.getValueToStore()[index],
                                  op.getBase(), position);
        });
      });
  syncWarp(b, loc);
  return LaneResults();
}

/// `element` for each element of `vector` that a lane holds.
static FailureOr<LaneResults> repeat(Value element, Type vector) {
  auto type = cast<VectorType>(vector);
  return LaneResults{SmallVector<Value>(
      getNumAccElements(type.getDimSize(0), type.getDimSize(1)), element)};
}

static FailureOr<LaneResults> lowerConstant(arith::ConstantOp op,
                                            LaneOperands<arith::ConstantOp>,
                                            Value,
                                            ConversionPatternRewriter &b) {
  auto attr = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!attr || !attr.isSplat() || !isSharedVector(op.getType()))
    return b.notifyMatchFailure(op, "expected a splat");
  Value element = arith::ConstantOp::create(b, op.getLoc(),
                                            attr.getSplatValue<TypedAttr>());
  return repeat(element, op.getType());
}

static FailureOr<LaneResults> lowerBroadcast(vector::BroadcastOp op,
                                             LaneOperands<vector::BroadcastOp>,
                                             Value,
                                             ConversionPatternRewriter &b) {
  if (isa<VectorType>(op.getSourceType()) || !isSharedVector(op.getType()))
    return b.notifyMatchFailure(op, "expected a scalar");
  return repeat(op.getSource(), op.getType());
}

namespace {
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
} // namespace

void blockscale::populateSharedVectorPatterns(const TypeConverter &converter,
                                              RewritePatternSet &patterns,
                                              Value lane) {
  addLanePatterns(converter, patterns, lane, lowerMmaScaled, lowerTransferRead,
                  lowerTransferWrite, lowerConstant, lowerBroadcast);
  patterns.add<LowerElementwise>(converter, patterns.getContext());
}
