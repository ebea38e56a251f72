//===- PairFusion.cpp - Epilogues that combine columns --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/PairFusion.h"

#include "Fragments/AccLowering.h"
#include "HostLowering/CheckReshapes.h"
#include "Kernels/FormKernels/ExactRecomputation.h"
#include "Kernels/Gemm/Frontend/ElementwiseFusion.h"
#include "Kernels/Gemm/Frontend/HostChecks.h"
#include "Kernels/Gemm/Paths/AlternativeList.h"
#include "Kernels/Gemm/Paths/GemmPath.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Whether the kernel for `schedule` has pairs in a warp.
static bool holdsPairs(InstructionAttr instruction,
                       ScheduleInterface schedule) {
  KernelProblem problem;
  problem.instruction = instruction;
  problem.schedule = schedule;
  const GemmPath *path = getGemmPath(instruction.getPath());
  return path->findKernel(schedule)->holdsPairs(problem);
}

// Kernels of products of groups never split K.
FailureOr<linalg::GenericOp> blockscale::findFusedPairs(ProductOpInterface op) {
  linalg::GenericOp consumer = findPairConsumer(op);
  if (!consumer || !op.getRowGroups())
    return linalg::GenericOp();
  FailureOr<TargetAttr> target = getTarget(op);
  if (failed(target))
    return failure();
  const Chip &chip = *(*target).getChip();
  auto instruction = op->getAttrOfType<InstructionAttr>(kInstructionAttrName);
  auto schedule = op->getAttrOfType<ScheduleInterface>(kScheduleAttrName);
  if (!instruction || !schedule || !holdsPairs(instruction, schedule))
    return linalg::GenericOp();
  FailureOr<SmallVector<AlternativeAttr>> list = readAlternatives(op, chip);
  if (failed(list))
    return failure();
  for (AlternativeAttr each : *list)
    if (!holdsPairs(each.getInstruction(), each.getSchedule()))
      return linalg::GenericOp();
  if (op.getXScale() || findQuantizedB(op)) {
    ExactRecomputation exact = getExactRecomputation(op, chip);
    if (!holdsPairs(exact.instruction, exact.schedule))
      return linalg::GenericOp();
  }
  return consumer;
}

/// The reshape that a findPairConsumer reads.
static tensor::ExpandShapeOp getReshape(ProductOpInterface op) {
  return cast<tensor::ExpandShapeOp>(*op->getResult(0).user_begin());
}

void blockscale::checkPairs(RewriterBase &rewriter, ProductOpInterface op,
                            const HostProblem &host) {
  auto expand = getReshape(op);
  checkExpandedSizes(expand, host.getProductSizes());
  linalg::GenericOp consumer = host.problem.consumer->op;
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(consumer);
  checkFusedSizes(rewriter, consumer, *consumer.getDpsInitOperand(0),
                  {sizes[0], sizes[1], sizes[3]}, op->getLoc());
}

void blockscale::erasePairs(RewriterBase &rewriter, ProductOpInterface op,
                            linalg::GenericOp consumer) {
  rewriter.eraseOp(findJoinedPairs(consumer).getDefiningOp());
  rewriter.eraseOp(consumer);
  rewriter.eraseOp(getReshape(op));
}

void blockscale::replacePairs(RewriterBase &rewriter, ProductOpInterface op,
                              linalg::GenericOp consumer, Value result) {
  // Its own result has the columns in blocks.
  Location loc = op->getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(consumer);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, result);
  OpFoldResult blocks = affine::makeComposedFoldedAffineApply(
      rewriter, loc, rewriter.getAffineDimExpr(0).floorDiv(kPairDistance),
      {sizes[1]});
  Value expanded = tensor::ExpandShapeOp::create(
      rewriter, loc, consumer->getResult(0).getType(), result,
      ArrayRef<ReassociationIndices>{{0}, {1, 2}},
      {sizes[0], blocks, rewriter.getIndexAttr(kPairDistance)});
  rewriter.replaceAllUsesWith(consumer->getResult(0), expanded);
  rewriter.eraseOp(consumer);
  rewriter.eraseOp(getReshape(op));
}
