//===- KernelOps.cpp - Ops in kernels -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"

#include "Quantize/BlockTypes.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// acc_load and acc_store
//===----------------------------------------------------------------------===//

template <typename AccOp>
static LogicalResult verifyIndices(AccOp op) {
  int64_t rank = op.getMemory().getType().getRank();
  if (static_cast<int64_t>(op.getIndices().size()) != rank)
    return op.emitOpError("expected one index for each of ")
           << rank << " dimensions, got " << op.getIndices().size();
  return success();
}

LogicalResult AccLoadOp::verify() { return verifyIndices(*this); }
LogicalResult AccStoreOp::verify() { return verifyIndices(*this); }

//===----------------------------------------------------------------------===//
// acc_generate, acc_for_each and acc_quantize
//===----------------------------------------------------------------------===//

/// Checks the arguments of a body, and whether it yields a value.
static LogicalResult verifyBody(Operation *op, Block &body,
                                ArrayRef<Type> arguments, bool yieldsValue) {
  if (body.getArgumentTypes() != TypeRange(arguments))
    return op->emitOpError("expected a body with arguments of types ")
           << TypeRange(arguments) << ", got " << body.getArgumentTypes();
  auto yield = dyn_cast<YieldOp>(body.back());
  if (yield && (yield.getValue() != nullptr) == yieldsValue)
    return success();
  return op->emitOpError(
             "expected a body that ends with a blockscale.yield of ")
         << (yieldsValue ? "an f32" : "nothing");
}

LogicalResult AccGenerateOp::verifyRegions() { // (G1)
  Type index = IndexType::get(getContext());
  return verifyBody(*this, getBody().front(), {index, index},
                    /*yieldsValue=*/true);
}

/// The types of an element, or of a pair of them, and of a position.
static SmallVector<Type> getElementArguments(MLIRContext *context,
                                             bool hasPairs) {
  SmallVector<Type> arguments(hasPairs ? 2 : 1, Float32Type::get(context));
  arguments.append(2, IndexType::get(context));
  return arguments;
}

LogicalResult AccForEachOp::verifyRegions() { // (G2)
  return verifyBody(*this, getBody().front(),
                    getElementArguments(getContext(), getPairs()),
                    /*yieldsValue=*/false);
}

LogicalResult AccQuantizeOp::verify() {
  if (failed(verifyBlockTypes(*this, getElement(), getScale(),
                              getBlockSize())) || // (G4)
      failed(verifyScaleRule(*this, getScale(), getRule(),
                             getTensorScale() != nullptr)))
    return failure();
  bool isPower = getScaleFormat(getScale()) == Format::UE8M0;
  if (isPower && !getRule())
    return emitOpError("expected a 'rule' for scales of type ") << getScale();
  int64_t rank = getBatch() ? 3 : 2; // (G5)
  int64_t elements = getElements().getType().getRank();
  if (elements != rank)
    return emitOpError("expected elements of rank ")
           << rank << ", got " << elements;
  constexpr int64_t kAtomDims = 2;
  int64_t scales = getScales().getType().getRank();
  if (scales != rank && scales != rank + kAtomDims)
    return emitOpError("expected scales of rank ")
           << rank << ", or " << rank + kAtomDims
           << " in the 32x4x4 layout, got " << scales;
  constexpr int64_t kByte = 8;
  int64_t bits = getElement().getIntOrFloatBitWidth();
  int64_t codeBits = getCodeBits();
  if (codeBits != kByte && (codeBits != bits || kByte % bits != 0))
    return emitOpError("expected 8 bits for each code, or 4 for f4E2M1FN, got ")
           << codeBits;
  return success();
}

LogicalResult AccQuantizeOp::verifyRegions() { // (G3)
  return verifyBody(*this, getBody().front(),
                    getElementArguments(getContext(), getPairs()),
                    /*yieldsValue=*/true);
}

LogicalResult AccInterleaveOp::verify() { // (A5)
  AccType acc = getAcc().getType();
  auto warps = dyn_cast<WarpsAttr>(Attribute(acc.getLayout()));
  constexpr int64_t kInterleave = 4;
  bool isLegal =
      warps && warps.getInterleaveM() == 1 && warps.getInterleaveN() == 1 &&
      getType() ==
          AccType::get(getContext(), acc.getM(), acc.getN(),
                       WarpsAttr::get(getContext(), warps.getRows(),
                                      warps.getColumns(),
                                      /*interleave_m=*/1, kInterleave));
  if (isLegal)
    return success();
  return emitOpError("expected an accumulator in warps that are not "
                     "interleaved, and the same interleaved by 4 along N, got ")
         << acc << " and " << getType();
}
