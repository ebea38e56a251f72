//===- NamedShape.cpp - Values with names for messages --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NamedShape.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::blockscale;

LogicalResult blockscale::verifySameKind(Operation *op,
                                         ArrayRef<NamedShape> values,
                                         StringRef all) {
  Type first = values.front().value.getType();
  for (const NamedShape &value : values) {
    Type type = value.value.getType();
    if (isa<TensorType>(type) != isa<TensorType>(first))
      return op->emitOpError("expected ")
             << all << " to be tensors or all to be vectors, got " << first
             << " and " << type;
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      if (tensor.getEncoding())
        return op->emitOpError("expected tensors without encoding, got ")
               << type;
  }
  return success();
}
