//===- VectorTransfer.h - Transfers by one lane -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_VECTORTRANSFER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_VECTORTRANSFER_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::blockscale {

/// Checks that a lane can execute `op` element by element: the transfer is from
/// or to memory, permutes dimensions, and has no mask. Emits an error if not.
LogicalResult verifyTransfer(VectorTransferOpInterface op);

/// The elements of a vector.transfer_read or transfer_write in memory.
class TransferAddress {
public:
  TransferAddress(OpBuilder &b, VectorTransferOpInterface op)
      : b(b), loc(op.getLoc()), op(op) {}

  /// The position of element `index` of the vector, and whether it is in
  /// bounds (null if it is known to be).
  std::pair<SmallVector<Value>, Value> at(ArrayRef<Value> index);

  /// `index` < `size`, or null if that holds in all lanes.
  static Value isBelow(OpBuilder &b, Location loc, Value index, int64_t size,
                       int64_t unit);

private:
  OpBuilder &b;
  Location loc;
  VectorTransferOpInterface op;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_VECTORTRANSFER_H
