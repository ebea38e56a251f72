//===- ScaleArguments.h - What arguments are used for -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An f8E4M3FN is e4m3 or, as a scale, ue4m3, whose sign bit should be 0. The
// uses of an argument determine which, not the type. Of i8, they say whether it
// is metadata, of which not all bytes are legal.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_SCALEARGUMENTS_H
#define BLOCKSCALE_DRIVER_SCALEARGUMENTS_H

#include "blockscale/Runtime/Npy.h"
#include "mlir/IR/Value.h"

namespace mlir::blockscale {

/// Whether `argument`, perhaps after ops that move it, is used as scales of a
/// product or of `dequantize`, in this function or in a callee.
bool becomesScales(BlockArgument argument);

/// The same for metadata of `sparse_mma_scaled` or `decompress`.
bool becomesMetadata(BlockArgument argument);

/// Replaces random bytes by two legal fields each.
void makeLegalMetadata(NpyArray &array);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_SCALEARGUMENTS_H
