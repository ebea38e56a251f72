//===- VectorOperands.h - Fragments of vectors ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_VECTOROPERANDS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_VECTOROPERANDS_H

#include "Fragments/FragmentEmitter.h"
#include "Utils/KnownAlignment.h"

namespace mlir::blockscale {

/// Loads the fragments of x (A) or y (B) of `op` that the lane `lane` holds, at
/// their sources. Fails if a source cannot be found. `isMultiple` knows
/// multiples of indices, which the width of loads depends on.
FailureOr<OperandFragments> loadVectorOperand(OpBuilder &builder,
                                              MmaScaledOp op, Operand operand,
                                              Value lane,
                                              IsMultipleFn isMultiple);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_VECTOROPERANDS_H
