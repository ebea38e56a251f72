//===- WrapScalarOps.cpp - Loops for ops on scalars -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only parallel loops become kernels. Upstream's lowering of linalg creates
// none for an op on scalars, and a sequential loop around them for an op whose
// first loop is a reduction.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_WRAPSCALAROPSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;

namespace {

struct WrapScalarOpsPass final
    : mlir::blockscale::impl::WrapScalarOpsPassBase<WrapScalarOpsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    for (Block &block : function.getBody())
      for (auto op :
           llvm::make_early_inc_range(block.getOps<linalg::LinalgOp>()))
        if (op.hasPureBufferSemantics()) {
          if (op.getNumParallelLoops() == 0)
            wrap(op);
          else if (failed(moveParallelLoopsOut(op)))
            return signalPassFailure();
        }
  }

private:
  /// Moves parallel loops out. Loops of one kind keep their order, and so the
  /// order of a reduction stays.
  static LogicalResult moveParallelLoopsOut(linalg::LinalgOp op) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic)
      return success();
    SmallVector<utils::IteratorType> iterators =
        generic.getIteratorTypesArray();
    SmallVector<unsigned> order;
    for (bool isParallel : {true, false})
      for (auto [loop, iterator] : llvm::enumerate(iterators))
        if ((iterator == utils::IteratorType::parallel) == isParallel)
          order.push_back(loop);
    if (llvm::is_sorted(order))
      return success();
    IRRewriter rewriter(generic);
    return linalg::interchangeGenericOp(rewriter, generic, order);
  }

  static void wrap(linalg::LinalgOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    auto loop = scf::ParallelOp::create(builder, loc, zero, one, one);
    op->moveBefore(loop.getBody()->getTerminator());
  }
};

} // namespace
