//===- KernelWalk.cpp - The walk that forms kernels -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/Steps.h"

#include "Kernels/Launch/OpForming.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class KernelWalk {
public:
  explicit KernelWalk(MLIRContext *context) : rewriter(context) {}

  /// Walks over what regions of `op` hold.
  void visitRegions(Operation *op) {
    for (Region &region : llvm::reverse(op->getRegions()))
      for (Block &block : llvm::reverse(region))
        visitBlock(block);
  }

  bool hasFailed() const { return failedOnce; }

private:
  void visitBlock(Block &block) {
    for (Operation *op = block.empty() ? nullptr : &block.back(); op;) {
      // There may be new ops in front of `op` now; they come next. Only ops
      // behind it were erased.
      visit(op);
      Operation *previous = op->getPrevNode();
      eraseIfDead(op);
      op = previous;
    }
  }

  void visit(Operation *op) {
    resolveResultSizes(rewriter, op);
    if (isOpTriviallyDead(op))
      return;
    form(op);
    if (!isOpTriviallyDead(op))
      visitRegions(op);
  }

  /// Gives `op` a kernel; and then to each op that was left for its kernel to
  /// fuse, but was not fused.
  void form(Operation *op) {
    rewriter.setInsertionPoint(op);
    FormedResults results = replace(op);
    if (failed(results)) {
      failedOnce = true;
      return;
    }
    SmallVector<Operation *> left;
    for (Value result : *results)
      for (Operation *user : result.getUsers())
        if (isa<QuantizeOp, SwizzleScalesOp>(user))
          left.push_back(user);
    for (Operation *user : left) {
      form(user);
      eraseIfDead(user);
    }
  }

  /// What replaced the results of `op`: nothing if it stays.
  FormedResults replace(Operation *op) {
    auto by = [&](auto form) {
      return [&, form](auto op) { return form(rewriter, symbols, op); };
    };
    return TypeSwitch<Operation *, FormedResults>(op)
        .Case<ProductOpInterface>(by(formProduct))
        .Case<QuantizeOp>(by(formQuantize))
        .Case<DequantizeOp>(by(formDequantize))
        .Case<SwizzleScalesOp>(by(formSwizzle))
        .Case<linalg::GenericOp>(by(formReduce))
        .Case<linalg::SoftmaxOp>(by(formSoftmax))
        .Default(FormedResults(SmallVector<Value>()));
  }

  void eraseIfDead(Operation *op) {
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
  }

  IRRewriter rewriter;
  SymbolTableCollection symbols;
  bool failedOnce = false;
};
} // namespace

LogicalResult blockscale::formKernels(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  module.walk([&](func::FuncOp function) { functions.push_back(function); });
  KernelWalk walk(module.getContext());
  for (func::FuncOp function : llvm::reverse(functions))
    walk.visitRegions(function);
  return failure(walk.hasFailed());
}
