//===- Passes.h - Passes of the blockscale dialect --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_PASSES_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::blockscale {

#define GEN_PASS_DECL
#include "blockscale/Dialect/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "blockscale/Dialect/Transforms/Passes.h.inc"

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_PASSES_H
