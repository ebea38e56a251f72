//===- Grouped.h - Products of groups of rows -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops for mixtures of experts: products whose y depends on the row.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_GROUPED_H
#define BLOCKSCALE_DIALECT_IR_GROUPED_H

#include "blockscale/Dialect/IR/BlockScale.h"

#define GET_OP_CLASSES
#include "blockscale/Dialect/IR/BlockScaleGroupedOps.h.inc"

#endif // BLOCKSCALE_DIALECT_IR_GROUPED_H
