//===- Promotion.h - Sums with factors --------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations of the ops of BlockScalePromotionOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_PROMOTION_H
#define BLOCKSCALE_DIALECT_IR_PROMOTION_H

#include "blockscale/Dialect/IR/BlockScale.h"

#define GET_OP_CLASSES
#include "blockscale/Dialect/IR/BlockScalePromotionOps.h.inc"

#endif // BLOCKSCALE_DIALECT_IR_PROMOTION_H
