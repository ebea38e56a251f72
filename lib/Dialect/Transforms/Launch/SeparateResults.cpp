//===- SeparateResults.cpp - Each buffer once -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream turns each result into an argument with a buffer of its own: a value
// that is returned twice would be written once, and a view would be copied. So
// this pass makes each result an allocation of its own, with the shape that is
// returned; the ops that compute it write to a view of that.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Launch/DynamicSizes.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SEPARATERESULTSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Recomputes `size` from sizes of arguments at the insertion point of
/// `builder`, which is the start of the function.
static OpFoldResult computeAgain(OpBuilder &builder, OpFoldResult size,
                                 IRMapping &mapping) {
  auto value = dyn_cast<Value>(size);
  if (!value)
    return size;
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.back();
    Operation *op = next.getDefiningOp();
    if (!op || mapping.contains(next)) {
      pending.pop_back();
      continue;
    }
    size_t numPending = pending.size();
    for (Value operand : op->getOperands())
      if (operand.getDefiningOp() && !mapping.contains(operand))
        pending.push_back(operand);
    if (pending.size() == numPending)
      builder.clone(*op, mapping);
  }
  return mapping.lookupOrDefault(value);
}

/// The sizes of `buffer`, as values of the function. Those of a view are its
/// operands, or follow from the sizes of its source.
static SmallVector<OpFoldResult> getSizes(OpBuilder &builder, Location loc,
                                          Value buffer) {
  if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
    return alloc.getMixedSizes();
  if (auto expand = buffer.getDefiningOp<memref::ExpandShapeOp>())
    return expand.getMixedOutputShape();
  if (auto sizes = getViewSizes(buffer))
    return *sizes;
  if (auto cast = buffer.getDefiningOp<memref::CastOp>();
      cast && isa<MemRefType>(cast.getSource().getType()))
    return getSizes(builder, loc, cast.getSource());
  SmallVector<OpFoldResult> sizes;
  auto collapse = buffer.getDefiningOp<memref::CollapseShapeOp>();
  if (!collapse) {
    for (int64_t dim = 0; dim != cast<MemRefType>(buffer.getType()).getRank();
         ++dim)
      sizes.push_back(getAsOpFoldResult(
          builder.createOrFold<memref::DimOp>(loc, buffer, dim)));
    return sizes;
  }
  SmallVector<OpFoldResult> inner = getSizes(builder, loc, collapse.getSrc());
  for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
    SmallVector<OpFoldResult> ofGroup;
    AffineExpr product = builder.getAffineConstantExpr(1);
    for (int64_t dim : group) {
      product = product * builder.getAffineSymbolExpr(ofGroup.size());
      ofGroup.push_back(inner[dim]);
    }
    sizes.push_back(affine::makeComposedFoldedAffineApply(
        builder, loc, AffineMap::get(0, ofGroup.size(), product), ofGroup));
  }
  return sizes;
}

/// Allocates memory like `type`, of `sizes`.
static Value allocate(OpBuilder &builder, Location loc, MemRefType type,
                      ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  for (auto [size, known] : llvm::zip_equal(sizes, type.getShape()))
    if (ShapedType::isDynamic(known))
      dynamic.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  return memref::AllocOp::create(builder, loc, plain, dynamic);
}

/// Replaces `memref.dim` of views and allocations by the sizes that they are
/// made from, so that only `memref.dim` of arguments remains.
static void resolveDims(func::FuncOp function) {
  SmallVector<memref::DimOp> dims;
  function.walk([&](memref::DimOp dim) { dims.push_back(dim); });
  for (memref::DimOp dim : dims) {
    std::optional<int64_t> index = dim.getConstantIndex();
    auto type = dyn_cast<MemRefType>(dim.getSource().getType());
    if (!type || !index || *index < 0 || *index >= type.getRank() ||
        !dim.getSource().getDefiningOp())
      continue;
    OpBuilder builder(dim);
    OpFoldResult size =
        getSizes(builder, dim.getLoc(), dim.getSource())[*index];
    Value value = getValueOrCreateConstantIndexOp(builder, dim.getLoc(), size);
    // If the sizes are not known, the result is another `memref.dim`.
    auto same = value.getDefiningOp<memref::DimOp>();
    if (same && same.getSource() == dim.getSource())
      continue;
    dim.getResult().replaceAllUsesWith(value);
    dim.erase();
  }
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
/// A result that is a view of a whole allocation, by reshapes and casts of
/// sizes.
struct ReturnedView {
  memref::AllocOp alloc;
  /// From the allocation to the returned value.
  SmallVector<Operation *> reshapes;
};
} // namespace

static std::optional<ReturnedView> findView(Value value) {
  ReturnedView view;
  while (Operation *op = value.getDefiningOp()) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      view.alloc = alloc;
      std::reverse(view.reshapes.begin(), view.reshapes.end());
      return view.reshapes.empty() ? std::nullopt : std::optional(view);
    }
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(
            op) ||
        !isa<MemRefType>(op->getOperand(0).getType()))
      return std::nullopt;
    view.reshapes.push_back(op);
    value = op->getOperand(0);
  }
  return std::nullopt;
}

