//===- OperandSpecials.h - NaN and infinity of operands ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_OPERANDSPECIALS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_OPERANDSPECIALS_H

#include "mlir/IR/Value.h"

namespace mlir::blockscale {

/// Whether `elements`, an operand of a product, may have NaN or infinity: not
/// in fp6 and fp4, not in what the program quantizes, and not in a constant
/// without them.
bool mayHaveSpecials(Value elements);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_OPERANDSPECIALS_H
