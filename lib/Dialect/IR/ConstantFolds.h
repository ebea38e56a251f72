//===- ConstantFolds.h - Constants that folds create ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_CONSTANTFOLDS_H
#define BLOCKSCALE_LIB_DIALECT_IR_CONSTANTFOLDS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::blockscale {

/// Whether folding creates constants of `type`, of at most `limit` elements.
inline bool isSmall(ShapedType type, int64_t limit = int64_t(1) << 22) {
  int64_t count = 1;
  for (int64_t size : type.getShape())
    if (size < 1 || llvm::MulOverflow(count, size, count) || count > limit)
      return false;
  return true;
}

/// The constant of `type`, whose elements have at most 8 bits, with `codes`.
inline DenseElementsAttr makeCodes(ShapedType type, ArrayRef<uint8_t> codes) {
  return DenseElementsAttr::getFromRawBuffer(
      type,
      ArrayRef(reinterpret_cast<const char *>(codes.data()), codes.size()));
}

inline float toFloat(APFloat value) {
  bool losesInfo = false;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToFloat();
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_CONSTANTFOLDS_H
