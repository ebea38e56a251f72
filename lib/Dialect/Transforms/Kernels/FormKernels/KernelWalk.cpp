//===- KernelWalk.cpp - The walk that forms kernels -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/Steps.h"

#include "Kernels/Launch/OpForming.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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
    SetVector<Operation *> behind;
    for (Value result : *results)
      addBehind(result, behind);
    auto left = llvm::filter_to_vector(
        behind, llvm::IsaPred<QuantizeOp, SwizzleScalesOp>);
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
        .Case<RebaseOp>(by(formRebase))
        .Case<SwizzleScalesOp>(by(formSwizzle))
        .Case<SwizzleGroupScalesOp>(by(formSwizzleGroups))
        .Case<DecompressOp>(by(formDecompress))
        .Case<linalg::TransposeOp>(by(formTranspose))
        .Case<linalg::GenericOp>(by(formReduce))
        .Case<linalg::SoftmaxOp>(by(formSoftmax))
        .Case<CombineRowsOp>(by(formCombineRows))
        .Case<RouteOp>(by(formRoute))
        .Case<SortRoutesOp>(by(formSortRoutes))
        .Default(FormedResults(SmallVector<Value>()));
  }

  /// Adds the ops behind `result` that the kernel of its op might have
  /// computed: its users, and those of reshapes and elementwise ops, which
  /// combine pairs of columns.
  static void addBehind(Value result, SetVector<Operation *> &behind) {
    for (Operation *user : result.getUsers())
      if (behind.insert(user) &&
          isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
              linalg::GenericOp>(user))
        for (Value next : user->getResults())
          addBehind(next, behind);
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

/// If all uses of the results of `launch` are launches with conditions, it
/// needs to run only if one of them does: moves it to the first of them. For
/// example, only some alternatives of a product read a dequantized y.
static void moveToUses(LaunchOp launch) {
  LaunchOp first;
  SmallVector<LaunchOp> users;
  for (Operation *user : launch->getUsers()) {
    auto other = dyn_cast<LaunchOp>(user);
    if (!other || other->getBlock() != launch->getBlock() ||
        !other.getCondition())
      return;
    users.push_back(other);
    if (!first || other->isBeforeInBlock(first))
      first = other;
  }
  auto isKnown = [&](LaunchOp user) {
    Operation *maker = user.getCondition().getDefiningOp();
    return !maker || maker->getBlock() != first->getBlock() ||
           maker->isBeforeInBlock(first);
  };
  if (!first || launch.getCondition() || !llvm::all_of(users, isKnown))
    return;
  OpBuilder b(first);
  Value any;
  for (LaunchOp user : users) {
    Value condition = user.getCondition();
    any = !any || any == condition
              ? condition
              : b.createOrFold<arith::OrIOp>(launch.getLoc(), any, condition);
  }
  launch->moveBefore(first);
  b.setInsertionPoint(launch);
  launch.setCondition(b, any);
}

LogicalResult blockscale::formKernels(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  module.walk([&](func::FuncOp function) { functions.push_back(function); });
  KernelWalk walk(module.getContext());
  for (func::FuncOp function : llvm::reverse(functions))
    walk.visitRegions(function);
  for (func::FuncOp function : functions) {
    auto launches = llvm::to_vector(function.getOps<LaunchOp>());
    for (LaunchOp launch : llvm::reverse(launches))
      moveToUses(launch);
  }
  return failure(walk.hasFailed());
}
