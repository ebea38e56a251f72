//===- TmemControlFlow.cpp - Tensor memory between blocks -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels choose between accumulators, and pass them from one iteration of a
// loop to the next. Upstream's conversions of control flow do not convert our
// types, so these become integers before.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/Tcgen05ToNVVM.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace mlir::blockscale;

static bool isTmem(Type type) {
  return isa<TmemType, TmemAccType, TmemScalesType, TmemOperandType,
             TmemMetadataType>(type);
}

namespace {

/// Types of tensor memory become `i32`.
struct TmemTypeConverter final : TypeConverter {
  TmemTypeConverter() {
    addConversion([](Type type) { return type; });
    addConversion([](Type type) -> std::optional<Type> {
      if (isTmem(type))
        return IntegerType::get(type.getContext(), 32);
      return std::nullopt;
    });
    addSourceMaterialization(cast);
    addTargetMaterialization(cast);
  }

private:
  static Value cast(OpBuilder &builder, Type type, ValueRange inputs,
                    Location loc) {
    return UnrealizedConversionCastOp::create(builder, loc, type, inputs)
        .getResult(0);
  }
};

struct ConvertSelect final : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::SelectOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, adaptor.getCondition(),
                                                 adaptor.getTrueValue(),
                                                 adaptor.getFalseValue());
    return success();
  }
};

} // namespace

/// Whether `op` must be rewritten because of values of tensor memory.
static bool carriesTmem(Operation *op) {
  return isa_and_nonnull<scf::SCFDialect, cf::ControlFlowDialect,
                         arith::ArithDialect>(op->getDialect()) &&
         (llvm::any_of(op->getOperandTypes(), isTmem) ||
          llvm::any_of(op->getResultTypes(), isTmem));
}

LogicalResult blockscale::convertTmemControlFlow(Operation *root) {
  WalkResult found = root->walk([](Operation *op) {
    return carriesTmem(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return success();
  TmemTypeConverter converter;
  ConversionTarget target(*root->getContext());
  RewritePatternSet patterns(root->getContext());
  patterns.add<ConvertSelect>(converter, patterns.getContext());
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  cf::populateCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                     target);
  target.addDynamicallyLegalOp<arith::SelectOp>(
      [](arith::SelectOp op) { return !isTmem(op.getType()); });
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(root, target, std::move(patterns));
}
