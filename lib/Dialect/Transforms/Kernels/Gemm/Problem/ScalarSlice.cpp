//===- ScalarSlice.cpp - Scalars that kernels compute ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host only launches. It cannot read what kernels in front have written.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/ScalarSlice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The op that makes `scalar`, if a kernel can do the same.
static Operation *getComputed(Value scalar) {
  Operation *op = scalar.getDefiningOp();
  if (!op || matchPattern(scalar, m_Constant()))
    return nullptr;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    bool isKnown = llvm::all_of(extract.getIndices(), [](Value index) {
      return matchPattern(index, m_Constant());
    });
    return isKnown ? op : nullptr;
  }
  bool isArithmetic =
      isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          op->getDialect()) &&
      op->getNumResults() == 1 && op->getNumRegions() == 0 &&
      isMemoryEffectFree(op) &&
      llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>);
  return isArithmetic ? op : nullptr;
}

static void collectInputs(Value scalar, SetVector<Value> &inputs) {
  Operation *op = getComputed(scalar);
  if (!op) {
    if (!matchPattern(scalar, m_Constant()))
      inputs.insert(scalar);
    return;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    inputs.insert(extract.getTensor());
    return;
  }
  for (Value operand : op->getOperands())
    collectInputs(operand, inputs);
}

FusedScalar blockscale::fuseScalar(KernelInputs &inputs, Value scalar) {
  FusedScalar fused = {scalar, {}};
  SetVector<Value> own;
  if (scalar)
    collectInputs(scalar, own);
  for (Value input : own)
    fused.arguments.emplace_back(input, inputs.add(input));
  return fused;
}

static Value emit(OpBuilder &b, Value scalar, IRMapping &mapping,
                  function_ref<Value(Value)> getArgument) {
  if (Value known = mapping.lookupOrNull(scalar))
    return known;
  Value result;
  if (Operation *op = getComputed(scalar)) {
    for (Value operand : op->getOperands())
      if (!isa<TensorType>(operand.getType()))
        emit(b, operand, mapping, getArgument);
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      result = memref::LoadOp::create(
          b, op->getLoc(), getArgument(extract.getTensor()),
          llvm::map_to_vector(extract.getIndices(), [&](Value index) {
            return mapping.lookup(index);
          }));
    else
      result = b.clone(*op, mapping)->getResult(0);
  } else if (matchPattern(scalar, m_Constant())) {
    result = b.clone(*scalar.getDefiningOp())->getResult(0);
  } else {
    result = getArgument(scalar);
  }
  mapping.map(scalar, result);
  return result;
}

Value blockscale::emitScalar(OpBuilder &b, gpu::GPUFuncOp kernel,
                             const FusedScalar &scalar) {
  if (!scalar.value)
    return Value();
  IRMapping mapping;
  return emit(b, scalar.value, mapping, [&](Value input) {
    return kernel.getArgument(getArgumentOf(scalar.arguments, input));
  });
}
