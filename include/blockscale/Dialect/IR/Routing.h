//===- Routing.h - Rows to groups -------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops for mixtures of experts: which groups a row goes to, and the order of
// rows that grouped products take.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_ROUTING_H
#define BLOCKSCALE_DIALECT_IR_ROUTING_H

#include "blockscale/Dialect/IR/BlockScale.h"

#define GET_OP_CLASSES
#include "blockscale/Dialect/IR/BlockScaleRoutingOps.h.inc"

#endif // BLOCKSCALE_DIALECT_IR_ROUTING_H
