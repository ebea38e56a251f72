//===- BlockScale.td - All but sparse ops --------------- -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALE_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALE_TD

include "blockscale/Dialect/IR/BlockScaleAsyncOps.td"
include "blockscale/Dialect/IR/BlockScaleAttrs.td"
include "blockscale/Dialect/IR/BlockScaleHostOps.td"
include "blockscale/Dialect/IR/BlockScaleKernelOps.td"
include "blockscale/Dialect/IR/BlockScaleMmaSyncOps.td"
include "blockscale/Dialect/IR/BlockScaleOps.td"
include "blockscale/Dialect/IR/BlockScaleQuantizeOps.td"
include "blockscale/Dialect/IR/BlockScaleTcgen05Ops.td"
include "blockscale/Dialect/IR/BlockScaleWgmmaOps.td"

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALE_TD
