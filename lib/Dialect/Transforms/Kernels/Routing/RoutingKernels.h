//===- RoutingKernels.h - Kernels around grouped products -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROUTING_ROUTINGKERNELS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROUTING_ROUTINGKERNELS_H

#include "Kernels/RowWise/RowWiseLanes.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/IR/Routing.h"

namespace mlir::blockscale {

/// The parameters are the logits, the ids and the weights of `op`. A warp has a
/// row.
void buildRoute(gpu::GPUFuncOp kernel, RouteOp op, const RowWisePlan &plan);

/// The parameters are the ids, then the results of a `sort_routes`. It has one
/// block.
KernelShape getSortRoutesShape();
void buildSortRoutes(gpu::GPUFuncOp kernel);

/// The parameters are the operands of `op`, then its result. M of its shape is
/// rows of the result, N is columns.
KernelShape getCombineRowsShape();
void buildCombineRows(gpu::GPUFuncOp kernel, CombineRowsOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROUTING_ROUTINGKERNELS_H
