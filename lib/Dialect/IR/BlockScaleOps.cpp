//===- BlockScaleOps.cpp - Generated op definitions -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code that TableGen generates, compiled separately from verifiers and
// folds, which change more often.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Syntax.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/IR/Promotion.h"
#include "blockscale/Dialect/IR/Rebase.h"
#include "blockscale/Dialect/IR/Routing.h"
#include "blockscale/Dialect/IR/Sparse.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#include "blockscale/Dialect/IR/BlockScaleOpInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "blockscale/Dialect/IR/BlockScaleOps.cpp.inc"
