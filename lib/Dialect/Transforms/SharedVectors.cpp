//===- SharedVectors.cpp - What warps can share ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FragmentEmitter.h"
#include "ToFragments.h"
#include "VectorOperands.h"
#include "VectorTransfer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

bool blockscale::isSharedVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getRank() != 2 || vector.isScalable())
    return false;
  // Codes, and the integers that they are made of, are operands.
  Type element = vector.getElementType();
  return !element.isIntOrFloat() || element.isInteger(1) ||
         element.getIntOrFloatBitWidth() > 8;
}

/// Elements of an operand, which lanes load one by one.
static constexpr int64_t kMaxOperandElements = int64_t(1) << 17;

static InFlightDiagnostic emitUnsupported(Operation *op) {
  return op->emitOpError("not supported in this version: ");
}

static bool isTooLong(VectorType type) {
  return llvm::any_of(type.getShape(),
                      [](int64_t size) { return size > kMaxFragmentExtent; });
}

static LogicalResult verifyMma(MmaScaledOp op) {
  auto type = dyn_cast<VectorType>(op.getType());
  if (!type || type.getRank() != 2)
    return emitUnsupported(op)
           << "expected vectors of rank 2 in a kernel, got " << op.getType();
  for (Value operand : {op.getX(), op.getXScale(), op.getY(), op.getYScale()}) {
    auto operandType = cast<VectorType>(operand.getType());
    if (isTooLong(operandType) ||
        operandType.getNumElements() > kMaxOperandElements)
      return emitUnsupported(op)
             << "an operand of more than " << kMaxOperandElements
             << " elements, " << operandType;
    if (failed(findCodeSource(operand)))
      return failure();
  }
  return success();
}

/// Ops that have a pattern, or that move values on.
static LogicalResult verifySharedOp(Operation *op) {
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op))
    return verifyTransfer(transfer);
  if (auto mma = dyn_cast<MmaScaledOp>(op))
    return verifyMma(mma);
  auto isShared = [](Type type) {
    return !isa<VectorType>(type) || isSharedVector(type);
  };
  bool isElementwise = OpTrait::hasElementwiseMappableTraits(op) &&
                       op->getNumRegions() == 0 &&
                       llvm::all_of(op->getOperandTypes(), isShared) &&
                       llvm::all_of(op->getResultTypes(), isShared);
  bool isSupported = isa<scf::SCFDialect>(op->getDialect()) || isElementwise;
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    isSupported = !isa<VectorType>(broadcast.getSourceType());
  DenseElementsAttr attr;
  if (isa<arith::ConstantOp>(op))
    isSupported = matchPattern(op, m_Constant(&attr)) && attr.isSplat();
  if (!isSupported)
    return emitUnsupported(op) << "on a vector that a warp shares";
  return success();
}

LogicalResult blockscale::verifySharedVectors(gpu::GPUFuncOp function) {
  for (Type type : function.getArgumentTypes())
    if (isSharedVector(type))
      return emitUnsupported(function)
             << "a parameter that a warp shares, " << type;
  WalkResult result = function.walk([](Operation *op) -> WalkResult {
    for (Type type :
         llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                  SmallVector<Type>(op->getResultTypes()))) {
      if (!isSharedVector(type))
        continue;
      auto vector = cast<VectorType>(type);
      if (isTooLong(vector) ||
          getAccFragmentSize(vector.getDimSize(0), vector.getDimSize(1)) >
              kMaxAccElements)
        return emitUnsupported(op)
               << "a vector of more than " << kMaxAccElements
               << " elements in each lane, " << type;
      return verifySharedOp(op);
    }
    if (auto mma = dyn_cast<MmaScaledOp>(op))
      return verifyMma(mma);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
