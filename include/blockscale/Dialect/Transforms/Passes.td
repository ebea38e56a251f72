//===- Passes.td - Passes of the blockscale dialect --------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_PASSES_TD

include "blockscale/Dialect/Transforms/Async/Passes.td"
include "blockscale/Dialect/Transforms/Emulation/Passes.td"
include "blockscale/Dialect/Transforms/Fragments/Passes.td"
include "blockscale/Dialect/Transforms/Kernels/Passes.td"
include "blockscale/Dialect/Transforms/Launch/Passes.td"
include "blockscale/Dialect/Transforms/HostLowering/Passes.td"
include "blockscale/Dialect/Transforms/Raise/Passes.td"
include "blockscale/Dialect/Transforms/Reference/Passes.td"
include "blockscale/Dialect/Transforms/ScaleLayout/Passes.td"
include "blockscale/Dialect/Transforms/Selection/Passes.td"

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_PASSES_TD
