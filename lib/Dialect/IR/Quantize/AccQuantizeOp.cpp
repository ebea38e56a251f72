//===- AccQuantizeOp.cpp - Sums quantised in kernels ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The checks of acc_quantize.
//
//===----------------------------------------------------------------------===//

#include "Quantize/BlockShapes.h"

using namespace mlir;
using namespace mlir::blockscale;

LogicalResult AccQuantizeOp::verify() {
  // (H2)
  int64_t blockSize = getBlockSizeAttr().getInt();
  if (failed(verifyBlockTypes(*this, getElement(), getScale(), blockSize)) ||
      failed(verifyScaleRule(*this, getScale(), getRule(),
                             getTensorScale() != nullptr)))
    return failure();
  if (!isa<FloatType>(getElement()) || !isa<FloatType>(getScale()))
    return emitOpError("expected element types of codes and scales");

  // (H4)
  int64_t rank = getBatch() ? 3 : 2;
  int64_t codes = getCodes().getType().getRank();
  int64_t scales = getScales().getType().getRank();
  if (codes != rank || (scales != rank && scales != rank + 2))
    return emitOpError("expected codes of rank ")
           << rank << " and scales of rank " << rank << " or " << rank + 2
           << ", got " << codes << " and " << scales;
  return success();
}

LogicalResult AccQuantizeOp::verifyRegions() { // (H1)
  Type index = IndexType::get(getContext()),
       number = Float32Type::get(getContext());
  Block &body = getBody().front();
  if (body.getArgumentTypes() != TypeRange({number, index, index}))
    return emitOpError("expected a body with arguments of types f32, index and "
                       "index, got ")
           << body.getArgumentTypes();
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield || !yield.getValue())
    return emitOpError(
        "expected a body that ends with a blockscale.yield of an f32");
  return success();
}
