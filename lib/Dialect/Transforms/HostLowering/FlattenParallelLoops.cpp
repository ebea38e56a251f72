//===- FlattenParallelLoops.cpp - Loops over threads ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops from linalg have as many dimensions as tensors, while grids have three,
// with limits. One dimension works for all.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/ParallelLoopMapper.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_FLATTENPARALLELLOOPSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;

static constexpr int64_t kThreads = 256;

static LogicalResult mapTo(scf::ParallelOp loop, gpu::Processor processor) {
  AffineMap identity = AffineMap::getMultiDimIdentityMap(1, loop.getContext());
  return gpu::setMappingAttr(
      loop, gpu::ParallelLoopDimMappingAttr::get(loop.getContext(), processor,
                                                 identity, identity));
}

namespace {

struct FlattenParallelLoopsPass final
    : mlir::blockscale::impl::FlattenParallelLoopsPassBase<
          FlattenParallelLoopsPass> {
  void runOnOperation() override {
    SmallVector<scf::ParallelOp> loops;
    getOperation()->walk<WalkOrder::PreOrder>([&](scf::ParallelOp loop) {
      loops.push_back(loop);
      return WalkResult::skip(); // Loops inside run in one thread.
    });
    for (scf::ParallelOp loop : loops)
      if (failed(flatten(loop)))
        return signalPassFailure();
  }

private:
  LogicalResult flatten(scf::ParallelOp loop) {
    if (loop.getNumResults() != 0)
      return loop.emitError("not supported in this version: a parallel loop "
                            "with a reduction on a GPU target");
    if (hasOneIteration(loop)) {
      replaceByLaunch(loop);
      return success();
    }
    std::vector<unsigned> dims(loop.getNumLoops());
    std::iota(dims.begin(), dims.end(), 0);
    // The collapsed loop replaces `loop`.
    IRRewriter rewriter(&getContext());
    Operation *next = loop->getNextNode();
    if (!next)
      return loop.emitError("expected an op after a parallel loop");
    collapseParallelLoops(rewriter, loop, {dims});
    auto flat = cast<scf::ParallelOp>(next->getPrevNode());
    auto [blocks, threads] =
        scf::tileParallelLoop(flat, kThreads, /*noMinMaxBounds=*/false);
    if (failed(mapTo(blocks, gpu::Processor::BlockX)) ||
        failed(mapTo(threads, gpu::Processor::ThreadX)))
      return failure();
    return success();
  }

  static bool hasOneIteration(scf::ParallelOp loop) {
    return llvm::all_of(llvm::zip_equal(loop.getLowerBound(),
                                        loop.getUpperBound(), loop.getStep()),
                        [](auto dim) {
                          auto [first, end, step] = dim;
                          std::optional<APInt> count = constantTripCount(
                              first, end, step, /*isSigned=*/true,
                              scf::computeUbMinusLb);
                          return count && count->isOne();
                        });
  }

  /// One iteration becomes a launch of one thread: a loop with one iteration
  /// would fold, and its body would stay on the host.
  void replaceByLaunch(scf::ParallelOp loop) {
    IRRewriter rewriter(loop);
    Location loc = loop.getLoc();
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    auto launch =
        gpu::LaunchOp::create(rewriter, loc, one, one, one, one, one, one);
    Block &body = launch.getBody().front();
    rewriter.eraseOp(loop.getBody()->getTerminator());
    rewriter.inlineBlockBefore(loop.getBody(), &body, body.end(),
                               loop.getLowerBound());
    rewriter.setInsertionPointToEnd(&body);
    gpu::TerminatorOp::create(rewriter, loc);
    rewriter.eraseOp(loop);
  }
};

} // namespace
