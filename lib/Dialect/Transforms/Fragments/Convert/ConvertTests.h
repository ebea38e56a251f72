//===- ConvertTests.h - Infinities and NaN among codes ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Placing and multiplying makes numbers of the codes of infinities and NaN:
// formats that have them are asked for before.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_CONVERT_CONVERTTESTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_CONVERT_CONVERTTESTS_H

#include "Fragments/FragmentEmitter.h"

namespace mlir::blockscale {

/// Whether any code of an operand of `op` in shared memory is special: the same
/// answer for all threads of the block, of which each looks at a part; they
/// meet at a barrier. Null if no format has such codes.
Value emitHasSpecials(OpBuilder &b, TileMmaOp op, int64_t numThreads);

/// The same for fragments of elements of `format`, and for the lanes of a warp.
Value emitHasSpecials(OpBuilder &b, Location loc,
                      const OperandFragments &fragments, Format format);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_CONVERT_CONVERTTESTS_H
