//===- BlockScaleAll.td - All of the dialect ---------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// BlockScale.h declares what BlockScale.td has. Sparse, grouped, promotion,
// rebase and routing ops have headers of their own, so that a change of them
// does not touch all files of the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALEALL_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALEALL_TD

include "blockscale/Dialect/IR/BlockScale.td"
include "blockscale/Dialect/IR/BlockScaleGroupedOps.td"
include "blockscale/Dialect/IR/BlockScalePromotionOps.td"
include "blockscale/Dialect/IR/BlockScaleRebaseOps.td"
include "blockscale/Dialect/IR/BlockScaleRoutingOps.td"
include "blockscale/Dialect/IR/BlockScaleSparseOps.td"

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALEALL_TD
