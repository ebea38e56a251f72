//===- MatchGroupLoop.h - Loops over groups of rows ----------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a loop over groups of rows computes, as grouped products.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_MATCHGROUPLOOP_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_MATCHGROUPLOOP_H

#include "Raise/GroupProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::blockscale {

/// A result of the loop as a grouped product.
struct GroupedResult {
  GroupProduct product;
  GroupSlices slices;
  Value offsets;
  /// What the loop starts with.
  Value init;
  /// The conversion of the product's result; null if there is none.
  arith::TruncFOp truncation;
  /// Whether the accumulator is a new one of zeros, not `init`.
  bool needsZeros;
};

/// The product by the matrix of a group, if `loop` has one and inserts slices
/// into what it carries: only of such loops is it worth to say why they are not
/// raised.
std::optional<GroupProduct> findGroupProduct(scf::ForOp loop);

/// The results of `loop` by their numbers; nullopt for integers that it
/// carries, which have no uses behind it. Empty, with a reason, if one is no
/// grouped product.
SmallVector<std::optional<GroupedResult>> matchGroupLoop(scf::ForOp loop,
                                                         std::string &reason);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_MATCHGROUPLOOP_H
