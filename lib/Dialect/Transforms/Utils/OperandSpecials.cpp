//===- OperandSpecials.cpp - NaN and infinity of operands -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utils/OperandSpecials.h"

#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

bool blockscale::mayHaveSpecials(Value elements) {
  Type type = getElementTypeOrSelf(elements.getType());
  if (getFormatInfo(*getElementFormat(type)).special == SpecialCodes::None)
    return false;
  Value memory = traceOperand(elements).tensor;
  if (auto result = dyn_cast<OpResult>(memory))
    if (isa<QuantizeOp>(result.getOwner()) && result.getResultNumber() == 0)
      return false;
  DenseElementsAttr constant;
  if (!matchPattern(memory, m_Constant(&constant)))
    return true;
  return llvm::any_of(constant.getValues<APFloat>(),
                      [](const APFloat &value) { return !value.isFinite(); });
}