/// Makes the inverse of `reshape` at the insertion point of `builder`: a view
/// of `buffer`, which has the type of its result, with the type of its source.
/// `mapping` has sizes at that point.
static Value makeInverse(OpBuilder &builder, Operation *reshape, Value buffer,
                         IRMapping &mapping) {
  Location loc = reshape->getLoc();
  if (auto cast = dyn_cast<memref::CastOp>(reshape))
    return memref::CastOp::create(builder, loc, cast.getSource().getType(),
                                  buffer);
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(reshape))
    return memref::CollapseShapeOp::create(
        builder, loc, cast<MemRefType>(expand.getSrc().getType()), buffer,
        expand.getReassociationIndices());
  auto collapse = cast<memref::CollapseShapeOp>(reshape);
  SmallVector<OpFoldResult> sizes;
  {
    OpBuilder here(reshape);
    sizes = getSizes(here, loc, collapse.getSrc());
  }
  for (OpFoldResult &size : sizes)
    size = computeAgain(builder, size, mapping);
  return memref::ExpandShapeOp::create(
      builder, loc, cast<MemRefType>(collapse.getSrc().getType()), buffer,
      collapse.getReassociationIndices(), sizes);
}

/// Allocates the result `operand` with the shape that is returned, and replaces
/// the former allocation by a view of it. Changes nothing if a size is not
/// known at the start of the function.
static void allocateResult(func::FuncOp function, OpOperand &operand) {
  std::optional<ReturnedView> view = findView(operand.get());
  if (!view ||
      !cast<MemRefType>(operand.get().getType()).getLayout().isIdentity())
    return;
  OpBuilder here(operand.getOwner());
  SmallVector<OpFoldResult> sizes =
      getSizes(here, operand.getOwner()->getLoc(), operand.get());
  auto isKnown = [&](ArrayRef<OpFoldResult> of) {
    return llvm::all_of(of, [&](OpFoldResult size) {
      auto value = dyn_cast<Value>(size);
      return !value || isMadeOfSizes(function, value);
    });
  };
  if (!isKnown(sizes))
    return;
  for (Operation *reshape : view->reshapes) {
    OpBuilder before(reshape);
    if (!isKnown(getSizes(before, reshape->getLoc(), reshape->getOperand(0))))
      return;
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  IRMapping mapping;
  for (OpFoldResult &size : sizes)
    size = computeAgain(builder, size, mapping);
  Value result = allocate(builder, view->alloc.getLoc(),
                          cast<MemRefType>(operand.get().getType()), sizes);
  Value source = result;
  for (Operation *reshape : llvm::reverse(view->reshapes))
    source = makeInverse(builder, reshape, source, mapping);
  operand.set(result);
  view->alloc.getResult().replaceAllUsesWith(source);
  view->alloc.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct SeparateResultsPass final
    : mlir::blockscale::impl::SeparateResultsPassBase<SeparateResultsPass> {
  void runOnOperation() override {
    resolveDims(getOperation());
    WalkResult result =
        getOperation()->walk([&](func::ReturnOp op) -> WalkResult {
          for (OpOperand &operand : op->getOpOperands())
            allocateResult(getOperation(), operand);
          separate(op);
          return recordSizes(op);
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  static void separate(func::ReturnOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    llvm::SmallPtrSet<Value, 4> returned;
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      if (!type)
        continue;
      bool isNew = returned.insert(operand.get()).second;
      if (isNew && operand.get().getDefiningOp<memref::AllocOp>())
        continue;
      // A result that is not allocated here would be copied by a later pass,
      // and then no op would state its sizes.
      if (isNew && type.hasStaticShape())
        continue;
      Value copy =
          allocate(builder, loc, type, getSizes(builder, loc, operand.get()));
      memref::CopyOp::create(builder, loc, operand.get(), copy);
      operand.set(copy);
    }
  }

  /// Results become arguments, which do not carry their sizes.
  LogicalResult recordSizes(func::ReturnOp op) {
    func::FuncOp function = getOperation();
    OpBuilder builder(op);
    for (auto [i, value] : llvm::enumerate(op.getOperands())) {
      auto type = dyn_cast<MemRefType>(value.getType());
      if (!type || type.hasStaticShape())
        continue;
      auto alloc = value.getDefiningOp<memref::AllocOp>();
      for (auto [number, size] : llvm::enumerate(alloc.getDynamicSizes()))
        if (!isMadeOfSizes(function, size))
          return op.emitError("not supported in this version: result #")
                 << i << " of " << type << " on a GPU target, with dynamic size"
                 << " #" << number
                 << " that is not computed from sizes of arguments and from "
                    "arguments that are integers";
      ResultSizesOp::create(builder, op.getLoc(), value,
                            alloc.getDynamicSizes());
    }
    return success();
  }
};

} // namespace
