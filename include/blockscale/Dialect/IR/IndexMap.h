//===- IndexMap.h - Index arithmetic as affine maps -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_INDEXMAP_H
#define BLOCKSCALE_DIALECT_IR_INDEXMAP_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"

namespace mlir::blockscale {

/// The map of `op`, an `affine.apply` or an op of `arith`, from its operands,
/// with dimensions before symbols; null for other ops. In a product of two
/// operands, one is a symbol; a constant factor or divisor is in the map. The
/// map of an op of `arith` is valid if no operand is negative and nothing
/// overflows.
AffineMap getIndexMap(Operation *op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_INDEXMAP_H
