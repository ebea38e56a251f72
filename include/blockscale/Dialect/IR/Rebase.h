//===- Rebase.h - One scale for each row ------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations of the ops of BlockScaleRebaseOps.td, and what follows from the
// table of formats for them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_REBASE_H
#define BLOCKSCALE_DIALECT_IR_REBASE_H

#include "blockscale/Dialect/IR/BlockScale.h"

#define GET_OP_CLASSES
#include "blockscale/Dialect/IR/BlockScaleRebaseOps.h.inc"

namespace mlir::blockscale {

/// The format of fp8 that elements of `element` are rebased to: the one with
/// more mantissa bits that has all their values.
Format getRebasedFormat(Format element);
Type getRebasedType(MLIRContext *context, Format element);

/// The largest power of two by which every element can be multiplied in the
/// rebased format.
int getRebaseShift(Format element);

/// The largest power of two that makes zeros of all finite elements, where they
/// are rounded to the rebased format. Lower ones do, too.
int getRebaseUnderflow(Format element);

/// The smallest magnitude of a code that is infinity or NaN; one more than all
/// magnitudes for a format that has neither.
uint32_t getFirstSpecial(Format element);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_REBASE_H
