//===- ScaleArguments.h - Arguments that are scales -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An f8E4M3FN is e4m3 or, as a scale, ue4m3, whose sign bit should be 0. The
// uses of an argument determine which, not the type.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_SCALEARGUMENTS_H
#define BLOCKSCALE_DRIVER_SCALEARGUMENTS_H

#include "mlir/IR/Value.h"

namespace mlir::blockscale {

/// Whether `argument`, perhaps after ops that move it, is used as scales of
/// `mma_scaled` or `dequantize`, in this function or in a callee.
bool becomesScales(BlockArgument argument);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_SCALEARGUMENTS_H
