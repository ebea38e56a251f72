//===- VectorOperands.h - Fragments of vectors of codes ------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_VECTOROPERANDS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_VECTOROPERANDS_H

#include "FragmentEmitter.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::blockscale {

/// Where the codes of a vector operand come from.
struct CodeSource {
  /// Operand index -> index of the source vector, in codes of `bits`.
  AffineMap map;
  unsigned bits;
  /// The bits of a byte that are the code: fewer than 8 where it was cut out.
  unsigned codeMask;
  /// The size of the source vector along its last dimension.
  int64_t rowBytes;
  /// A read of memory, or a splat constant.
  vector::TransferReadOp read;
  std::optional<uint64_t> splat;
};

/// Follows `operand`, a vector of codes, to its source. Fails after an error at
/// the op that cannot be followed.
FailureOr<CodeSource> findCodeSource(Value operand);

/// The fragments of x (A) or y (B) of `op` that the lane `lane` holds, loaded
/// where their sources are. Fails if a source cannot be found.
FailureOr<OperandFragments> loadVectorOperand(OpBuilder &builder,
                                              MmaScaledOp op, Operand operand,
                                              Value lane);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_VECTOROPERANDS_H
