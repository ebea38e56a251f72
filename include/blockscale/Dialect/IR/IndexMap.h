//===- IndexMap.h - Index arithmetic as affine maps -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One op of index arithmetic, in whichever dialect, as a map of its operands.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_INDEXMAP_H
#define BLOCKSCALE_DIALECT_IR_INDEXMAP_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"

namespace mlir::blockscale {

/// What `op`, an `affine.apply` or an op of `arith`, makes of its operands,
/// dimensions before symbols; null for other ops. A product of two operands
/// has a symbol, a constant factor or divisor is in the map. That of `arith`
/// holds where no operand is negative and nothing overflows.
AffineMap getIndexMap(Operation *op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_INDEXMAP_H
