//===- VerifyDistribution.cpp - Checks before distribution ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversion has patterns only for some uses of shared values. This check
// names and refuses all other uses before anything changes.
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccLowering.h"
#include "Fragments/FragmentEmitter.h"
#include "Fragments/LanePatterns.h"
#include "Fragments/VectorElements.h"
#include "Fragments/VectorTransfer.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

bool blockscale::isSharedVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getRank() != 2 || vector.isScalable())
    return false;
  // Narrow floats, and the integers that they come from, are operands.
  Type element = vector.getElementType();
  return !element.isIntOrFloat() || element.isInteger(1) ||
         element.getIntOrFloatBitWidth() > 8;
}

/// The most elements of an operand: lanes may have to load them one by one.
static constexpr int64_t kMaxOperandElements = int64_t(1) << 17;

static InFlightDiagnostic emitUnsupported(Operation *op) {
  return op->emitOpError("not supported in this version: ");
}

static LogicalResult verifyExtents(Operation *op, VectorType type) {
  for (int64_t size : type.getShape())
    if (size > kMaxFragmentExtent)
      return emitUnsupported(op)
             << "a vector of more than " << kMaxFragmentExtent
             << " rows or columns, " << type;
  return success();
}

static LogicalResult verifyMma(MmaScaledOp op) {
  auto type = dyn_cast<VectorType>(op.getType());
  if (!type || type.getRank() != 2)
    return emitUnsupported(op)
           << "expected vectors of rank 2 in a kernel, got " << op.getType();
  auto instruction = op->getAttrOfType<InstructionAttr>(kInstructionAttrName);
  if (!instruction || !getPathInfo(instruction.getPath()).isWarpLevel ||
      !getRewrite(op.getTypes(), instruction.getInstruction()))
    return op.emitOpError("expected the attribute '")
           << kInstructionAttrName << "' of blockscale-legalize";
  for (Value operand : {op.getX(), op.getXScale(), op.getY(), op.getYScale()}) {
    auto operandType = cast<VectorType>(operand.getType());
    if (failed(verifyExtents(op, operandType)))
      return failure();
    if (operandType.getNumElements() > kMaxOperandElements)
      return emitUnsupported(op)
             << "an operand of more than " << kMaxOperandElements
             << " elements, " << operandType;
    if (failed(findElementSource(operand)))
      return failure();
  }
  return success();
}

/// Control flow that passes values on.
static bool isControlFlow(Operation *op) {
  return isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::ConditionOp,
             scf::YieldOp>(op);
}

/// Ops on shared vectors that have a pattern.
static LogicalResult verifySharedOp(Operation *op) {
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op))
    return verifyTransfer(transfer);
  auto isShared = [](Type type) {
    return !isa<VectorType>(type) || isSharedVector(type);
  };
  bool isSupported = OpTrait::hasElementwiseMappableTraits(op) &&
                     op->getNumRegions() == 0 &&
                     llvm::all_of(op->getOperandTypes(), isShared) &&
                     llvm::all_of(op->getResultTypes(), isShared);
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    isSupported = !isa<VectorType>(broadcast.getSourceType());
  DenseElementsAttr attr;
  if (isa<arith::ConstantOp>(op))
    isSupported = matchPattern(op, m_Constant(&attr)) && attr.isSplat();
  if (!isSupported)
    return emitUnsupported(op) << "on a vector that a warp shares";
  return success();
}

bool blockscale::isAccOp(Operation *op) {
  return isa<TileMmaOp, LoadFragmentsOp, FragmentsMmaOp, AccZeroOp, AccLoadOp,
             AccStoreOp, AccGenerateOp, AccForEachOp, AccQuantizeOp, AccReadOp,
             AccFactorsOp, AccPromoteOp, AccInterleaveOp, AccAddOp,
             WarpgroupMmaOp, WarpgroupMmaMixedOp, WarpgroupMmaGemvOp,
             WarpgroupWaitOp, AccTotalOp, AccTransposeOp>(op);
}

/// Checks the use in `op` of a value of `type`, which is distributed to lanes.
static LogicalResult verifyDistributed(Operation *op, Type type) {
  if (auto acc = dyn_cast<AccType>(type)) {
    const AccLowering *lowering = lookupAccLowering(acc);
    if (!lowering)
      return emitUnsupported(op)
             << "an accumulator in " << Attribute(acc.getLayout());
    if (auto quantize = dyn_cast<AccQuantizeOp>(op);
        quantize && !lowering->getBlocks(acc, quantize.getBlockSize()))
      return op->emitOpError("expected whole blocks of ")
             << quantize.getBlockSize() << " columns in each warp, got " << acc;
    if (auto forEach = dyn_cast<AccForEachOp>(op);
        forEach && forEach.getPairs() && !lowering->getPairs(acc))
      return op->emitOpError("expected pairs of columns in each warp, got ")
             << acc;
    for (Value operand : op->getOperands())
      if (Operation *mma = operand.getDefiningOp();
          isa_and_nonnull<WarpgroupMmaOp, WarpgroupMmaMixedOp>(mma) &&
          isa<AccType>(operand.getType()) && !isControlFlow(op) &&
          !isa<WarpgroupMmaOp, WarpgroupMmaMixedOp, WarpgroupWaitOp>(op))
        return op->emitOpError("expected sums that a warpgroup_wait has waited "
                               "for, got those of a ")
               << mma->getName().stripDialect();
    if (isControlFlow(op) || isAccOp(op))
      return success();
    return emitUnsupported(op) << "on an accumulator";
  }
  if (isa<FragmentsType>(type)) {
    if (isControlFlow(op) || isAccOp(op))
      return success();
    return emitUnsupported(op) << "on fragments";
  }
  auto vector = cast<VectorType>(type);
  if (failed(verifyExtents(op, vector)))
    return failure();
  if (getNumAccElements(vector.getDimSize(0), vector.getDimSize(1)) >
      kMaxAccElements)
    return emitUnsupported(op) << "a vector of more than " << kMaxAccElements
                               << " elements in each lane, " << type;
  if (isControlFlow(op) || isa<MmaScaledOp>(op))
    return success();
  return verifySharedOp(op);
}

LogicalResult blockscale::verifyDistribution(gpu::GPUFuncOp function,
                                             bool hasSharedVectors) {
  auto isDistributed = [&](Type type) {
    return isa<AccType, FragmentsType>(type) ||
           (hasSharedVectors && isSharedVector(type));
  };
  for (Type type : function.getArgumentTypes())
    if (isDistributed(type))
      return emitUnsupported(function)
             << "a parameter that lanes hold in parts, " << type;
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    auto *type = llvm::find_if(types, isDistributed);
    if (type != types.end() && failed(verifyDistributed(op, *type)))
      return failure();
    if (auto mma = dyn_cast<MmaScaledOp>(op))
      return verifyMma(mma);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
