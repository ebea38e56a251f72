//===- ScalarResults.cpp - Scalars that functions return ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host only launches kernels. So a scalar result is an element of memory,
// and a thread of a kernel computes it.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SCALARRESULTSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;

static bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

/// Whether a thread can execute `op`: it computes scalars from scalars, and
/// from elements and sizes of tensors.
static bool isComputation(Operation *op) {
  if (isa<tensor::ExtractOp, tensor::DimOp>(op))
    return true;
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
             op->getDialect()) &&
         isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperandTypes(), isScalar) &&
         llvm::all_of(op->getResultTypes(), isScalar);
}

/// Makes a tensor of rank 0 that holds `scalar`, which is defined before the
/// insertion point of `builder`.
static FailureOr<Value> makeTensor(OpBuilder &builder, Location loc,
                                   Value scalar) {
  auto type = RankedTensorType::get({}, scalar.getType());
  if (auto extract = scalar.getDefiningOp<tensor::ExtractOp>();
      extract && extract.getTensor().getType() == type)
    return extract.getTensor();
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = isComputation;
  if (scalar.getDefiningOp() && isComputation(scalar.getDefiningOp()) &&
      failed(getBackwardSlice(scalar, &slice, options)))
    return failure();
  Value empty = tensor::EmptyOp::create(builder, loc, type, ValueRange());
  return linalg::GenericOp::create(
             builder, loc, type, ValueRange(), empty,
             builder.getMultiDimIdentityMap(0), ArrayRef<utils::IteratorType>(),
             [&](OpBuilder &b, Location bodyLoc, ValueRange) {
               IRMapping mapping;
               for (Operation *op : slice)
                 b.clone(*op, mapping);
               linalg::YieldOp::create(b, bodyLoc,
                                       mapping.lookupOrDefault(scalar));
             })
      .getResult(0);
}

namespace {

struct ScalarResultsPass final
    : mlir::blockscale::impl::ScalarResultsPassBase<ScalarResultsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal() &&
          llvm::any_of(function.getResultTypes(), isScalar) &&
          failed(convert(function)))
        return signalPassFailure();
  }

private:
  LogicalResult convert(func::FuncOp function) {
    if (!SymbolTable::symbolKnownUseEmpty(function, getOperation()))
      return function.emitError("not supported in this version: a function "
                                "with scalar results that others call, on a "
                                "GPU target");
    WalkResult result = function.walk([](func::ReturnOp op) -> WalkResult {
      OpBuilder builder(op);
      for (OpOperand &operand : op->getOpOperands()) {
        if (!isScalar(operand.get().getType()))
          continue;
        FailureOr<Value> tensor =
            makeTensor(builder, op.getLoc(), operand.get());
        if (failed(tensor))
          return op.emitError("expected result #")
                 << operand.getOperandNumber()
                 << " to be computed in front of the return";
        operand.set(*tensor);
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    // Erases the host's computation of the scalars.
    for (Block &block : function.getBody())
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isOpTriviallyDead(&op))
          op.erase();
    SmallVector<Type> types(function.getResultTypes());
    for (Type &type : types)
      if (isScalar(type))
        type = RankedTensorType::get({}, type);
    function.setType(
        FunctionType::get(&getContext(), function.getArgumentTypes(), types));
    return success();
  }
};

} // namespace
